import {
  parsePattern,
  PatternError,
  type PatternRequest,
  type ScoringModel,
  SCORING_MODELS,
} from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  type CorpusInfo,
  type EvidenceChoice,
  fullProvenance,
  hashQueries,
  type NamedQuestion,
  type Provenance,
  readEvidenceChoice,
  readProvenance,
  type RecordedPattern,
  runProvenance,
  type Scoring,
  type TableView,
  withView,
} from "../scoring/index.ts";
import type { Call } from "./command.ts";
import { isLimited, readEvidence } from "./filter-flags.ts";
import { namedBytes } from "./named-file.ts";

/** The provenance in a file of results, and the name of the file. */
export interface Like {
  file: string;
  provenance: Provenance;
}

export const LIKE_FLAGS = {
  "--like FILE":
    "Score again what a file of results tells: its queries, patterns, model, options, filters and order. Other flags override them. The file is TSV, GFF3, XLSX, JSON or XML. Exit status 1: something on which the numbers depend differs.",
  "--corpus NAME": "Corpus by name or hash; by default that of --like if it is here, else the active one.",
};

/** Reads the file of --like. @returns null without the flag. @throws Problem invalid_request for a file without provenance */
export async function readLike(call: Call): Promise<Like | null> {
  const file = call.value("--like");
  if (file === undefined) return null;
  try {
    return { file, provenance: await readProvenance(await namedBytes(file)) };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "invalid_request") throw error;
    throw new Problem(error.code, `--like ${file}: ${error.message}`, { cause: error });
  }
}

/** The corpus to score against; null without one. @throws Problem not_found */
export function chooseCorpus(call: Call, { corpora }: Scoring, like: Like | null): CorpusInfo | null {
  const name = call.value("--corpus");
  if (name !== undefined) return corpora.find(name);
  const wanted = like?.provenance.corpus_sha256;
  return corpora.list().find(({ hash }) => hash === wanted) ?? corpora.active();
}

/** The scoring model of --model, else that of the file, else the first. */
export const likeModel = (call: Call, like: Like | null): ScoringModel =>
  (call.value("--model") as ScoringModel | undefined) ?? like?.provenance.model ?? SCORING_MODELS[0];

/** The filters and the order that are given, else those of the file. */
export const likeView = (given: TableView, like: Like | null): TableView =>
  isLimited(given) || !like ? given : { values: like.provenance.filters ?? {}, order: like.provenance.order };

/** The evidence that is left out now, or was left out in the file. */
export function likeEvidence(call: Call, like: Like | null): EvidenceChoice {
  const ignored = like?.provenance.ignored ?? [];
  return {
    ...readEvidence(call),
    ...readEvidenceChoice({
      ignoreFeatures: ignored.includes("features"),
      ignoreClassModels: ignored.includes("class models"),
    }),
  };
}

/** The patterns of all queries of the file; undefined if they have their own. @throws Problem invalid_pattern */
export const likePatterns = (like: Like | null): PatternRequest[] | undefined =>
  like?.provenance.patterns?.map(readPattern);

/** The queries of the file. @param patterns instead of those of the file @throws Problem invalid_request if it does not list them */
export function likeQuestions({ file, provenance }: Like, patterns?: PatternRequest[]): NamedQuestion[] {
  const { queries = [], queries_count, alignment_sha256 } = provenance;
  const missing =
    alignment_sha256 !== undefined
      ? "it was scored on an alignment, which the file does not have. Give it with --alignment."
      : queries.length === 0
        ? `it does not list its ${queries_count ?? ""} queries. Give them with --fasta or --batch.`.replace(
            "  ",
            " ",
          )
        : undefined;
  if (missing) throw new Problem("invalid_request", `--like ${file}: ${missing}`);
  const common = patterns ?? likePatterns({ file, provenance });
  return queries.map(({ name, description = "", md5, sequence, patterns: own = [], variant }) => {
    if (new Bun.CryptoHasher("md5").update(sequence).digest("hex") !== md5)
      throw new Problem("invalid_request", `--like ${file}: query ${name} was altered: its MD5 differs.`);
    const patterns = common ?? own.map(readPattern);
    return { name, description, sequence, patterns, variant: variant ?? provenance.variant };
  });
}

/** The proteins that the command line names, with these patterns. @throws Problem invalid_request with near misses */
export function readOperands(
  call: Call,
  scoring: Scoring,
  patterns: PatternRequest[],
  corpus: CorpusInfo | null,
): NamedQuestion[] {
  const { questions, ambiguous } = scoring.readNamed(call.operands, patterns, corpus);
  for (const message of ambiguous) call.warn(message);
  return questions;
}

/** The provenance of the table that a command prints now. */
export function describeRun(
  { corpora }: Scoring,
  run: Omit<Parameters<typeof runProvenance>[0], "at">,
  { model, corpus, view }: { model: ScoringModel; corpus: CorpusInfo | null; view: TableView },
): Provenance {
  const { corpus: hash, method } = corpora.scoringVersion(corpus ?? undefined);
  const source = corpus ?? { name: "none", hash, sequences: 0 };
  const described = runProvenance({ at: Date.now(), ...run });
  return withView(fullProvenance(described, { method, model, corpus: source }), view);
}

function readPattern({ expression, name, dialect = "plain" }: RecordedPattern): PatternRequest {
  try {
    parsePattern(expression, dialect);
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause;
    throw new Problem("invalid_pattern", `--like: pattern ${name ?? expression}: ${cause.message}`, {
      cause,
    });
  }
  return { expression, name: name ?? null, dialect };
}

/** Members on which the numbers depend, with their names in sentences. */
const DECISIVE: Readonly<Partial<Record<keyof Provenance, string>>> = {
  method: "method",
  model: "model",
  corpus_sha256: "corpus",
  alignment_sha256: "alignment",
  variant: "variant",
  options: "options",
  ignored: "ignored evidence",
  features_sha256: "features",
  class_models: "class models",
  patterns: "patterns",
};

/** Tells on standard error what differs now. @returns the exit status: 1 if numbers can differ */
export function reportDifferences(call: Call, like: Like | null, now: Provenance): number {
  if (like === null) return 0;
  const { file, provenance: then } = like;
  if (then.labd !== now.labd) call.warn(`labd: ${now.labd} now, ${then.labd} in ${file}.`);
  const differences = (Object.keys(DECISIVE) as (keyof Provenance)[]).flatMap((name) => {
    const [is, was] = [now, then].map((one) => printMember(one, name));
    return is === was ? [] : [`${DECISIVE[name]}: ${is} now, ${was} in ${file}.`];
  });
  if (queriesHash(now) !== queriesHash(then)) differences.push(`queries: others than in ${file}.`);
  for (const difference of differences) call.warn(difference);
  call.warn(
    differences.length === 0
      ? `Nothing on which the numbers depend differs from ${file}.`
      : `Numbers can differ from those of ${file}.`,
  );
  return differences.length === 0 ? 0 : 1;
}

/** Undefined for searches of all proteins. */
const queriesHash = ({ queries = [], queries_sha256 }: Provenance): string | undefined =>
  queries_sha256 ?? (queries.length > 0 ? hashQueries(queries) : undefined);

/** A member as text; several if the queries differ in it. */
function printMember(of: Provenance, name: keyof Provenance): string {
  const own = of.queries?.flatMap((query) => query[name as "method"] ?? []) ?? [];
  const values = of[name] === undefined ? [...new Set(own.map(String))] : [of[name]];
  if (values.length === 0) return name === "options" ? "those of the method" : "none";
  const text = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(", ");
  return name === "corpus_sha256" ? `${of.corpus ?? ""} (${text})`.trim() : text;
}
