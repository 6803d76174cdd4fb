import {
  type Corpus,
  decode,
  parsePattern,
  PatternError,
  type Options,
  type ScoringModel,
} from "../motif/index.ts";
import { Problem } from "../problem.ts";
import type { Corpora } from "./corpus.ts";
import type { JobPattern } from "./job.ts";
import type { MotifClasses } from "./motif-classes.ts";
import { scoreParallel } from "./score-parallel.ts";
import type { ParallelRequest, Scored } from "./score.ts";

/** Pairs of a query and a pattern from a table, as `labd score --batch` takes them. */
export interface BatchRequest extends ParallelRequest {
  /** Tab-separated: a query (accession of the corpus in use, or a sequence) and a pattern (expression, or name of a motif class). */
  table: string | Uint8Array;
  scoringModel: ScoringModel;
  /** What differs from the defaults of the method. */
  options?: Partial<Options>;
  /** Threads that score; one by default. */
  workers?: number;
}

/** One query of the table with all its patterns. */
interface BatchQuery {
  /** As it stands in the table. */
  name: string;
  sequence: string;
  description: string;
  patterns: JobPattern[];
}

/**
 * Scores the pairs of a table, query by query in the order of their first rows: homologs are searched once per query,
 * whatever the number of its patterns. Everything is checked before any work is done.
 * @throws Problem invalid_request, invalid_pattern naming line and column; bad_corpus
 */
export async function* scoreBatch(
  { table, scoringModel, workers = 1, options, skip = 0, report }: BatchRequest,
  { corpora, classes, maxQueryLength }: { corpora: Corpora; classes: MotifClasses; maxQueryLength: number },
): AsyncGenerator<Scored> {
  const queries = readQueries(table, corpora.openActive(), classes, maxQueryLength);
  let done = skip;
  const predictions = scoreParallel(queries.slice(skip), {
    model: scoringModel,
    corpusPath: corpora.active()?.path ?? null,
    workers,
    options,
    report: (stage, fraction) => report?.(done, queries.length, stage, fraction),
  });
  for await (const prediction of predictions) {
    const { name, description } = queries[done++];
    yield { accession: name, description, prediction };
  }
}

function readQueries(
  table: string | Uint8Array,
  corpus: Corpus,
  classes: MotifClasses,
  maxLength: number,
): BatchQuery[] {
  const queries = new Map<string, BatchQuery>();
  const patterns = new Map<string, JobPattern>();
  for (const { line, query, pattern } of readPairs(table)) {
    let batch = queries.get(query);
    if (!batch) {
      batch = { name: query, patterns: [], ...findQuery(query, corpus, line) };
      if (batch.sequence.length > maxLength) {
        throw refused(
          line,
          `query: ${batch.sequence.length} residues; at most ${maxLength} are scored (setting max_query_length).`,
        );
      }
      queries.set(query, batch);
    }
    const known = patterns.get(pattern) ?? findPattern(pattern, classes, line);
    patterns.set(pattern, known);
    batch.patterns.push(known);
  }
  return [...queries.values()];
}

/** An accession of the corpus, else a sequence: letters alone. */
function findQuery(query: string, corpus: Corpus, line: number): { sequence: string; description: string } {
  const index = corpus.findAccession(query);
  if (index >= 0) {
    const residues = corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
    return { sequence: decode(residues), description: corpus.description(index) };
  }
  if (/^[A-Za-z]+$/.test(query)) return { sequence: query, description: "" };
  throw refused(
    line,
    "query: neither an accession of the corpus in use nor a sequence, which has letters only.",
  );
}

/** What can be read as an expression is one; anything else is the name of a motif class. */
function findPattern(pattern: string, classes: MotifClasses, line: number): JobPattern {
  try {
    parsePattern(pattern, "soap");
    return { expression: pattern, name: null, dialect: "soap" };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    try {
      const { expression, dialect } = classes.find(pattern);
      return { expression, name: pattern, dialect };
    } catch (unknown) {
      if (!(unknown instanceof Problem)) throw unknown;
      throw new Problem(
        "invalid_pattern",
        `Batch line ${line}, pattern: as an expression, character ${error.position + 1}: ${error.message} As a name: ${unknown.message}`,
        { cause: error },
      );
    }
  }
}

interface Pair {
  /** Counted from 1. */
  line: number;
  query: string;
  pattern: string;
}

/**
 * The rows of the table. A first line that names the columns `query` and `pattern` says where they stand, and further
 * columns are ignored; without one they are the first two. Blank lines and lines that begin with `#` are skipped.
 */
function readPairs(table: string | Uint8Array): Pair[] {
  const lines = textOf(table)
    .split(/\r\n|\r|\n/)
    .map((text, i) => ({ line: i + 1, cells: text.split("\t").map((cell) => cell.trim()) }))
    .filter(({ cells }) => cells.some((cell) => cell !== "") && !cells[0].startsWith("#"));
  if (lines.length === 0)
    throw new Problem("invalid_request", "The batch has no row. Expected query and pattern.");
  const names = lines[0].cells.map((cell) => cell.toLowerCase());
  const hasHead = names.includes("query") && names.includes("pattern");
  const [queryAt, patternAt] = hasHead ? [names.indexOf("query"), names.indexOf("pattern")] : [0, 1];
  return lines.slice(hasHead ? 1 : 0).map(({ line, cells }) => {
    const [query = "", pattern = ""] = [cells[queryAt], cells[patternAt]];
    if (query === "") throw refused(line, "query: it is empty; expected an accession or a sequence.");
    if (pattern === "") {
      throw refused(line, "pattern: it is empty; expected an expression or the name of a motif class.");
    }
    return { line, query, pattern };
  });
}

const refused = (line: number, reason: string): Problem =>
  new Problem("invalid_request", `Batch line ${line}, ${reason}`);

function textOf(bytes: string | Uint8Array): string {
  if (typeof bytes === "string") return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("invalid_request", "The batch is not UTF-8 text.", { cause });
  }
}
