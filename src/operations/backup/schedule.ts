import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { listBackups } from "./manifest.ts";

interface ScheduleOptions {
  /** Directory of the backups. */
  directory: string;
  /** Hours between backups. */
  hours: number;
  clock: Clock;
  log: Log;
  /** Receives failures. */
  failure: BackupFailure;
  /** Starts a backup in another process, so that requests do not wait for it. */
  make: () => Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Milliseconds between two checks. */
  interval?: number;
}

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** The failure of the last scheduled backup, until one succeeds: for `/readyz`, the metrics and `labd doctor`. */
export class BackupFailure {
  #failure: { at: number; cause: string } | undefined;

  /** @param newest when the newest backup was made; 0 for none */
  constructor(private readonly newest: () => number) {}

  report(at: number, cause: string): void {
    this.#failure = { at, cause };
  }

  /** A sentence; undefined if the last backup succeeded. */
  read(): string | undefined {
    const { at, cause } = this.#failure ?? {};
    if (at === undefined || this.newest() > at) return undefined;
    return `The backup of ${new Date(at).toISOString()} failed: ${cause}`;
  }
}

/**
 * Makes a backup whenever the newest in the directory is older than `hours`, so that restarts and manual backups count.
 * After a failure it tries again in an hour.
 */
export function openSchedule(options: ScheduleOptions) {
  const { directory, hours, clock, log, failure } = options;
  let running: Bun.Subprocess<"ignore", "pipe", "pipe"> | undefined;
  let failed = Number.NEGATIVE_INFINITY;
  let closed = false;
  const isDue = (): boolean => {
    const newest = listBackups(directory).findLast(({ manifest }) => manifest.reason !== "upgrade");
    const age = newest ? clock.now() - Date.parse(newest.manifest.created) : Number.POSITIVE_INFINITY;
    // The clock was changed if a backup is from the future.
    return age >= hours * HOUR || age < -MINUTE;
  };
  const check = async (): Promise<void> => {
    if (running || closed || Math.abs(clock.now() - failed) < HOUR) return;
    const started = clock.now();
    try {
      if (!isDue()) return;
      running = options.make();
      const [stdout, stderr, code] = await Promise.all([
        new Response(running.stdout).text(),
        new Response(running.stderr).text(),
        running.exited,
      ]);
      if (closed) return;
      // Lines about the progress may come before.
      if (code !== 0)
        throw new Error(
          stderr
            .split(/^labd: /m)
            .at(-1)!
            .trim() || `labd backup ended with ${code}.`,
        );
      const { damaged = [] } = listBackups(directory).at(-1)?.manifest ?? {};
      if (damaged.length > 0) reportDamage(damaged);
      log.info("backup", { output: stdout.trim().split("\n"), milliseconds: clock.now() - started });
    } catch (error) {
      failed = clock.now();
      const { message } = error as Error;
      failure.report(started, message);
      log.problem("backup failed", { cause: message });
    } finally {
      running = undefined;
    }
  };
  const reportDamage = (damaged: readonly string[]): void => {
    const cause = `it was made, but has damaged content: ${damaged.join(", ")}. Run labd doctor --deep.`;
    failure.report(clock.now(), cause);
    log.problem("backup of damaged content", { cause });
  };
  const timer = setInterval(() => void check(), options.interval ?? MINUTE);
  timer.unref();
  return {
    isDue,
    /** Stops a running backup. */
    async close(): Promise<void> {
      closed = true;
      clearInterval(timer);
      running?.kill("SIGKILL");
      await running?.exited;
    },
  };
}
