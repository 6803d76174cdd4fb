import { readlinkSync } from "node:fs";
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

/** Puts what a process of the server prints, such as the report of a crash, into the log as one line. */
export async function logOutput(output: ReadableStream<Uint8Array>, log: Log, event: string): Promise<void> {
  const text = await new Response(output).text().catch(String);
  if (text.trim() !== "") log.problem(event, { cause: text.trim().slice(0, MAX_OUTPUT) });
}
