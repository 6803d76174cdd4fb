import type { NamedQuestion } from "./questions.ts";

/** One of several parts of a run, counted from 1. */
export interface Shard {
  shard: number;
  of: number;
}

/** Everything that determines the results of a run: runs that agree in it print the same bytes. */
export interface Run {
  /** Version of labd, hence of formats and of the division into shards. */
  labd: string;
  format: string;
  /** SHA-256 of names, descriptions and sequences, in order. */
  queries: string;
  /** SHA-256 of each query's patterns, with class names resolved. */
  patterns: string;
  model: string;
  /** Method version, and options that differ from its defaults. */
  options: string;
  /** SHA-256 of the corpus. */
  corpus: string;
  /** Method version and hash of the corpus's calibration. */
  calibration: string;
}

/** First line of a shard's output. */
export interface ShardBeginning extends Shard {
  /** Number of the first question from 0, questions in this shard, and questions in all shards. */
  first: number;
  questions: number;
  total: number;
  run: Run;
}

/** Last line of a shard's output. */
export interface ShardEnd {
  end: number;
  /** SHA-256 of all preceding bytes. */
  sha256: string;
}

/** Constant cost of a question, in residues: on Swiss-Prot a residue takes 0.65 ms, and a question 30 ms more. */
const BASE_COST = 50;

/**
 * The neighbouring questions of a shard, so that shards joined in order are the whole run, at nearly equal cost. A question
 * belongs to the shard that contains the middle of its cost.
 * @param lengths of the questions, in residues
 * @returns half-open range [from, to)
 */
export function shardRange(lengths: readonly number[], { shard, of }: Shard): { from: number; to: number } {
  const total = lengths.reduce((sum, length) => sum + length + BASE_COST, 0);
  // All numbers are doubled and multiplied by `of`, so that they are integers.
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

export function beginningOf(
  questions: readonly NamedQuestion[],
  shard: Shard,
  run: Omit<Run, "queries" | "patterns">,
): ShardBeginning {
  const lengths = questions.map(({ sequence }) => sequence.length);
  const { from, to } = shardRange(lengths, shard);
  return {
    ...shard,
    first: from,
    questions: to - from,
    total: questions.length,
    run: { ...run, ...hashes(questions) },
  };
}

function hashes(questions: readonly NamedQuestion[]): Pick<Run, "queries" | "patterns"> {
  const queries = new Bun.CryptoHasher("sha256");
  const patterns = new Bun.CryptoHasher("sha256");
  // Sequences from FASTA share their patterns, possibly hundreds of them.
  let last: { patterns: NamedQuestion["patterns"]; text: string } | undefined;
  for (const question of questions) {
    queries.update(JSON.stringify([question.name, question.description, question.sequence]));
    if (last?.patterns !== question.patterns)
      last = { patterns: question.patterns, text: JSON.stringify(question.patterns) };
    patterns.update(last.text);
  }
  return { queries: queries.digest("hex"), patterns: patterns.digest("hex") };
}
