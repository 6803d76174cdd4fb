/** Seeded pseudo-random numbers (mulberry32), so that a failure can be seen again. */
export interface Random {
  /** From 0 to just below 1. */
  real(): number;
  /** A whole number from 0 to just below `limit`. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
  /** True with this probability. */
  chance(probability: number): boolean;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const real = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(real() * limit);
  return {
    real,
    below,
    pick: (choices) => choices[below(choices.length)],
    chance: (probability) => real() < probability,
  };
}

/** Characters in which comparisons go wrong: case beyond ASCII, folding that grows, wildcards, surrogate pairs. */
const CHARACTERS = [
  "a",
  "A",
  "b",
  "ä",
  "Ä",
  "ß",
  "İ",
  "ﬁ",
  "%",
  "_",
  "'",
  '"',
  "\\",
  " ",
  "1",
  "😀",
  "\uffee",
  "é",
  "e\u0301",
];

export function randomText(random: Random, longest = 4): string {
  return Array.from({ length: random.below(longest + 1) }, () => random.pick(CHARACTERS)).join("");
}
