import type { AnnotatedReport } from "../features/annotation.ts";
import { findColumn, readCell } from "../table/column.ts";
import { COLUMNS } from "../table/columns.ts";
import { listChanges } from "../table/match-changes.ts";
import type { MatchRow } from "../table/match-row.ts";
import { printCell, removeControls } from "../table/print-tsv.ts";
import { printComments, type Provenance } from "../table/provenance.ts";
import { compare, type ComparedMatch, type Comparison } from "./comparison.ts";

/** Columns of the match, and those that the unchanged protein and the variant have each. */
const PLACE = ["motif", "start", "end", "match"].map((name) => findColumn(name, COLUMNS));
const OF_EACH = ["verdict", "z", "overall_p", "kept", "homologs"].map((name) => findColumn(name, COLUMNS));
const HEADS = [
  "query",
  "variant",
  "change",
  ...PLACE.map(({ name }) => name),
  ...OF_EACH.map(({ name }) => `${name}_before`),
  ...OF_EACH.map(({ name }) => `${name}_after`),
];

/** Compares variants with their proteins. Results come in the order of `withVariants`: a protein, then its variants. */
export function variantComparisons(): (report: AnnotatedReport) => Comparison | null {
  let unchanged: AnnotatedReport | undefined;
  return (report) => {
    if (report.provenance?.variant === undefined || !unchanged) {
      unchanged = report;
      return null;
    }
    return compare({ job: "", ...unchanged }, { job: "", ...report });
  };
}

export const variantHead = (provenance: Provenance): string =>
  `${printComments(provenance)}${HEADS.join("\t")}\n`;

/** The matches that a variant changes, as lines of TSV. */
export const printVariant = ({ b, matches }: Comparison): string =>
  listChanges(matches)
    .map((match) => `${[b.identifier, b.variant!, ...readCells(match)].map(removeControls).join("\t")}\n`)
    .join("");

/** The change, the place and the numbers before and after. */
function readCells({ change, a, b, ...place }: ComparedMatch): string[] {
  const cells = (columns: typeof COLUMNS, numbers: ComparedMatch["a"] | object): string[] =>
    columns.map((column) =>
      numbers ? printCell(readCell(column, { ...place, ...numbers } as unknown as MatchRow)) : "",
    );
  return [change ?? "", ...cells(PLACE, place), ...cells(OF_EACH, a), ...cells(OF_EACH, b)];
}
