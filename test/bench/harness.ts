import { readFileSync } from "node:fs";

/** Output, statistics and process measurements shared by the benchmarks. */

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The value at a fraction of the sorted values; NaN without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Median with the range: "1.5 (1.2 to 1.9)". */
export const withRange = (values: readonly number[], digits = 1): string =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

/** Memory of a process in MB (Linux): resident by default, `VmHWM` for its peak. */
export const readMemory = (pid: number, field: "VmRSS" | "VmHWM" | "RssFile" = "VmRSS"): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? NaN) /
  1024;

/** User and system time of a process in milliseconds (Linux), in ticks of 10 ms. */
export function processorTime(pid: number, of: "itself" | "with ended children" = "itself"): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return sum(fields.slice(11, of === "itself" ? 13 : 15).map(Number)) * 10;
}
