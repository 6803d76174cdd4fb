import { seededRandom as generator } from "../../src/motif/random.ts";

/** Seeded pseudo-random numbers, so that a failure can be seen again. */
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
  const real = generator(seed);
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
