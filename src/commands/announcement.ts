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
