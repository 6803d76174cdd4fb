import { readdirSync, statfsSync, statSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { knownBackups } from "../backup/places.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { allTallies } from "../../platform/cache-counter.ts";

/** What the rest of the program is asked when somebody reads the metrics. */
export interface MetricSources {
  version: string;
  commit: string;
  /** Path of the database. */
  database: string;
  dataDirectory: string;
  backupDirectory: string;
  /** Jobs by state. */
  jobs: () => Readonly<Record<string, number>>;
  /** Milliseconds since 1970-01-01 UTC at which the job that waits longest was submitted; null where none waits. */
  oldestQueued: () => number | null;
  workers: () => { size: number; busy: number; memoryLimit: number };
  now: () => number;
}

/** Milliseconds for which what costs a look at a directory or a large table is remembered. */
const REMEMBERED = 15_000;

/** Declares the figures of process, database, jobs, caches and backups. @returns a function that stops what measures */
export function registerMetrics(metrics: Metrics, vital: MetricSources): () => void {
  const { now } = vital;
  const remembered = <T>(read: () => T): (() => T) => {
    let known: { value: T; until: number } | undefined;
    return () => {
      if (!known || now() >= known.until || now() < known.until - REMEMBERED)
        known = { value: read(), until: now() + REMEMBERED };
      return known.value;
    };
  };
  const gauge = metrics.ask.bind(metrics, "gauge");
  const counter = metrics.ask.bind(metrics, "counter");

  gauge("labd_build_info", "Always 1; which version runs.", () => [[[vital.version, vital.commit], 1]], [
    "version",
    "commit",
  ]);
  const started = now() / 1000 - performance.now() / 1000;
  gauge("process_start_time_seconds", "Seconds since 1970 at which the process began.", () => started);
  counter("process_cpu_seconds_total", "Seconds of processor time, of all threads.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge(
    "process_resident_memory_bytes",
    "Memory of the process, workers included: they are its threads.",
    () => process.memoryUsage.rss(),
  );
  gauge("process_open_fds", "Open files and connections.", () =>
    process.platform === "linux" ? readdirSync("/proc/self/fd").length : Number.NaN,
  );
  const delay = monitorEventLoopDelay({ resolution: 100 });
  delay.enable();
  gauge(
    "labd_event_loop_delay_seconds",
    "How late the thread that answers was, since the last look: at most.",
    () => {
      const most = delay.max / 1e9;
      delay.reset();
      return Math.max(0, most);
    },
  );

  const jobs = remembered(vital.jobs);
  gauge(
    "labd_jobs",
    "Scoring jobs by state.",
    () => Object.entries(jobs()).map(([state, n]) => [[state], n]),
    ["state"],
  );
  gauge("labd_job_queue_age_seconds", "How long the job has waited that has waited longest.", () => {
    const oldest = vital.oldestQueued();
    return oldest === null ? 0 : Math.max(0, (now() - oldest) / 1000);
  });
  gauge("labd_workers", "Scoring workers, each with one job at a time.", () => vital.workers().size);
  gauge("labd_workers_busy", "Scoring workers that have a job.", () => vital.workers().busy);
  gauge(
    "labd_worker_memory_limit_bytes",
    "Memory of the process from which on the longest job is stopped.",
    () => vital.workers().memoryLimit,
  );

  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  gauge("labd_database_bytes", "Size of the database's file.", () => sizeOf(vital.database));
  gauge("labd_wal_bytes", "Size of the database's write-ahead log.", () => sizeOf(`${vital.database}-wal`));
  const room = (directory: string) => {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { free: bavail * bsize, size: blocks * bsize };
  };
  gauge(
    "labd_data_free_bytes",
    "Free bytes where the data directory lies.",
    () => room(vital.dataDirectory).free,
  );
  gauge(
    "labd_data_size_bytes",
    "All bytes where the data directory lies.",
    () => room(vital.dataDirectory).size,
  );
  const backup = remembered(() => knownBackups(vital.dataDirectory, vital.backupDirectory).at(-1)?.manifest);
  gauge(
    "labd_backup_last_timestamp_seconds",
    "Seconds since 1970 at which the last backup was made; 0 for none.",
    () => Date.parse(backup()?.created ?? "1970-01-01") / 1000,
  );
  gauge(
    "labd_backup_last_bytes",
    "Compressed size of the last backup's database.",
    () => backup()?.database.compressedBytes ?? 0,
  );

  const tallies = (which: "hits" | "misses") => () =>
    [...allTallies()].map(([name, tally]) => [[name], tally[which]] as const);
  counter("labd_cache_hits_total", "Times that what is kept spared the work.", tallies("hits"), ["cache"]);
  counter("labd_cache_misses_total", "Times that it did not.", tallies("misses"), ["cache"]);
  return () => delay.disable();
}
