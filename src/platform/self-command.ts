import { join } from "node:path";

/** The command line that starts this program again: the executable, or Bun with the source. */
export const selfCommand = (): string[] =>
  /\$bunfs|~BUN/.test(import.meta.url)
    ? [process.execPath]
    : [process.execPath, join(import.meta.dir, "../main.ts")];
