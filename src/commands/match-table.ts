import { pluralize } from "../platform/words.ts";
import type { Prediction } from "../motif/index.ts";
import type { ProteinObject } from "../scoring/index.ts";
import { isMatch, type MatchRow, type TableRow } from "../scoring/table/match-row.ts";
import { printBounded } from "../scoring/table/print-tsv.ts";
import { findVerdict, type MatchVerdict, VERDICTS } from "../scoring/table/verdict.ts";
import type { Call } from "./command.ts";
import { textTable } from "./text-table.ts";

/** The format for people; the default on a terminal. */
export const TABLE_TEXT = "table";

/** The format of an output: that of --format, else a table on a terminal, and elsewhere the one for programs. */
export const chooseFormat = <Format extends string>(
  call: Call,
  otherwise: Format,
): Format | typeof TABLE_TEXT =>
  (call.value("--format") as Format | undefined) ??
  (call.streams.stdout.isTTY === true && !call.has("--output") && !call.has("--shard")
    ? TABLE_TEXT
    : otherwise);

/** Columns of a terminal whose width is unknown. */
export const WIDTH = 100;
const RESET = "\u001B[0m";
const COLOURS: Readonly<Record<MatchVerdict | "title", string>> = {
  title: "\u001B[1m",
  "known instance": "\u001B[1;32m",
  "likely functional": "\u001B[1;34m",
  possible: "\u001B[33m",
  "no evidence": "\u001B[2m",
  "not scored": "\u001B[2m",
};

/** https://no-color.org: any value turns colours off. */
const hasColours = ({ streams: { stdout }, environment }: Call): boolean =>
  stdout.isTTY === true && !environment.NO_COLOR && environment.TERM !== "dumb";

const number = (value: number | null | undefined): string =>
  value == null ? "" : String(Number(value.toPrecision(2)));

/** Columns with their cells; the verdict comes third. */
const CELLS: readonly (readonly [head: string, cell: (row: MatchRow) => string])[] = [
  ["match", ({ text }) => text],
  ["place", ({ start, end }) => `${start}-${end}`],
  ["verdict", (row) => VERDICTS[findVerdict(row)]],
  ["kept", ({ kept, homologs }) => (homologs === 0 ? "no homologs" : `${kept ?? 0} of ${homologs}`)],
  ["P", ({ overallPValue, overallPValueIs }) => printBounded(overallPValue, overallPValueIs, number)],
  ["q", ({ q, qIs }) => printBounded(q, qIs, number)],
  ["z", ({ z }) => z?.toFixed(2) ?? ""],
];

/** Matches as a table that fits the terminal. @param first title and cell of the first column */
export function matchTable(
  call: Call,
  rows: readonly TableRow[],
  first: readonly [head: string, cell: (row: TableRow) => string],
): string {
  const matches = rows.filter(isMatch);
  // Only rankings have q.
  const cells = CELLS.filter(([head]) => head !== "q" || matches.some(({ q }) => q != null));
  const verdicts = new Map(
    Object.entries(VERDICTS).map(([verdict, name]) => [name, COLOURS[verdict as MatchVerdict]]),
  );
  return textTable(
    [first[0], ...cells.map(([head]) => head)],
    rows.map((row) => [
      first[1](row),
      ...cells.map(([head, cell]) => (isMatch(row) ? cell(row) : head === "verdict" ? row.missing : "")),
    ]),
    {
      width: call.streams.stdout.columns ?? WIDTH,
      flexible: [0, 1],
      paint: (cell, column) => {
        const colour = column === 3 && hasColours(call) ? verdicts.get(cell.trim()) : undefined;
        return colour ? `${colour}${cell}${RESET}` : cell;
      },
    },
  );
}

/** The matches of a protein below its names. */
export function proteinTable(
  call: Call,
  {
    accession,
    protein,
    prediction,
  }: { accession: string; protein: ProteinObject | null; prediction: Prediction },
  rows: readonly TableRow[],
): string {
  const names = [accession, protein?.gene, protein?.organism, protein?.accession].filter(Boolean);
  const sizes = `${pluralize(prediction.queryLength, "residue")}, ${pluralize(prediction.homologs.length, "homolog")}`;
  const title = [...new Set(names)].join(", ");
  const painted = hasColours(call) ? `${COLOURS.title}${title}${RESET}` : title;
  return `${painted}: ${sizes}\n${matchTable(call, rows, ["motif", ({ motif }) => motif])}\n`;
}
