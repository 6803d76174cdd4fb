import { readdirSync, readFileSync, statSync } from "node:fs";

/** Resources of a server at one moment. Linux only. */
export interface ProcessSample {
  /** Seconds since the start of the test. */
  at: number;
  /** Resident memory, MB. */
  memory: number;
  files: number;
  threads: number;
  /** Size of the write-ahead log, MB. */
  wal: number;
}

/** Null if the process is gone or the system is not Linux. */
export function sampleProcess(pid: number, database: string, at: number): ProcessSample | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const memory = Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
    const threads = Number(/^Threads:\s+(\d+)/m.exec(status)![1]);
    const files = readdirSync(`/proc/${pid}/fd`).length;
    const wal = (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 1e6;
    return { at, memory, threads, files, wal };
  } catch {
    return null;
  }
}

export type Measure = Exclude<keyof ProcessSample, "at">;

export interface Trend {
  start: number;
  median: number;
  max: number;
  end: number;
  /** Rise of the regression line over the second half. */
  growth: number;
}

export function fitTrend(samples: readonly ProcessSample[], measure: Measure): Trend {
  const values = samples.map((sample) => sample[measure]);
  const half = samples.slice(samples.length >> 1);
  const mean = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const [x, y] = [mean(half.map(({ at }) => at)), mean(half.map((sample) => sample[measure]))];
  const covariance = half.reduce((sum, sample) => sum + (sample.at - x) * (sample[measure] - y), 0);
  const variance = half.reduce((sum, { at }) => sum + (at - x) ** 2, 0);
  return {
    start: values[0],
    median: values.toSorted((a, b) => a - b)[values.length >> 1],
    max: Math.max(...values),
    end: values.at(-1)!,
    growth: variance === 0 ? 0 : (covariance / variance) * (half.at(-1)!.at - half[0].at),
  };
}
