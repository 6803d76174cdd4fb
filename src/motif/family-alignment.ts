import { decode } from "./alphabet.ts";
import type { AlignedHomolog, Family } from "./divergence.ts";
import { residuesAt } from "./evidence.ts";
import type { FamilyAlignment } from "./prediction.ts";

/** Alignment behind the scores, with conservation, disorder and order of each residue. */
export function familyAlignment({ query, homologs, prediction }: Family): FamilyAlignment {
  return {
    query: decode(query),
    rows: homologs.map((homolog) => rowText(homolog)),
    conservation: conservationByResidue(query, homologs),
    disorder: Array.from(prediction.disorder, hundredths),
    order: Array.from(prediction.order, hundredths),
  };
}

/** A homolog in A3M (HH-suite): one character per residue of the query, insertions after it in lower case. */
function rowText(homolog: AlignedHomolog): string {
  const { row, first, last } = homolog;
  const columns = decode(row.anchored);
  if (first < 0) return columns;
  const aligned = residuesAt(homolog, { start: first, end: last + 1 });
  return columns.slice(0, first) + aligned + columns.slice(last + 1);
}

/** Weighted fraction of the homologs reaching a residue that have the same one; null if none reaches it. */
function conservationByResidue(query: Uint8Array, homologs: readonly AlignedHomolog[]): (number | null)[] {
  const same = new Float64Array(query.length);
  const all = new Float64Array(query.length);
  for (const { row, first, last, weight } of homologs) {
    for (let column = Math.max(first, 0); column <= last; column++) {
      all[column] += weight;
      if (row.anchored[column] === query[column]) same[column] += weight;
    }
  }
  return Array.from(same, (weight, column) => (all[column] > 0 ? hundredths(weight / all[column]) : null));
}

/** Two decimals suffice for display; `+ 0` turns -0 into 0, as JSON has no -0. */
const hundredths = (value: number): number => Math.round(value * 100) / 100 + 0;
