/** Slots of a location: rows × columns, named by letters and numbers (A1 to I9) or counted row by row (1 to 81). */
export interface Grid {
  rows: number;
  columns: number;
  numbering: Numbering;
}

/** Names of the first slot. */
export const NUMBERINGS = ["A1", "1"] as const;
export type Numbering = (typeof NUMBERINGS)[number];

/** Rows or columns of the largest grid: a plate of 1,536 wells has 32 × 48. */
export const MAX_SIDE = 100;

export const slotCount = ({ rows, columns }: Grid): number => rows * columns;

/** A to Z, then AA to AZ, and so on. */
function printLetters(row: number): string {
  const last = String.fromCharCode(65 + (row % 26));
  return row < 26 ? last : printLetters(Math.floor(row / 26) - 1) + last;
}

/** The position of a slot, numbered from 0, row by row. */
export function positionAt({ columns, numbering }: Grid, slot: number): string {
  if (numbering === "1") return String(slot + 1);
  return `${printLetters(Math.floor(slot / columns))}${(slot % columns) + 1}`;
}

/** All positions, row by row. */
export const listPositions = (grid: Grid): string[] =>
  Array.from({ length: slotCount(grid) }, (_, slot) => positionAt(grid, slot));

/** The range of positions in words, such as A1 to I9. */
export const formatRange = (grid: Grid): string =>
  `${positionAt(grid, 0)} to ${positionAt(grid, slotCount(grid) - 1)}`;

/** The number of the slot, from 0; undefined if the grid has no such position. */
export function findSlot(grid: Grid, position: string): number | undefined {
  const [, letters = "", digits] = /^([A-Z]*)(\d+)$/.exec(position) ?? [];
  if (digits === undefined || (letters === "") !== (grid.numbering === "1")) return undefined;
  const number = Number(digits) - 1;
  const row = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  const slot = letters === "" ? number : row * grid.columns + number;
  // Also refuses other spellings, such as A01.
  return slot >= 0 && slot < slotCount(grid) && positionAt(grid, slot) === position ? slot : undefined;
}

/** The position in stored form: `a 01` is A1. */
export const normalPosition = (typed: string): string =>
  typed.toUpperCase().replace(/^([A-Z]*)[ -]?0*(\d+)$/, "$1$2");
