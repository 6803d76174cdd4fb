import {
  type Knowledge,
  type PatternRequest,
  findPlace,
  readHeader,
  readProteinText,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type PatternInput, readPatterns } from "../corpus/patterns.ts";
import { type ReadingContext, requireLength } from "../jobs/job-request.ts";
import { readElmTable } from "../corpus/elm-table.ts";
import { motifClasses as classesOf, type MotifClasses } from "../corpus/motif-classes.ts";
import { decodeText } from "../corpus/motif-tables.ts";

/** One query to be scored for several patterns. */
export interface Question {
  sequence: string;
  patterns: PatternRequest[];
  /** Knowledge beside the sequence. */
  knowledge?: Knowledge | undefined;
  /** Substitutions that are scored with the homologs of the unchanged sequence. */
  variant?: string | undefined;
}

export interface NamedQuestion extends Question {
  name: string;
  description: string;
}

/**
 * Reads FASTA, each record being a query for the same patterns.
 * @throws Problem invalid_request, invalid_pattern, unknown_motif_class
 */
export function readSequences(
  { fasta, ...input }: PatternInput & { fasta: string | Uint8Array },
  { classes, maxQueryLength }: ReadingContext,
): NamedQuestion[] {
  const patterns = readPatterns(input, classes);
  const records = readQueries(utf8(fasta, "FASTA file"));
  if (records.length === 0) throw new Problem("invalid_request", "There is no sequence. Expected FASTA.");
  return records.map(({ name, description, sequence }) => {
    requireLength(sequence.length, maxQueryLength, [name]);
    return { name, description, sequence, patterns };
  });
}

/** Motif classes to scan for. */
export interface ScannedClasses {
  /** ELM's table; null for the imported classes, or else the built-in ones. */
  table: Uint8Array | null;
  /** Classes to test; empty for all. */
  names: readonly string[];
}

/** The patterns of motif classes to scan for. @throws Problem invalid_request, unknown_motif_class */
export function readScannedClasses(
  { table, names }: ScannedClasses,
  { classes }: Pick<ReadingContext, "classes">,
): PatternRequest[] {
  const known = table ? readTable(table) : classes;
  const motifClasses = names.length > 0 ? names : known.scanned.map(({ name }) => name);
  return readPatterns({ patterns: [], motifClasses }, known);
}

function readTable(table: Uint8Array): MotifClasses {
  try {
    return classesOf(readElmTable(decodeText(table)).classes);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, `Table of motif classes: ${error.message}`, { cause: error });
  }
}

/** The records of FASTA, as strict about their letters as the other interfaces. @throws Problem naming line and character */
function readQueries(text: string): Omit<NamedQuestion, "patterns">[] {
  let line = 1;
  return text.split(/^(?=>)/m).flatMap((record) => {
    const start = line;
    line += lineCount(record);
    return record.startsWith(">") ? [readRecord(record, start)] : requireNoResidues(record, start);
  });
}

const lineCount = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0;
const removeComments = (text: string): string =>
  text.replaceAll(/^;.*$/gm, (comment) => " ".repeat(comment.length));

function requireNoResidues(text: string, line: number): [] {
  const at = removeComments(text).search(/\S/);
  if (at < 0) return [];
  throw fastaProblem(
    line + lineCount(text.slice(0, at)),
    ": expected a header that starts with > before the first residues",
  );
}

/** @param line of the header */
function readRecord(record: string, line: number): Omit<NamedQuestion, "patterns"> {
  const [header] = record.slice(1).split(/[\r\n]/, 1);
  const { accession: name, description } = readHeader(header);
  if (name === "") throw fastaProblem(line, ": the header has no identifier");
  const body = " ".repeat(header.length + 1) + removeComments(record.slice(header.length + 1));
  const { sequence, fault } = readProteinText(removeInnerStops(body));
  if (fault) {
    const place = findPlace(body, fault.position);
    throw fastaProblem(line + place.line - 1, `, character ${place.character}: ${fault.reason}`);
  }
  if (sequence === "") throw fastaProblem(line, ": the record has no residues");
  return { name, description, sequence };
}

/** Genome projects write stop codons as *; an inner one is an unknown residue. */
function removeInnerStops(body: string): string {
  let end = body.length;
  while (end > 0 && !/[A-Za-z]/.test(body[end - 1])) end--;
  return body.slice(0, end).replaceAll("*", "X") + body.slice(end);
}

const fastaProblem = (line: number, reason: string): Problem =>
  new Problem("invalid_request", `FASTA line ${line}${reason.replace(/\.$/, "")}.`);

/** @throws Problem invalid_request */
export function utf8(bytes: string | Uint8Array, what: string): string {
  if (typeof bytes === "string") return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("invalid_request", `The ${what} is not UTF-8 text.`, { cause });
  }
}
