import { writeSync } from "node:fs";
import { format } from "node:util";
import { logLine } from "../platform/log.ts";
import type { Streams } from "./command.ts";

/** Tells a person at a terminal something in a sentence, and the log of a service in a line. */
export function announce(
  { stderr }: Pick<Streams, "stderr">,
  event: string,
  message: string,
  fields: Record<string, unknown> = {},
): void {
  stderr.write(stderr.isTTY ? `${message}\n` : logLine("info", event, { message, ...fields }));
}

/** Makes a service print what Bun or a package would print, such as an uncaught error, as lines of its log too. */
export function logEverything({ stderr }: Pick<Streams, "stderr">): void {
  if (stderr.isTTY) return;
  // Nobody may read the log any more, which must not end the service.
  process.stderr.on("error", () => {});
  const write = (event: string, cause: string): void => {
    try {
      // Writes immediately: the process may be ending.
      writeSync(process.stderr.fd, logLine("error", event, { cause }));
    } catch {
      // Writes one line, like the function above.
    }
  };
  const end = (error: unknown): never => {
    write("uncaught error", error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
  process.emitWarning = (warning: string | Error) => write("warning", String(warning));
  for (const level of ["debug", "info", "log", "warn", "error", "trace"] as const)
    console[level] = (...values: unknown[]) => write("console", format(...values));
}
