import { METHOD } from "../../motif/index.ts";
import { type Column, placeColumns, rankedColumns } from "./ranked-columns.ts";
import { escapeSequence, featureLine, GFF3_HEADER, regionLine } from "./result-gff3.ts";
import { printDecimal, printTsv } from "./result-rows.ts";
import { instanceName } from "../features/annotation.ts";
import type { ProteomeRow } from "../proteome/table.ts";

/** Of the protein, then of the match; those of `labd score` have its names. */
const COLUMNS: readonly Column<ProteomeRow>[] = [
  ["protein", ({ protein }) => protein.accession],
  ["entry", ({ protein }) => protein.entryName ?? ""],
  ["gene", ({ protein }) => protein.gene ?? ""],
  ["name", ({ protein }) => protein.name],
  ["organism", ({ protein }) => protein.organism ?? ""],
  ...rankedColumns("start", "end", "match", "overall_p", "q", "label", "z"),
  ["cs", ({ score }) => printDecimal(score)],
  ["expected", ({ expected }) => printDecimal(expected)],
  ["p", ({ pValue }) => printDecimal(pValue)],
  ...rankedColumns("verdict", "kept", "homologs"),
  ["effective_homologs", ({ effectiveHomologs }) => printDecimal(effectiveHomologs)],
  ...rankedColumns("disorder"),
  ["known_instance", ({ notes }) => notes?.instances.map(instanceName).join(", ") ?? ""],
  ...placeColumns,
];

interface ProteomeForm {
  contentType: string;
  extension: string;
  sentence: string;
  head: string;
  /** @param motif name of the motif class, or the expression */
  print(rows: readonly ProteomeRow[], motif: string): string;
}

export const PROTEOME_FORMS = {
  tsv: {
    contentType: "text/tab-separated-values; charset=utf-8",
    extension: "tsv",
    sentence: "One row per match.",
    head: printTsv([COLUMNS.map(([name]) => name)]),
    print: (rows) => printTsv(rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))),
  },
  json: {
    contentType: "application/x-ndjson",
    extension: "jsonl",
    sentence: "One object per match, each on a line of its own.",
    head: "",
    print: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  },
  gff3: {
    contentType: "text/x-gff3; charset=utf-8",
    extension: "gff3",
    sentence: "The matches as features of the proteins; the score is q.",
    head: GFF3_HEADER,
    print: printFeatures,
  },
} as const satisfies Record<string, ProteomeForm>;

export type ProteomeFormName = keyof typeof PROTEOME_FORMS;

/** A feature per match, the best first; the score is the q-value. */
function printFeatures(rows: readonly ProteomeRow[], motif: string): string {
  const described = new Set<string>();
  return rows
    .map((row) => {
      const { accession, length } = row.protein;
      const sequence = escapeSequence(accession);
      const region = described.has(accession) ? "" : regionLine(sequence, length);
      described.add(accession);
      const attributes = COLUMNS.filter(([name]) => !["protein", "start", "end", "name"].includes(name)).map(
        ([name, cell]) => [name, cell(row)] as const,
      );
      const { start, end, q: score } = row;
      const note = row.protein.name;
      const place = { sequence, source: METHOD, start, end, score };
      return region + featureLine(place, [["Name", motif], ["Note", note], ...attributes]);
    })
    .join("");
}
