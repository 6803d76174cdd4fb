import { readlinkSync } from "node:fs";
import { join } from "node:path";

const RUNNING = "/proc/self/exe";

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
