import type { PredictionReport } from "../prediction/prediction.ts";
import { type AnnotatedReport, instanceName, type MatchNotes } from "../features/annotation.ts";

/** The query as a protein of the corpus. */
export const PROTEIN_COLUMNS = ["accession", "gene", "name", "organism"] as const;

export const proteinCells = (protein: PredictionReport["protein"]): string[] =>
  PROTEIN_COLUMNS.map((column) => protein?.[column] ?? "");

/** What is known at a match, as columns and attributes. */
export const NOTE_CELLS = {
  known_instance: ({ instances }) => instances.map(instanceName).join(", "),
  also_annotated_in: ({ homologs }) =>
    homologs
      .map((one) => [one.organism, one.accession, instanceName(one)].filter(Boolean).join(" "))
      .join(", "),
} as const satisfies Record<string, (notes: MatchNotes) => string>;
type NoteName = keyof typeof NOTE_CELLS;
export const NOTE_NAMES = Object.keys(NOTE_CELLS) as NoteName[];

const noteCells = (notes: MatchNotes | undefined): string[] =>
  NOTE_NAMES.map((name) => (notes ? NOTE_CELLS[name](notes) : ""));

export const COLUMNS = [
  "query",
  "pattern",
  "start",
  "end",
  "match",
  "homologs",
  "effective_homologs",
  "cs",
  "expected",
  "z",
  "p",
  "verdict",
  "kept",
  "overall_p",
  "overall_verdict",
  "p_is",
  "overall_p_is",
  ...PROTEIN_COLUMNS,
  ...NOTE_NAMES,
] as const;

/** The verdict in the row of a pattern without a match. */
const NO_MATCH = "no match";

export const HEADER_ROW = `${COLUMNS.join("\t")}\n`;

/** The name of a query, also without an identifier. */
export const queryName = (identifier: string): string => (identifier === "" ? "query" : identifier);

/** The motif class of a pattern, else its expression. */
export const patternName = ({ name, expression }: { name: string | null; expression: string }): string =>
  name ?? expression;

/**
 * One row per match, without the header: start and end from 1, numbers with at most four decimals, empty if missing. A
 * pattern without a match has one row. Control characters become spaces, because the format cannot escape them.
 */
export function printRows({ identifier, protein, prediction, notes }: AnnotatedReport): string {
  const query = queryName(identifier);
  const names = proteinCells(protein);
  let number = 0;
  const rows = prediction.patterns.flatMap((pattern): string[][] => {
    const named = patternName(pattern);
    if (pattern.matches.length === 0) {
      const empty = COLUMNS.slice(2, -names.length - NOTE_NAMES.length);
      const cells = empty.map((column) => (column === "verdict" ? NO_MATCH : ""));
      return [[query, named, ...cells, ...names, ...noteCells(undefined)]];
    }
    return pattern.matches.map((match) => [
      query,
      named,
      String(match.start),
      String(match.end),
      match.text,
      String(match.homologs),
      printDecimal(match.effectiveHomologs),
      printDecimal(match.score),
      printDecimal(match.expected),
      printDecimal(match.z),
      printDecimal(match.pValue),
      match.verdict,
      printDecimal(match.kept),
      printDecimal(match.overallPValue),
      match.overallVerdict ?? "",
      match.pValueIs ?? "",
      match.overallPValueIs ?? "",
      ...names,
      ...noteCells(notes?.[number++]),
    ]);
  });
  return printTsv(rows);
}

export const printTsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cell).join("\t")}\n`).join("");

/** The rows below a header. */
export const printTable = (report: AnnotatedReport): string => HEADER_ROW + printRows(report);

/** A number with at most four decimals; empty for null, and for a field that predictions of earlier versions lack. */
export function printDecimal(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(Math.round(value * 1e4) / 1e4);
}

// oxlint-disable-next-line no-control-regex -- these must not appear in a cell
const cell = (text: string): string => text.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029]/g, " ");
