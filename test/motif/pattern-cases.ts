/**
 * Random patterns, and a reference matcher: exponential backtracking over the pattern's tree, independent of
 * the parser and the automaton.
 */
export type Form =
  | { kind: "letters"; written: string; letters: string }
  | { kind: "edge"; at: "start" | "end" }
  | { kind: "row"; items: Form[] }
  | { kind: "either"; items: Form[] }
  | { kind: "times"; item: Form; written: string; min: number; max: number; lazy: boolean }
  | { kind: "look"; item: Form; lookbehind: boolean; negative: boolean };

const EVERY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const without = (letters: string): string =>
  [...EVERY].filter((letter) => !letters.includes(letter)).join("");

const LETTERS: [string, string][] = [
  ["A", "A"],
  ["C", "C"],
  ["A", "A"],
  ["C", "C"],
  ["[AC]", "AC"],
  ["[CD]", "CD"],
  ["[^A]", without("A")],
  ["[^CD]", without("CD")],
  [".", EVERY],
];

const TIMES: [string, number, number][] = [
  ["*", 0, Infinity],
  ["+", 1, Infinity],
  ["?", 0, 1],
  ["{2}", 2, 2],
  ["{0,2}", 0, 2],
  ["{1,3}", 1, 3],
  ["{2,}", 2, Infinity],
  ["{,2}", 0, 2],
  ["{0}", 0, 0],
];

/** A form of at most `depth` levels; lookarounds only on request, lookbehinds only of fixed width, as Python requires. */
export function randomForm(next: () => number, depth: number, lookarounds = false): Form {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(next() * choices.length)];
  const roll = Math.floor(next() * (depth > 0 ? 10 : 4));
  if (roll < 4) {
    if (lookarounds && next() < 0.3) {
      const lookbehind = next() < 0.5;
      const item = lookbehind ? fixedForm(next) : randomForm(next, Math.min(depth, 2));
      return { kind: "look", item, lookbehind, negative: next() < 0.5 };
    }
    if (next() < 0.08) return { kind: "edge", at: next() < 0.5 ? "start" : "end" };
    const [written, letters] = pick(LETTERS);
    return { kind: "letters", written, letters };
  }
  const some = (count: number): Form[] =>
    Array.from({ length: count }, () =>
      next() < 0.12 ? { kind: "row", items: [] } : randomForm(next, depth - 1, lookarounds),
    );
  if (roll < 7) return { kind: "row", items: some(2 + Math.floor(next() * 2)) };
  if (roll < 8) return { kind: "either", items: some(2 + Math.floor(next() * 2)) };
  const [sign, min, max] = pick(TIMES);
  const lazy = next() < 0.3;
  return { kind: "times", item: some(1)[0], written: lazy ? `${sign}?` : sign, min, max, lazy };
}

function fixedForm(next: () => number): Form {
  const items = Array.from({ length: 1 + Math.floor(next() * 2) }, (): Form => {
    const [written, letters] = LETTERS[Math.floor(next() * LETTERS.length)];
    return { kind: "letters", written, letters };
  });
  return { kind: "row", items };
}

/** Writes a form as an expression with the necessary parentheses. */
export function write(form: Form): string {
  switch (form.kind) {
    case "letters":
      return form.written;
    case "edge":
      return form.at === "start" ? "^" : "$";
    case "row":
      return form.items.map((item) => (item.kind === "either" ? `(${write(item)})` : write(item))).join("");
    case "either":
      return form.items.map(write).join("|");
    case "times":
      return `${form.item.kind === "letters" ? write(form.item) : `(${write(form.item)})`}${form.written}`;
    case "look":
      return `(?${form.lookbehind ? "<" : ""}${form.negative ? "!" : "="}${write(form.item)})`;
  }
}

class TooMuchWork extends Error {}

/** End of the preferred match from `start`, or -1; null after too many steps. */
export function firstEnd(form: Form, text: string, start: number): number | null {
  let end = -1;
  const isDone = explore(form, text, start, (at) => {
    end = at;
    return true;
  });
  return isDone ? end : null;
}

/** All ends reachable from `start`; null after too many steps. */
export function allEnds(form: Form, text: string, start: number): Set<number> | null {
  const ends = new Set<number>();
  const isDone = explore(form, text, start, (at) => {
    ends.add(at);
    return false;
  });
  return isDone ? ends : null;
}

function explore(form: Form, text: string, start: number, then: Then): boolean {
  try {
    attempt(form, text, start, { left: 20_000 }, then);
    return true;
  } catch (error) {
    if (error instanceof TooMuchWork) return false;
    throw error;
  }
}

type Then = (at: number) => boolean;

function attempt(form: Form, text: string, at: number, budget: { left: number }, then: Then): boolean {
  if (--budget.left < 0) throw new TooMuchWork();
  const go = (item: Form, from: number, goOn: Then): boolean => attempt(item, text, from, budget, goOn);
  switch (form.kind) {
    case "letters":
      return at < text.length && form.letters.includes(text[at]) && then(at + 1);
    case "edge":
      return at === (form.at === "start" ? 0 : text.length) && then(at);
    case "row": {
      const step = (i: number, from: number): boolean =>
        i === form.items.length ? then(from) : go(form.items[i], from, (to) => step(i + 1, to));
      return step(0, at);
    }
    case "either":
      return form.items.some((item) => go(item, at, then));
    case "times": {
      // Python's rule: above the minimum count no iteration starts where the last one did.
      const round = (count: number, from: number, last: number): boolean => {
        if (count < form.min) return go(form.item, from, (to) => round(count + 1, to, -1));
        const more = (): boolean =>
          count < form.max && from !== last && go(form.item, from, (to) => round(count + 1, to, from));
        return form.lazy ? then(from) || more() : more() || then(from);
      };
      return round(0, at, -1);
    }
    case "look": {
      const starts = form.lookbehind ? Array.from({ length: at + 1 }, (_, i) => i) : [at];
      const holds = starts.some((from) => go(form.item, from, (to) => !form.lookbehind || to === at));
      return holds !== form.negative && then(at);
    }
  }
}
