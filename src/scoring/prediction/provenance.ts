import {
  type AlignedText,
  DEFAULTS,
  type Knowledge,
  METHOD,
  type Options,
  type PatternRequest,
  type Prediction,
} from "../../motif/index.ts";
import { patternName } from "../table/match-row.ts";
import { type Provenance, type RecordedPattern, type RecordedQuery, withView } from "../table/provenance.ts";
import type { TableView } from "../table/view.ts";
import type { PredictionReport } from "./prediction.ts";
import { VERSION } from "../../version.ts";

/** A query and its patterns. */
interface Question {
  name: string;
  description?: string;
  sequence: string;
  patterns: readonly PatternRequest[];
  /** Features and class models that are evidence. */
  knowledge?: Knowledge | undefined;
  /** Substitutions in the sequence that were scored. */
  variant?: string | undefined;
  /** Hashes of class models by the index of their pattern, if the knowledge does not have them. */
  classModels?: Readonly<Record<number, string>> | undefined;
}

interface Ignored {
  ignoreFeatures?: true | undefined;
  ignoreClassModels?: true | undefined;
}

const listIgnored = ({ ignoreFeatures, ignoreClassModels }: Ignored): string[] | undefined =>
  ignoreFeatures || ignoreClassModels
    ? [...(ignoreFeatures ? ["features"] : []), ...(ignoreClassModels ? ["class models"] : [])]
    : undefined;

/** A scoring that is described. */
export interface ScoringRun {
  /** Milliseconds since 1970-01-01 UTC. */
  at: number;
  options?: Partial<Options> | undefined;
  questions: readonly Question[];
  /** Evidence that is left out. */
  evidence?: Ignored | undefined;
  /** Rows of an alignment from the user. */
  alignment?: readonly AlignedText[] | undefined;
}

/** Residues of all queries up to which files list them, and characters with patterns; the longest human protein has 35,991. */
const MAX_LISTED = 100_000;
const MAX_CHARACTERS = 500_000;

/** The provenance of results, but for method, model and corpus. */
export function runProvenance({
  at,
  options = {},
  questions,
  evidence = {},
  alignment,
}: ScoringRun): Provenance {
  const changed = Object.entries(options).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[name as keyof Options]),
  );
  // Queries from FASTA share one list.
  const lists = [...new Set(questions.map(({ patterns }) => patterns))];
  const areCommon = new Set(lists.map((patterns) => JSON.stringify(patterns))).size === 1;
  const residues = questions.reduce((sum, { sequence }) => sum + sequence.length, 0);
  const queries = questions.map(
    ({ name, description, sequence, patterns, knowledge, variant }): RecordedQuery => ({
      name,
      ...(description ? { description } : {}),
      md5: hash("md5", sequence),
      sequence,
      ...(knowledge?.features && { features_sha256: knowledge.features.hash }),
      ...(variant !== undefined && questions.length > 1 && { variant }),
      ...(areCommon ? {} : { patterns: patterns.map(record) }),
    }),
  );
  return {
    labd: VERSION,
    date: printDay(at),
    alignment_sha256:
      alignment && hash("sha256", JSON.stringify(alignment.map(({ name, letters }) => [name, letters]))),
    variant: questions.length === 1 ? questions[0].variant : undefined,
    options: changed.length > 0 ? Object.fromEntries(changed) : undefined,
    class_models: hashModels(questions),
    ignored: listIgnored(evidence),
    patterns: areCommon ? questions[0].patterns.map(record) : undefined,
    ...(residues > MAX_LISTED || JSON.stringify(queries).length > MAX_CHARACTERS
      ? { queries_count: queries.length, queries_sha256: hashQueries(queries) }
      : { queries }),
  };
}

/** Hashes of the class models of all questions. */
function hashModels(questions: readonly Question[]): Record<string, string> | undefined {
  const hashes = questions.flatMap(({ patterns, knowledge, classModels = {} }) => {
    const known = Object.entries(knowledge?.classModels ?? {}).map(([i, { hash }]) => [i, hash]);
    const all = [...known, ...Object.entries(classModels)];
    return all.map(([i, model]) => [patternName(patterns[Number(i)]), model]);
  });
  return hashes.length === 0 ? undefined : (Object.fromEntries(hashes) as Record<string, string>);
}

/** SHA-256 by which queries that are not listed are recognised. */
export function hashQueries(queries: readonly RecordedQuery[]): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const { name, md5, patterns, variant } of queries)
    hasher.update(`${JSON.stringify([name, md5, patterns, ...(variant === undefined ? [] : [variant])])}\n`);
  return hasher.digest("hex");
}

const printDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

const record = ({ expression, name, dialect }: PatternRequest): RecordedPattern => ({
  expression,
  ...(name === null ? {} : { name }),
  ...(dialect === "elm" ? { dialect } : {}),
});

const hash = (algorithm: "md5" | "sha256", text: string): string =>
  new Bun.CryptoHasher(algorithm).update(text).digest("hex");

/** Method, model and corpus of a result. */
type Source = Pick<Prediction, "method" | "model"> & {
  corpus: Pick<NonNullable<Prediction["corpus"]>, "name" | "hash" | "sequences"> | null;
};

/** The whole provenance, for formats in which method, model and corpus have no place of their own. */
export function fullProvenance(
  { labd, date, ...rest }: Provenance,
  { method, model, corpus }: Source,
): Provenance {
  const source = corpus && {
    corpus: corpus.name,
    corpus_sha256: corpus.hash,
    corpus_proteins: corpus.sequences,
  };
  return { labd, date, method, model, ...source, ...rest };
}

/** The provenance of a table of one result; undefined if that of the result is not known. */
export const tableProvenance = (
  { provenance, prediction }: PredictionReport,
  view: TableView = { values: {} },
): Provenance | undefined => provenance && withView(fullProvenance(provenance, prediction), view);

/** The provenance of a search of a proteome. @param queries the names of its proteins, if they were chosen by name */
export const searchProvenance = ({
  at,
  pattern,
  organism,
  queries,
  features,
  classModel,
  prior,
  evidence = {},
  ...source
}: Omit<Source, "method"> & {
  at: number;
  pattern: PatternRequest;
  organism?: string | null | undefined;
  queries?: string | undefined;
  features?: { hash: string } | undefined;
  classModel?: { hash: string } | undefined;
  prior?: number | undefined;
  evidence?: Ignored;
}): Provenance => ({
  ...fullProvenance({ labd: VERSION, date: printDay(at) }, { ...source, method: METHOD }),
  options: prior === undefined ? undefined : { prior },
  features_sha256: features?.hash,
  class_models: classModel && { [patternName(pattern)]: classModel.hash },
  ignored: listIgnored(evidence),
  organism: organism ?? undefined,
  patterns: [record(pattern)],
  queries_sha256: queries === undefined ? undefined : hash("sha256", queries),
});
