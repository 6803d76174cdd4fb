import { readdirSync, statfsSync, statSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { cacheCounters } from "../../platform/cache-counter.ts";
import type { Answered } from "../../platform/http.ts";
import { readOwnMemory } from "../../platform/memory.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { knownBackups } from "../backup/places.ts";

/** Values that the metrics read from the rest of the program. Times are milliseconds since 1970-01-01 UTC. */
export interface MetricSources {
  version: string;
  commit: string;
  /** Path of the database. */
  database: string;
  dataDirectory: string;
  backupDirectory: string;
  /** True if the last scheduled backup failed. */
  backupFailed: () => boolean;
  /** True if the database is damaged, so that nothing is written. */
  isDamaged: () => boolean;
  /** Jobs by state. */
  jobs: () => Readonly<Record<string, number>>;
  /** Submission time of the oldest waiting job; null if none waits. */
  oldestQueued: () => number | null;
  workers: () => { size: number; busy: number; memoryLimit: number };
  now: () => number;
}

/** Milliseconds between two reads of a directory or a large table. */
const CACHE_MILLISECONDS = 15_000;
/** Upper bounds in seconds of the latency buckets. */
const LATENCIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Registers the metrics of process, database, jobs, caches and backups. @returns a function that stops measuring */
export function registerMetrics(metrics: Metrics, sources: MetricSources): () => void {
  const { version, commit } = sources;
  metrics.ask("gauge", "labd_build_info", "Always 1, with the version.", () => [[[version, commit], 1]], [
    "version",
    "commit",
  ]);
  const jobs = cached(sources.jobs, sources.now);
  metrics.ask(
    "gauge",
    "labd_jobs",
    "Scoring jobs by state.",
    () => Object.entries(jobs()).map(([state, count]) => [[state], count]),
    ["state"],
  );
  const tallies = (which: "hits" | "misses") => () =>
    [...cacheCounters()].map(([name, tally]) => [[name], tally[which]] as const);
  metrics.ask("counter", "labd_cache_hits_total", "Cache hits.", tallies("hits"), ["cache"]);
  metrics.ask("counter", "labd_cache_misses_total", "Cache misses.", tallies("misses"), ["cache"]);
  for (const [name, help, read] of [...serviceGauges(sources), ...storageGauges(sources)])
    metrics.ask("gauge", name, help, read);
  return registerProcess(metrics, sources.now);
}

type Gauge = [name: string, help: string, read: () => number];

const serviceGauges = ({ now, oldestQueued, workers }: MetricSources): Gauge[] => [
  [
    "labd_job_queue_age_seconds",
    "Waiting time of the oldest waiting job.",
    () => Math.max(0, (now() - (oldestQueued() ?? now())) / 1000),
  ],
  ["labd_workers", "Scoring workers, each with one job at a time.", () => workers().size],
  ["labd_workers_busy", "Scoring workers that are running a job.", () => workers().busy],
  [
    "labd_worker_memory_limit_bytes",
    "Value of labd_memory_bytes above which the longest job is stopped.",
    () => workers().memoryLimit,
  ],
];

function storageGauges(sources: MetricSources): Gauge[] {
  const { now, database, dataDirectory, backupDirectory, backupFailed, isDamaged } = sources;
  const readSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const disk = () => statfsSync(dataDirectory);
  const backup = cached(() => knownBackups(dataDirectory, backupDirectory).at(-1)?.manifest, now);
  return [
    ["labd_database_bytes", "Size of the database file.", () => readSize(database)],
    [
      "labd_database_damaged",
      "1 if the database is damaged and writes are refused; else 0.",
      () => Number(isDamaged()),
    ],
    ["labd_wal_bytes", "Size of the database's write-ahead log.", () => readSize(`${database}-wal`)],
    ["labd_data_free_bytes", "Free space for the data directory.", () => disk().bavail * disk().bsize],
    ["labd_data_size_bytes", "Size of the data directory's disk.", () => disk().blocks * disk().bsize],
    [
      "labd_backup_last_timestamp_seconds",
      "Time of the last backup in seconds since 1970; 0 if no backup exists.",
      () => Date.parse(backup()?.created ?? "1970-01-01") / 1000,
    ],
    [
      "labd_backup_failed",
      "1 if the last scheduled backup failed and no later backup succeeded; else 0.",
      () => Number(backupFailed()),
    ],
    [
      "labd_backup_last_bytes",
      "Compressed size of the last backup's database.",
      () => backup()?.database.compressedBytes ?? 0,
    ],
  ];
}

function registerProcess(metrics: Metrics, now: () => number): () => void {
  const started = (now() - performance.now()) / 1000;
  const delay = monitorEventLoopDelay({ resolution: 100 });
  delay.enable();
  const gauges: Gauge[] = [
    ["process_start_time_seconds", "Start of the process in seconds since 1970.", () => started],
    [
      "process_resident_memory_bytes",
      "Memory of the process, including workers.",
      () => process.memoryUsage.rss(),
    ],
    [
      "labd_memory_bytes",
      "Memory of the server and its processes for heavy requests, without mapped files such as the corpus.",
      () => readOwnMemory(),
    ],
    [
      "process_open_fds",
      "Open files and connections.",
      () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : Number.NaN),
    ],
    [
      "labd_event_loop_delay_seconds",
      "Longest delay of the main thread since the last read.",
      () => {
        const longest = delay.max / 1e9;
        delay.reset();
        return Math.max(0, longest);
      },
    ],
  ];
  for (const [name, help, read] of gauges) metrics.ask("gauge", name, help, read);
  metrics.ask("counter", "process_cpu_seconds_total", "Processor time of all threads.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  return () => delay.disable();
}

function cached<T>(read: () => T, now: () => number): () => T {
  let known: { value: T; until: number } | undefined;
  return () => {
    if (!known || now() >= known.until || now() < known.until - CACHE_MILLISECONDS)
      known = { value: read(), until: now() + CACHE_MILLISECONDS };
    return known.value;
  };
}

/** Counts requests by route, method and status, and measures their latency. */
export function requestObserver(metrics: Metrics): (answered: Answered) => void {
  const count = metrics.counter("labd_http_requests_total", "HTTP requests.", ["route", "method", "status"]);
  const time = metrics.histogram(
    "labd_http_request_duration_seconds",
    "Time to the response, or to the beginning of a stream.",
    ["route"],
    LATENCIES,
  );
  return ({ route, method, status, seconds }) => {
    count([route, METHODS.has(method) ? method : "other", String(status)]);
    time(seconds, [route]);
  };
}
