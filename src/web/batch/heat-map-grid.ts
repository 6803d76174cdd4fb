import type { ProteinNames } from "../score/protein-identity.tsx";
import { inOrder } from "../score/order.ts";
import { findMatch, type Row } from "./rows.ts";

/** The figure that a heat map shows and colours. */
export type Measure = "p" | "z";

/** Proteins as rows and motifs as columns, in the order of the batch. */
export interface Grid {
  proteins: { name: string; names: ProteinNames | null; cells: (Row | undefined)[] }[];
  motifs: string[];
}

/** Steps of colour from the darkest: the smallest of the figures that have it, in words and numbers. */
export const STEPS: Readonly<Record<Measure, readonly { limit: number; words: string }[]>> = {
  p: [
    { limit: 0.005, words: "P ≤ 0.005" },
    { limit: 0.02, words: "≤ 0.02, likely functional" },
    { limit: 0.1, words: "≤ 0.1, possible" },
    { limit: 0.5, words: "≤ 0.5" },
    { limit: Infinity, words: "> 0.5" },
  ],
  z: [
    { limit: 3, words: "z ≥ 3" },
    { limit: 2, words: "≥ 2" },
    { limit: 1, words: "≥ 1" },
    { limit: 0, words: "≥ 0" },
    { limit: -Infinity, words: "< 0" },
  ],
};

/** The colour of a cell, from 0 (weakest) to 4; null without a figure. */
export function findLevel(row: Row | undefined, measure: Measure): number | null {
  const best = findMatch(row);
  const value = measure === "p" ? best?.overallPValue : best?.z;
  if (value === null || value === undefined) return null;
  // A bound from below at the limit of a step belongs to the next one.
  const isAbove = measure === "p" && best?.overallPValueIs === "at least";
  const step = STEPS[measure].findIndex(({ limit }) =>
    measure === "z" ? value >= limit : isAbove ? value < limit : value <= limit,
  );
  return STEPS[measure].length - 1 - step;
}

/** Rows of one protein follow each other; a motif that it has already begins the next protein. */
export function makeGrid(rows: readonly Row[]): Grid {
  const motifs = [...new Set(rows.map(({ motif }) => motif))];
  const proteins: Grid["proteins"] = [];
  for (const row of rows) {
    const column = motifs.indexOf(row.motif);
    let last = proteins.at(-1);
    if (!last || last.name !== row.query || last.cells[column]) {
      last = { name: row.query, names: row.protein ?? null, cells: motifs.map(() => undefined) };
      proteins.push(last);
    }
    last.cells[column] = row;
    last.names ??= row.protein ?? null;
  }
  return { proteins, motifs };
}

/** Values by which cells are ordered: the best match first, cells without one last. */
function sortValue(row: Row | undefined, measure: Measure): number {
  const best = findMatch(row);
  if (!best) return Number.MAX_VALUE;
  const value = measure === "p" ? best.overallPValue : best.z == null ? null : -best.z;
  return value ?? Number.MAX_VALUE;
}

export interface GridOrder {
  measure: Measure;
  /** Motif by which proteins are ordered, or `name`; descending after "-"; empty for the order of the batch. */
  proteins: string;
  /** Protein by which motifs are ordered. */
  motifs: string;
}

export function ordered({ proteins, motifs }: Grid, order: GridOrder): Grid {
  const reference = proteins.find(({ name }) => name === order.motifs.replace(/^-/, ""));
  const columns = inOrder([...motifs.keys()], reference ? order.motifs : "", (column) =>
    sortValue(reference?.cells[column], order.measure),
  );
  const by = motifs.indexOf(order.proteins.replace(/^-/, ""));
  const rows = inOrder(proteins, order.proteins, (protein) =>
    by < 0 ? protein.name : sortValue(protein.cells[by], order.measure),
  );
  return {
    motifs: columns.map((column) => motifs[column]),
    proteins: rows.map(({ name, names, cells }) => ({
      name,
      names,
      cells: columns.map((column) => cells[column]),
    })),
  };
}
