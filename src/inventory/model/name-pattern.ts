/** Names by pattern: `Rack {1..5}` is Rack 1 to Rack 5. Pages expand patterns, too, so this file imports nothing. */

/** Error whose message explains the mistake in the pattern. */
export class PatternError extends Error {}

const RANGE = /\{([^{}]*)\}/g;
const FORMS = "Write {1..5}, {01..12} or {A..D}.";

/** Counts the names that a pattern stands for. @throws PatternError */
export const countNames = (pattern: string): number =>
  parseRanges(pattern).reduce((count, { first, last }) => count * (last - first + 1), 1);

/** The names that a pattern stands for, at most `maximum` of them: the last range changes fastest. @throws PatternError */
export function expandNames(pattern: string, maximum: number): string[] {
  const texts = pattern.split(RANGE).filter((_, i) => i % 2 === 0);
  let names = [texts[0].trimStart()];
  for (const [i, { first, last, makeName }] of parseRanges(pattern).entries()) {
    const next: string[] = [];
    for (const name of names)
      for (let at = first; at <= last && next.length < maximum; at++)
        next.push(name + makeName(at) + texts[i + 1]);
    names = next;
  }
  return names.map((name) => name.trim());
}

interface NameRange {
  first: number;
  last: number;
  makeName: (at: number) => string;
}

const parseRanges = (pattern: string): NameRange[] =>
  [...pattern.matchAll(RANGE)].map(([text, range]) => parseRange(text, range));

function parseRange(text: string, range: string): NameRange {
  const [, from, to] = /^\s*(\d{1,6}|[A-Za-z])\s*\.\.\s*(\d{1,6}|[A-Za-z])\s*$/.exec(range) ?? [];
  if (from === undefined) throw new PatternError(`${text} is not a range. ${FORMS}`);
  const isNumber = /\d/.test(from);
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const isAlike = isNumber ? /\d/.test(to) : /[a-z]/.test(from) === /[a-z]/.test(to) && !/\d/.test(to);
  if (!isAlike) throw new PatternError(`${text} does not end as it begins. ${FORMS}`);
  if (last < first) throw new PatternError(`${text} ends before it begins. ${FORMS}`);
  const width = from.startsWith("0") ? from.length : 0;
  return {
    first,
    last,
    makeName: (at) => (isNumber ? String(at).padStart(width, "0") : String.fromCharCode(at)),
  };
}
