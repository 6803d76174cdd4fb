import { type Corpus, decode, parsePattern, PatternError } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { JobPattern } from "../jobs/job.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { NamedQuestion } from "./score.ts";

/**
 * What the pairs of a table ask, query by query in the order of their first rows: homologs are searched once per query,
 * whatever the number of its patterns.
 * @param table tab-separated: a query (accession of the corpus in use, or a sequence) and a pattern (expression, or name of
 *   a motif class)
 * @throws Problem invalid_request, invalid_pattern naming line and column
 */
export function readBatch(
  table: string | Uint8Array,
  corpus: Corpus,
  { classes, maxQueryLength }: { classes: MotifClasses; maxQueryLength: number },
): NamedQuestion[] {
  const queries = new Map<string, NamedQuestion>();
  const patterns = new Map<string, JobPattern>();
  for (const { line, query, pattern } of readPairs(table)) {
    let batch = queries.get(query);
    if (!batch) {
      batch = { name: query, patterns: [], ...findQuery(query, corpus, line) };
      if (batch.sequence.length > maxQueryLength) {
        throw refused(
          line,
          `query: ${batch.sequence.length} residues; at most ${maxQueryLength} are scored.`,
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
