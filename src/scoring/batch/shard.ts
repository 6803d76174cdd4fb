import type { Knowledge } from "../../motif/index.ts";
import type { NamedQuestion } from "./questions.ts";
import type { Provenance } from "../table/provenance.ts";
import { type Shard, shardRange } from "./shard-range.ts";

/** Everything that determines the results of a run: runs that agree in it print the same bytes. */
export interface Run {
  /** Version of labd, hence of formats and of the division into shards. */
  labd: string;
  format: string;
  /** SHA-256 of names, descriptions and sequences, in order. */
  queries: string;
  /** SHA-256 of each query's patterns, with class names resolved. */
  patterns: string;
  /** SHA-256 of the knowledge beside each sequence; absent without any. */
  knowledge?: string;
  model: string;
  /** Method version, and options that differ from its defaults. */
  options: string;
  /** SHA-256 of the corpus. */
  corpus: string;
  /** Method version. */
  method: string;
}

/** First line of a shard's output. */
export interface ShardBeginning extends Shard {
  /** Number of the first question from 0, questions in this shard, and questions in all shards. */
  first: number;
  questions: number;
  total: number;
  run: Run;
  /** Provenance of the run, which the joined table has. */
  provenance?: Provenance;
}

/** Last line of a shard's output. */
export interface ShardEnd {
  end: number;
  /** SHA-256 of all preceding bytes. */
  sha256: string;
}

export function shardHeader(
  questions: readonly NamedQuestion[],
  shard: Shard,
  run: Omit<Run, "queries" | "patterns" | "knowledge">,
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

function hashes(questions: readonly NamedQuestion[]): Pick<Run, "queries" | "patterns" | "knowledge"> {
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
  const known = questions.map(({ knowledge = null }) => knowledge && summarizeKnowledge(knowledge));
  return {
    queries: queries.digest("hex"),
    patterns: patterns.digest("hex"),
    ...(known.some((one) => one !== null) && {
      knowledge: new Bun.CryptoHasher("sha256").update(JSON.stringify(known)).digest("hex"),
    }),
  };
}

/** Class models are long, and many questions have the same: their hashes tell as much. */
const summarizeKnowledge = ({ classModels, ...others }: Knowledge) => [
  others,
  Object.entries(classModels ?? {}).map(([index, { hash }]) => [index, hash]),
];
