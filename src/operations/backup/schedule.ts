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
  /** Starts a backup in another process, so that requests do not wait for it. */
  make: () => Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Milliseconds between two checks. */
  interval?: number;
}

const HOUR = 3_600_000;
const MINUTE = 60_000;

/**
 * Makes a backup whenever the newest in the directory is older than `hours`, so that restarts and manual backups count.
 * After a failure it tries again in an hour.
 */
export function openSchedule(options: ScheduleOptions) {
  const { directory, hours, clock, log } = options;
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
    if (running || closed || Math.abs(clock.now() - failed) < HOUR || !isDue()) return;
    const started = clock.now();
    try {
      running = options.make();
      const [stdout, stderr, code] = await Promise.all([
        new Response(running.stdout).text(),
        new Response(running.stderr).text(),
        running.exited,
      ]);
      if (closed) return;
      if (code !== 0) throw new Error(stderr.trim() || `It ended with ${code}.`);
      log.info("backup", { output: stdout.trim().split("\n"), milliseconds: clock.now() - started });
    } catch (error) {
      failed = clock.now();
      log.problem("backup failed", { cause: (error as Error).message });
    } finally {
      running = undefined;
    }
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
