import { readdirSync, readFileSync, statSync } from "node:fs";

/** What a server takes, looked at from outside. Linux alone tells. */
export interface Vitals {
  /** Seconds since the beginning. */
  at: number;
  /** Megabytes of memory (RSS). */
  memory: number;
  files: number;
  threads: number;
  /** Megabytes of the database's log. */
  log: number;
}

const megabytes = (path: string): number => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1e6;

export function look(pid: number, database: string, at: number): Vitals | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const memory = Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
    const threads = Number(/^Threads:\s+(\d+)/m.exec(status)![1]);
    const files = readdirSync(`/proc/${pid}/fd`).length;
    return { at, memory, threads, files, log: megabytes(`${database}-wal`) };
  } catch {
    return null;
  }
}

export type Measure = Exclude<keyof Vitals, "at">;

/** How one of them went. */
export interface Course {
  start: number;
  median: number;
  most: number;
  end: number;
  /** By how much the line through the second half rises from its beginning to its end. */
  rise: number;
}

export function courseOf(samples: readonly Vitals[], measure: Measure): Course {
  const values = samples.map((sample) => sample[measure]);
  const half = samples.slice(samples.length >> 1);
  const mean = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0) / of.length;
  const [x, y] = [mean(half.map(({ at }) => at)), mean(half.map((sample) => sample[measure]))];
  const top = half.reduce((sum, sample) => sum + (sample.at - x) * (sample[measure] - y), 0);
  const bottom = half.reduce((sum, { at }) => sum + (at - x) ** 2, 0);
  return {
    start: values[0],
    median: values.toSorted((a, b) => a - b)[values.length >> 1],
    most: Math.max(...values),
    end: values.at(-1)!,
    rise: bottom === 0 ? 0 : (top / bottom) * (half.at(-1)!.at - half[0].at),
  };
}
