import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { listBackups } from "./manifest.ts";

export interface ScheduleOptions {
  /** Directory of the backups. */
  directory: string;
  /** Hours from one backup to the next. */
  hours: number;
  clock: Clock;
  log: Log;
  /** Makes one, in a process of its own: a copy of a large database takes long, and others must not wait for it. */
  make: () => Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Milliseconds from one look to the next, and to the first. */
  interval?: number;
}

export interface Schedule {
  /** Whether a backup is due now. */
  isDue(): boolean;
  /** Calls off one that is being made. */
  close(): Promise<void>;
}

const HOUR = 3_600_000;
const MINUTE = 60_000;

/**
 * Makes a backup whenever the newest is older than `hours`. It looks at the directory and not at a timer of its own, so
 * that restarts, changes of the clock and backups by hand are all counted. After a failure it tries again in an hour.
 */
export function openSchedule(options: ScheduleOptions): Schedule {
  const { directory, hours, clock, log } = options;
  let running: Bun.Subprocess<"ignore", "pipe", "pipe"> | undefined;
  let failed = Number.NEGATIVE_INFINITY;
  let closed = false;
  const isDue = (): boolean => {
    const newest = listBackups(directory).findLast(({ manifest }) => manifest.reason !== "upgrade");
    const age = newest ? clock.now() - Date.parse(newest.manifest.created) : Number.POSITIVE_INFINITY;
    // A backup from the future says that the clock was changed.
    return age >= hours * HOUR || age < -MINUTE;
  };
  const look = async (): Promise<void> => {
    if (running || closed || Math.abs(clock.now() - failed) < HOUR || !isDue()) return;
    const started = clock.now();
    try {
      running = options.make();
      const [said, wrong, code] = await Promise.all([
        new Response(running.stdout).text(),
        new Response(running.stderr).text(),
        running.exited,
      ]);
      if (closed) return;
      if (code !== 0) throw new Error(wrong.trim() || `It ended with ${code}.`);
      log.info("backup", { said: said.trim().split("\n"), milliseconds: clock.now() - started });
    } catch (error) {
      failed = clock.now();
      log.problem("backup failed", { cause: (error as Error).message });
    } finally {
      running = undefined;
    }
  };
  const timer = setInterval(() => void look(), options.interval ?? MINUTE);
  timer.unref();
  return {
    isDue,
    async close() {
      closed = true;
      clearInterval(timer);
      running?.kill("SIGKILL");
      await running?.exited;
    },
  };
}
