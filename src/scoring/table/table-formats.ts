import type { MatchTable } from "./match-tables.ts";
import { printBed } from "./print-bed.ts";
import { GFF3_HEAD, printGff3 } from "./print-gff3.ts";
import { printComments, type Provenance } from "./provenance.ts";
import { printTsv, printTsvHead } from "./print-tsv.ts";
import type { TablePart } from "./rows.ts";

/** A format of files, for the JSON service, its documentation, the command line and pages. */
export interface FileFormat {
  /** Name on pages. */
  title: string;
  contentType: string;
  /** Other media types that an Accept header may use for it. */
  aliases: readonly string[];
  /** Extension of its files. */
  extension: string;
  /** Description of the content in the OpenAPI document and on pages. */
  sentence: string;
}

/** A format of tables of matches: text that begins with a head, to which any number of parts are added, or a workbook. */
export type TableFormat = FileFormat &
  (
    | {
        head: (table: MatchTable, provenance?: Provenance) => string;
        print: (table: MatchTable, part: TablePart) => string;
      }
    | { isWorkbook: true }
  );

export const TABLE_FORMATS = {
  tsv: {
    title: "TSV",
    contentType: "text/tab-separated-values; charset=utf-8",
    aliases: [],
    extension: "tsv",
    sentence: "One row per match; of a result also one for a pattern without a match.",
    head: (table, provenance) => printComments(provenance) + printTsvHead(table),
    print: printTsv,
  },
  gff3: {
    title: "GFF3",
    contentType: "text/x-gff3; charset=utf-8",
    aliases: ["text/gff3", "application/gff3"],
    extension: "gff3",
    sentence:
      "The matches as features; the score is q where matches are ranked, else the conservation score.",
    head: (_, provenance) => GFF3_HEAD + printComments(provenance),
    print: printGff3,
  },
  bed: {
    title: "BED",
    contentType: "text/x-bed; charset=utf-8",
    aliases: ["text/bed"],
    extension: "bed",
    sentence: "The places of the matches; the score is 1000 (1 - P).",
    head: (_, provenance) => printComments(provenance),
    print: printBed,
  },
  xlsx: {
    title: "XLSX",
    contentType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    aliases: [],
    extension: "xlsx",
    sentence: "The rows of TSV as a spreadsheet.",
    isWorkbook: true,
  },
} as const satisfies Record<string, TableFormat>;

export type TableFormatName = keyof typeof TABLE_FORMATS;
