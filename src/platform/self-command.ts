import { join } from "node:path";

/** The words that start this program again, in a process of its own: the executable, or Bun with the source. */
export const selfCommand = (): string[] =>
  /\$bunfs|~BUN/.test(import.meta.url)
    ? [process.execPath]
    : [process.execPath, join(import.meta.dir, "../main.ts")];
