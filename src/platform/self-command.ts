import { readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "./log.ts";

const RUNNING = "/proc/self/exe";
/** Characters of a process's output that are logged. */
const MAX_OUTPUT = 10_000;

/** The command line that starts this program again: the executable, or Bun with the source. */
export const selfCommand = (): string[] =>
  /\$bunfs|~BUN/.test(import.meta.url)
    ? [runningFile()]
    : [process.execPath, join(import.meta.dir, "../main.ts")];

/** The file that runs, also after an upgrade has put another file or none in its place. */
function runningFile(): string {
  if (process.platform !== "linux") return process.execPath;
  const path = readlinkSync(RUNNING);
  return path.endsWith(" (deleted)") ? RUNNING : path;
}

/** Logs the output of a process of the server, such as a crash report, as one line. */
export async function logOutput(output: ReadableStream<Uint8Array>, log: Log, event: string): Promise<void> {
  const text = await new Response(output).text().catch(String);
  if (text.trim() !== "") log.problem(event, { cause: text.trim().slice(0, MAX_OUTPUT) });
}

/** Makes Linux end this process first when memory runs out; see proc_pid_oom_score_adj(5). */
const OOM_SCORE = "1000";

/**
 * Starts this program with other words as a process of the server. If the machine or the control group runs out of memory,
 * the kernel ends such processes before the server.
 */
export function spawnSelf<
  const In extends Bun.SpawnOptions.Writable,
  const Out extends Bun.SpawnOptions.Readable,
  const Err extends Bun.SpawnOptions.Readable,
>(
  words: readonly string[],
  options: Bun.SpawnOptions.SpawnOptions<In, Out, Err>,
): Bun.Subprocess<In, Out, Err> {
  const child = Bun.spawn([...selfCommand(), ...words], options);
  try {
    writeFileSync(`/proc/${child.pid}/oom_score_adj`, OOM_SCORE);
  } catch {
    // Not Linux, or the process has ended.
  }
  return child;
}
