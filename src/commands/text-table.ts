/** Rows below a head, in columns as wide as their longest cell. */
export function textTable(head: string[], rows: string[][]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)));
  const line = (cells: string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]))
      .join("  ")
      .trimEnd();
  return `${[head, ...rows].map(line).join("\n")}\n`;
}

/** A time in UTC to the minute; a dash for null. */
export const formatMinute = (milliseconds: number | null): string =>
  milliseconds === null ? "-" : `${new Date(milliseconds).toISOString().slice(0, 16)}Z`;

/** A time as RFC 3339 in UTC, for JSON. */
export const timestamp = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();
