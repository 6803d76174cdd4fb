import type { AlignedRow } from "./aligned-rows.ts";

/** Ways to colour an alignment, with their names. */
export const SCHEMES = {
  conservation: "Colour by conservation",
  clustal: "Clustal colours",
  hydropathy: "Colour by hydropathy",
  none: "No colours",
} as const;
export type Scheme = keyof typeof SCHEMES;

export const isScheme = (name: string): name is Scheme => Object.hasOwn(SCHEMES, name);

/** The facts about a column that a colour scheme uses. */
export interface ColumnFacts {
  query: string;
  /** Share of homologs with the query's residue; null if none covers the column. */
  conservation: number | null;
  /** Share of a group of residues among the rows that cover the column. */
  residueShare: (residues: string) => number;
}

/** Counts a column's residues once. */
export function countColumn(
  rows: readonly AlignedRow[],
  column: number,
  conservation: number | null,
  query: string,
): ColumnFacts {
  const counts = new Map<string, number>();
  let covered = 0;
  for (const { residues, first, last } of rows) {
    if (column < first || column > last) continue;
    covered++;
    const residue = residues[column - 1];
    counts.set(residue, (counts.get(residue) ?? 0) + 1);
  }
  const residueShare = (residues: string): number =>
    Array.from(residues).reduce((sum, residue) => sum + (counts.get(residue) ?? 0), 0) / (covered || 1);
  return { query, conservation, residueShare };
}

/** The class of a residue's background; null for none. */
export function findColour(scheme: Scheme, residue: string, column: ColumnFacts): string | null {
  if (scheme === "clustal") return clustal(residue, column);
  if (scheme === "hydropathy") return hydropathy(residue);
  if (scheme === "none" || residue !== column.query) return null;
  const level = [0.5, 0.8].filter((bound) => (column.conservation ?? 0) >= bound).length;
  return `same-${level}`;
}

/** Groups of residues; one must reach a share for a colour. */
type Rule = readonly [
  colour: string,
  residues: string,
  ...conditions: (readonly [share: number, groups: string])[],
];

const HYDROPHOBIC = "WLVIMAFCHP";
/** Clustal X's default colours (https://www.jalview.org/help/html/colourSchemes/clustal.html); commas separate groups. */
const CLUSTAL: readonly Rule[] = [
  ["blue", "AILMFWV", [0.6, HYDROPHOBIC]],
  ["red", "KR", [0.6, "KR"], [0.8, "K,R,Q"]],
  ["magenta", "E", [0.6, "KR"], [0.5, "QE"], [0.85, "E,Q,D"]],
  ["magenta", "D", [0.6, "KR"], [0.85, "K,R,Q"], [0.5, "ED"]],
  ["green", "N", [0.5, "N"], [0.85, "N,Y"]],
  ["green", "Q", [0.6, "KR"], [0.5, "QE"], [0.85, "Q,E,K,R"]],
  ["green", "ST", [0.6, HYDROPHOBIC], [0.5, "TS"], [0.85, "S,T"]],
  ["pink", "C", [0.85, "C"]],
  ["orange", "G", [0, "G"]],
  ["yellow", "P", [0, "P"]],
  ["cyan", "HY", [0.6, HYDROPHOBIC], [0.85, "W,Y,A,C,P,Q,F,H,I,L,M,V"]],
];

function clustal(residue: string, { residueShare }: ColumnFacts): string | null {
  const rule = CLUSTAL.find(([, residues, ...conditions]) => {
    if (!residues.includes(residue)) return false;
    return conditions.some(([share, groups]) =>
      groups.split(",").some((group) => residueShare(group) > share),
    );
  });
  return rule ? `clustal-${rule[0]}` : null;
}

/** Kyte & Doolittle, J Mol Biol 1982, 157:105: above 2, above 0, and below -2. */
const hydropathy = (residue: string): string | null =>
  "IVLFC".includes(residue)
    ? "hydrophobic-1"
    : "MA".includes(residue)
      ? "hydrophobic-0"
      : "HEQDNKR".includes(residue)
        ? "hydrophilic"
        : null;

/** Colour of a letter in the logo, by the nature of its residue. */
export const findNature = (residue: string): string =>
  ["AILMFWVC", "KR", "DE", "NQST", "HY", "GP"].findIndex((residues) => residues.includes(residue)).toString();
