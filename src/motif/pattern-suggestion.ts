import { parsePattern, PatternError } from "./pattern.ts";

/** A longer expression was not typed by hand, and gets no suggestion. */
const MAX_LENGTH = 200;

/** Residues of the classes in Aasland et al., FEBS Lett. 2002, 513:141, and of the ambiguity codes of IUPAC. */
const CLASSES: Readonly<Record<string, string>> = {
  Φ: "FILMVWY",
  Ω: "FWY",
  Ψ: "ILMV",
  Π: "AGPS",
  Ζ: "DEHKNQRST",
  B: "DN",
  Z: "EQ",
  J: "IL",
};

/**
 * Expressions that the author of this one may have meant: `P..P` for `PxxP`, `P-x(2)-P` or `PXXP`. All of them
 * parse. An expression that is valid gets suggestions only where it rarely means what it says, as `P*P`.
 */
export function suggestPatterns(expression: string): string[] {
  if (expression.length > MAX_LENGTH) return [];
  const candidates = isValid(expression) ? wildcards(expression) : [translate(expression)];
  return [...new Set(candidates)].filter(
    (candidate) => candidate !== "" && candidate !== expression && isValid(candidate),
  );
}

/** The suggestions as a question that follows an error message; empty without any. */
export function didYouMean(expression: string): string {
  const suggestions = suggestPatterns(expression);
  return suggestions.length === 0 ? "" : ` Did you mean ${suggestions.join(" or ")}?`;
}

function isValid(expression: string): boolean {
  try {
    parsePattern(expression);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

/** `P*P` repeats P; its author may have meant one residue or any number of them. */
function wildcards(expression: string): string[] {
  const asterisk = /(?<=[A-Z])\s*\*(?=\s*[A-Z[])/g;
  return asterisk.test(expression)
    ? [expression.replaceAll(asterisk, "."), expression.replaceAll(asterisk, ".*")]
    : [];
}

/** Translates the notations of PROSITE and of publications. The result need not be valid. */
function translate(expression: string): string {
  // Also subscripts and the ellipsis that text editors make of three dots.
  const text = expression
    .normalize("NFKC")
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .trim();
  const isProsite = /-/.test(text);
  const steps: readonly (readonly [RegExp, string | ((...groups: string[]) => string)])[] = [
    // PROSITE ends a pattern with a dot.
    [/\.$/, isProsite ? "" : "."],
    [/\s+/g, ""],
    [/[·•_]/g, "."],
    [/(?<=[A-Z])\*{2,}(?=[A-Z])/g, (asterisks) => ".".repeat(asterisks.length)],
    // Phosphorylated residues.
    [/(?<=^|[^a-z]|x)p(?=[STY])/g, ""],
    [/[a-zφωψπζ]/g, (letter) => letter.toUpperCase()],
    [/\{([A-Z]+)\}/g, "[^$1]"],
    [/^</, "^"],
    [/>$/, "$"],
    [/\[[^\]]*\]/g, (set) => set.replaceAll(/[/,|]/g, "")],
    [/[A-Z](?:\/[A-Z])+/g, (letters) => `[${letters.replaceAll("/", "")}]`],
    [/\((\[[A-Z]+\])\)/g, "$1"],
    [/\((\d+)(?:[-,](\d*))?\)/g, (_, from, to) => counts(from, to)],
    [/\{(\d+)-(\d+)\}/g, "{$1,$2}"],
    [/(?<=[A-Z\].])(\d+)(?:-(\d+))?/g, (_, from, to) => counts(from, to)],
    [/-(?![^[]*\])/g, ""],
    [/X/g, "."],
    [/\[[^\]]*\]|[ΦΩΨΠΖBZJ]/g, expandClasses],
  ];
  return steps.reduce((done, [from, to]) => done.replaceAll(globally(from), to as string), text);
}

const globally = (from: RegExp): RegExp => (from.global ? from : new RegExp(from, "g"));

const counts = (from: string, to: string | undefined): string =>
  to === undefined ? `{${from}}` : `{${from},${to}}`;

/** Classes in a set become its members, others become sets. */
const expandClasses = (text: string): string =>
  text.startsWith("[") ? text.replaceAll(/[ΦΩΨΠΖBZJ]/g, (name) => CLASSES[name]) : `[${CLASSES[text]}]`;
