import {
  type Corpus,
  decode,
  didYouMean,
  type PatternRequest,
  proteinsNamed,
  readProteinText,
} from "../../motif/index.ts";
import { commonCode, Problem } from "../../problem.ts";
import { readExpression, readMotifClass } from "../corpus/patterns.ts";
import { findProteins } from "../corpus/find-proteins.ts";
import type { ProteinObject } from "../prediction/prediction.ts";
import { type ReadingContext, requireLength } from "../jobs/job-request.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import { type NamedQuestion, utf8 } from "./questions.ts";

/** A batch as it was read. */
export interface BatchTable {
  questions: NamedQuestion[];
  /** Invalid lines that were skipped, each as a sentence with number and text of the line. */
  skipped: string[];
  /** Names that several proteins have, each as a sentence that says which one is scored. */
  ambiguous: string[];
}

export interface BatchTableOptions {
  /** Patterns for every query of a list without patterns. */
  patterns?: PatternRequest[] | undefined;
  /** Skips invalid lines instead of rejecting the batch. */
  skipInvalid?: boolean;
}

/** More would hide what they have in common. */
const MAX_REPORTED = 20;

/**
 * Reads a table of queries and patterns, or a list of queries. Rows with the same query become one question, in the order of
 * first rows, because homologs are searched once per query.
 * @param table tab-separated query (accession, entry name or gene in the corpus in use, or sequence) and pattern
 *   (expression or class name). If the first line names the columns `query` and `pattern`, other columns are ignored;
 *   otherwise the first two columns are read. Blank lines and lines that start with `#` are skipped.
 * @throws Problem invalid_request, invalid_pattern naming all invalid lines
 */
export function readBatch(
  table: string | Uint8Array,
  corpus: Corpus,
  context: ReadingContext,
  { patterns, skipInvalid = false }: BatchTableOptions = {},
): BatchTable {
  const reader = new BatchReader(corpus, context, patterns);
  const rows = readRows(utf8(table, "batch"), patterns === undefined);
  const faults: Problem[] = [];
  for (const row of rows) {
    try {
      reader.read(row, `Batch line ${row.line} (“${printable(row.query)}”)`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      faults.push(
        new Problem(error.code, `Batch line ${row.line} (“${printable(row.text)}”), ${error.message}`),
      );
    }
  }
  if (faults.length > 0 && !skipInvalid) throw combined(faults, rows.length);
  return {
    questions: [...reader.questions.values()].filter((question) => question.patterns.length > 0),
    skipped: faults.map(({ message }) => message),
    ambiguous: reader.ambiguous,
  };
}

/**
 * Proteins by accession, entry name or gene, perhaps with a species (`TP53 mouse`), or sequences; each is a question for the
 * same patterns. @throws Problem invalid_request that offers near misses
 */
export function readNamed(
  names: readonly string[],
  corpus: Corpus,
  context: ReadingContext,
  patterns: PatternRequest[],
): Omit<BatchTable, "skipped"> {
  const reader = new BatchReader(corpus, context, patterns);
  for (const [i, name] of names.entries()) {
    try {
      reader.read({ line: i + 1, text: name, query: name.trim(), pattern: null }, `“${printable(name)}”`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const near = findProteins(corpus, name, 3);
      const offers = [...near.results, ...near.near].slice(0, 3).map(nameProtein).join("; ");
      const quote =
        names.length > 1 ? ` Quote a name with its species: "${printable(names.join(" "))}".` : "";
      const end = quote + (offers === "" ? "" : ` Did you mean ${offers}?`);
      throw new Problem(error.code, `${printable(name)}: ${error.reason}${end}`, { cause: error });
    }
  }
  return { questions: [...reader.questions.values()], ambiguous: reader.ambiguous };
}

/** `P04637 (TP53, Homo sapiens)` */
const nameProtein = ({ accession, gene, entryName, organism }: ProteinObject): string =>
  `${accession} (${[gene ?? entryName, organism].filter(Boolean).join(", ")})`;

/** A line of text that is shown to people. */
const printable = (text: string): string => {
  // oxlint-disable-next-line no-control-regex -- a terminal would obey these
  const plain = text.trim().replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g, " ");
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
};

function combined(faults: readonly Problem[], rows: number): Problem {
  if (faults.length === 1) return faults[0];
  const more = faults.length - MAX_REPORTED;
  const messages = [
    `${faults.length} of ${rows} batch lines are invalid.`,
    ...faults.slice(0, MAX_REPORTED).map(({ message }) => message),
    ...(more > 0 ? [`${more} more.`] : []),
  ];
  return new Problem(commonCode(faults), messages.join("\n"));
}

interface Row {
  line: number;
  text: string;
  query: string;
  /** Patterns; null in a list without patterns. */
  pattern: string | null;
}

const QUERY = { path: ["query"] };
const PATTERN = { path: ["pattern"] };

/** In a list, so few letters are a gene, not a peptide. */
const SYMBOL = /^[A-Z]{1,9}$/;

class BatchReader {
  readonly questions = new Map<string, NamedQuestion>();
  readonly ambiguous: string[] = [];
  readonly #patterns = new Map<string, PatternRequest>();
  readonly #common: PatternRequest[];

  constructor(
    private readonly corpus: Corpus,
    private readonly context: ReadingContext,
    common: PatternRequest[] | undefined,
  ) {
    this.#common = common ?? [];
  }

  /** @param place of the row, for messages. @throws Problem whose message begins with the column */
  read({ query, pattern }: Row, place: string): void {
    if (query === "")
      throw new Problem("invalid_request", "empty; expected an accession, a gene or a sequence.", QUERY);
    const found = pattern === null ? null : this.#pattern(pattern);
    const question = this.questions.get(query) ?? this.#question(query, place);
    this.questions.set(query, question);
    if (found) question.patterns.push(found);
    else question.patterns = this.#common;
  }

  #question(query: string, place: string): NamedQuestion {
    const { sequence, description } = this.#query(query, place);
    requireLength(sequence.length, this.context.maxQueryLength, ["query"]);
    return { name: query, description, sequence, patterns: [] };
  }

  #query(query: string, place: string): Pick<NamedQuestion, "sequence" | "description"> {
    const { corpus } = this;
    const [index, ...others] = proteinsNamed(corpus, query);
    if (index !== undefined) {
      if (others.length > 0) this.ambiguous.push(this.#choice(query, place, index, others.length));
      const residues = corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
      return { sequence: decode(residues), description: corpus.description(index) };
    }
    const isName = /^[\w.:|-]*\d[\w.:|-]*$/.test(query) || (this.#common.length > 0 && SYMBOL.test(query));
    const { sequence, fault } = readProteinText(query);
    if (!fault && !isName) return { sequence, description: "" };
    const reason = isName
      ? "the corpus in use has no protein with this accession, entry name or gene."
      : `neither a protein of the corpus in use nor a sequence: character ${fault!.position + 1}: ${fault!.reason}`;
    throw new Problem("invalid_request", reason, QUERY);
  }

  #choice(query: string, place: string, index: number, others: number): string {
    const { accession, organism } = this.corpus.identity(index);
    const protein = organism === null ? accession : `${accession} of ${organism}`;
    return `${place}: scored is ${protein}; ${others} more proteins have this name. Add the species to choose another: “${printable(query.split(/\s/)[0])} mouse”.`;
  }

  #pattern(pattern: string): PatternRequest {
    if (pattern === "")
      throw new Problem("invalid_request", "empty; expected an expression or a motif class.", PATTERN);
    const known = this.#patterns.get(pattern) ?? findPattern(pattern, this.context.classes);
    this.#patterns.set(pattern, known);
    return known;
  }
}

/** Any text that parses as an expression is one; anything else must be the name of a motif class. */
function findPattern(pattern: string, classes: MotifClasses): PatternRequest {
  try {
    return readExpression(pattern, PATTERN.path);
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    try {
      return readMotifClass(pattern, classes, PATTERN.path);
    } catch (unknown) {
      if (!(unknown instanceof Problem)) throw unknown;
      const asName = didYouMean(pattern) === "" ? ` As a name: ${unknown.reason}` : "";
      const reason = `as an expression, character ${cause.character}: ${cause.reason}${asName}`;
      throw new Problem("invalid_pattern", reason, { ...PATTERN, cause });
    }
  }
}

/** @param withPatterns whether lines have a pattern; otherwise they must not. @throws Problem */
function readRows(text: string, withPatterns: boolean): Row[] {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((text, i) => ({ line: i + 1, text, cells: text.split("\t").map((cell) => cell.trim()) }))
    .filter(({ cells }) => cells.some((cell) => cell !== "") && !cells[0].startsWith("#"));
  if (lines.length === 0)
    throw new Problem("invalid_request", "The batch has no row. Expected query and pattern.");
  const names = lines[0].cells.map((cell) => cell.toLowerCase());
  const hasHeader = names.includes("query") && (names.includes("pattern") || !withPatterns);
  const [queryAt, patternAt] = hasHeader ? [names.indexOf("query"), names.indexOf("pattern")] : [0, 1];
  const rows = lines.slice(hasHeader ? 1 : 0);
  const duplicate = withPatterns ? undefined : rows.find(({ cells }) => !hasHeader && cells[1]);
  if (duplicate)
    throw new Problem(
      "invalid_request",
      `Batch line ${duplicate.line} (“${printable(duplicate.text)}”) has a pattern. Omit --pattern and --elm, or the column.`,
    );
  return rows.map(({ line, text, cells }) => ({
    line,
    text,
    query: cells[queryAt] ?? "",
    pattern: withPatterns ? (cells[patternAt] ?? "") : null,
  }));
}
