const GAP = "  ";
/** Shortened cells keep so many characters. */
const SHORTEST = 8;

interface Fit {
  /** Characters of a line. */
  width: number;
  /** Columns whose cells are shortened where lines would be longer; then the last columns are left out. */
  flexible: readonly number[];
  /** Colours a padded cell. */
  paint?: (cell: string, column: number) => string;
}

/** Rows below a head, in columns as wide as their longest cell, or as `fit` says. */
export function textTable(head: string[], rows: string[][], fit?: Fit): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)));
  if (fit) fitWidths(widths, fit);
  const print = (cell: string, i: number): string =>
    (cell.length > widths[i] ? `${cell.slice(0, widths[i] - 1)}…` : cell).padEnd(widths[i]);
  const line = (cells: string[], paint: Fit["paint"]): string =>
    cells
      .slice(0, widths.length)
      .map((cell, i) => paint?.(print(cell, i), i) ?? print(cell, i))
      .join(GAP)
      .trimEnd();
  return `${[line(head, undefined), ...rows.map((row) => line(row, fit?.paint))].join("\n")}\n`;
}

function fitWidths(widths: number[], { width, flexible }: Fit): void {
  const length = (): number => widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
  while (length() > width && widths.length > 1) {
    const [widest] = flexible.toSorted((a, b) => widths[b] - widths[a]);
    if (widths[widest] > SHORTEST) widths[widest]--;
    else widths.pop();
  }
}

/** A time in UTC to the minute; a dash for null. */
export const formatMinute = (milliseconds: number | null): string =>
  milliseconds === null ? "-" : `${new Date(milliseconds).toISOString().slice(0, 16)}Z`;

/** A time as RFC 3339 in UTC, for JSON. */
export const timestamp = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();
