import { METHOD } from "../../motif/index.ts";
import { attributesText, escapeSequence, GFF3_HEADER, regionLine } from "../api/result-gff3.ts";
import { printDecimal, printTsv } from "../api/result-rows.ts";
import type { ProteomeRow } from "./table.ts";

/** Columns of the protein and of the match; those of `labd score` have its names. */
const PROTEIN_COLUMNS: readonly (readonly [name: string, cell: (row: ProteomeRow) => string])[] = [
  ["protein", ({ protein }) => protein.accession],
  ["entry", ({ protein }) => protein.entryName ?? ""],
  ["gene", ({ protein }) => protein.gene ?? ""],
  ["name", ({ protein }) => protein.description],
  ["organism", ({ protein }) => protein.organism ?? ""],
];
const MATCH_COLUMNS: typeof PROTEIN_COLUMNS = [
  ["start", ({ start }) => String(start)],
  ["end", ({ end }) => String(end)],
  ["match", ({ text }) => text],
  ["overall_p", ({ overallPValue }) => printDecimal(overallPValue)],
  ["q", ({ q }) => printDecimal(q)],
  ["label", ({ label }) => label ?? ""],
  ["z", ({ z }) => printDecimal(z)],
  ["cs", ({ score }) => printDecimal(score)],
  ["expected", ({ expected }) => printDecimal(expected)],
  ["p", ({ pValue }) => printDecimal(pValue)],
  ["verdict", ({ verdict }) => verdict],
  ["kept", ({ kept }) => String(kept)],
  ["homologs", ({ homologs }) => String(homologs)],
  ["effective_homologs", ({ effectiveHomologs }) => printDecimal(effectiveHomologs)],
  ["disorder", ({ disorder }) => printDecimal(disorder)],
];
const COLUMNS = [...PROTEIN_COLUMNS, ...MATCH_COLUMNS];

interface ProteomeForm {
  head: string;
  /** @param motif name of the motif class, or the expression */
  print(rows: readonly ProteomeRow[], motif: string): string;
}

export const PROTEOME_FORMS = {
  tsv: {
    head: printTsv([COLUMNS.map(([name]) => name)]),
    print: (rows) => printTsv(rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))),
  },
  json: { head: "", print: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join("") },
  gff3: { head: GFF3_HEADER, print: printFeatures },
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
      const text = attributesText([["Name", motif], ["Note", row.protein.description], ...attributes]);
      const place = [row.start, row.end, printDecimal(row.q) || ".", ".", "."];
      return `${region}${[sequence, METHOD, "polypeptide_motif", ...place, text].join("\t")}\n`;
    })
    .join("");
}
