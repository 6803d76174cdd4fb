import type { NamedQuestion } from "./score.ts";

/** Parts of one run of `labd score`, for several machines: which questions are whose, and what proves that parts belong together. */

/** One of so many parts, counted from 1. */
export interface Shard {
  shard: number;
  of: number;
}

/** All that decides about the results of a run; two runs that agree in it print the same. */
export interface Run {
  /** Version of the program: of how results are printed and questions are shared out. */
  labd: string;
  format: string;
  /** SHA-256 of names, descriptions and sequences, in their order. */
  queries: string;
  /** SHA-256 of each query's patterns, names of motif classes resolved. */
  patterns: string;
  model: string;
  /** Version of the method, and what else differs from its defaults. */
  options: string;
  /** SHA-256 of the corpus. */
  corpus: string;
  /** The method by default, and the hash of the null that was made for the corpus. */
  calibration: string;
}

/** What stands before the results of a shard. */
export interface ShardBeginning extends Shard {
  /** Number of its first question, from 0, how many it has, and how many all shards have. */
  first: number;
  questions: number;
  total: number;
  run: Run;
}

/** What stands behind them. */
export interface ShardEnd {
  end: number;
  /** SHA-256 of all bytes before. */
  sha256: string;
}

/**
 * What a question costs besides its residues, in residues. Measured on Swiss-Prot: about 0.65 ms a residue up to a
 * thousand, and some 30 ms whatever the length.
 */
const BASE_COST = 50;

/**
 * The questions of a shard: neighbours, so that shards joined in their order are the whole, and with nearly equal costs. A
 * question belongs to the shard in whose n-th part of all costs its middle lies. Depends on nothing but lengths and shard.
 * @param lengths of the questions, in residues
 * @returns numbers from 0: the first, and the one behind the last
 */
export function shardRange(lengths: readonly number[], { shard, of }: Shard): { from: number; to: number } {
  const total = lengths.reduce((sum, length) => sum + length + BASE_COST, 0);
  // Twice the middles, and all of it `of` times, so that everything is a whole number.
  const bounds = [2 * total * (shard - 1), 2 * total * shard];
  let before = 0;
  let [from, to] = [0, 0];
  for (const length of lengths) {
    const cost = length + BASE_COST;
    const middle = (2 * before + cost) * of;
    if (middle < bounds[0]) from++;
    if (middle < bounds[1]) to++;
    before += cost;
  }
  return { from, to };
}

/** What the shard of a run begins with. */
export function beginningOf(
  questions: readonly NamedQuestion[],
  shard: Shard,
  run: Omit<Run, "queries" | "patterns">,
): ShardBeginning {
  const { from, to } = shardRange(
    questions.map(({ sequence }) => sequence.length),
    shard,
  );
  return {
    ...shard,
    first: from,
    questions: to - from,
    total: questions.length,
    run: { ...run, ...asked(questions) },
  };
}

/** Hashes of what is asked. */
function asked(questions: readonly NamedQuestion[]): Pick<Run, "queries" | "patterns"> {
  const queries = new Bun.CryptoHasher("sha256");
  const patterns = new Bun.CryptoHasher("sha256");
  // Sequences of FASTA share their patterns, of which there may be hundreds.
  let last: { patterns: NamedQuestion["patterns"]; text: string } | undefined;
  for (const question of questions) {
    queries.update(JSON.stringify([question.name, question.description, question.sequence]));
    if (last?.patterns !== question.patterns)
      last = { patterns: question.patterns, text: JSON.stringify(question.patterns) };
    patterns.update(last.text);
  }
  return { queries: queries.digest("hex"), patterns: patterns.digest("hex") };
}
