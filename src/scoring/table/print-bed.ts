import { findColumn, readCell } from "./column.ts";
import { isMatch } from "./match-row.ts";
import type { MatchTable } from "./match-tables.ts";
import type { TablePart } from "./rows.ts";

/**
 * BED with six columns (UCSC): sequence, start from 0, end not included, name, score, strand. The score is 1000 (1 - P) of
 * the verdict, so that programs shade matches with more evidence darker; 0 without P.
 */
export function printBed(table: MatchTable, { rows }: TablePart): string {
  const sequence = findColumn(table.gff3.sequence, table.columns);
  const word = (text: string): string => text.trim().replace(/\s+/g, "_") || ".";
  return rows
    .filter(isMatch)
    .map((row) => {
      const score = Math.round(1000 * (1 - (row.overallPValue ?? 1)));
      const place = [word(String(readCell(sequence, row))), row.start - 1, row.end];
      return `${[...place, word(row.motif), score, "."].join("\t")}\n`;
    })
    .join("");
}
