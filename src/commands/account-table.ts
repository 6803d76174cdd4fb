/** Rows under a head, in columns as wide as their longest cell, for the verbs that list accounts and tokens. */
export function accountTable(head: string[], rows: string[][]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)));
  const line = (cells: string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]))
      .join("  ")
      .trimEnd();
  return `${[head, ...rows].map(line).join("\n")}\n`;
}

/** A time to the minute, in UTC; a dash where there is none. */
export const minuteOf = (milliseconds: number | null): string =>
  milliseconds === null ? "-" : `${new Date(milliseconds).toISOString().slice(0, 16)}Z`;
