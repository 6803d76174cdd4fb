import type { Code, Problem } from "../problem.ts";

/** One JSON object per line; never bodies, headers or secrets. */
export interface Log {
  /** @param fields or a function that makes them, called only if the line is written */
  info(event: string, fields?: Record<string, unknown> | (() => Record<string, unknown>)): void;
  problem(event: string, fields?: Record<string, unknown>): void;
}

export type LogLevel = "requests" | "anonymous" | "problems" | "off";

/** Fields that tell who made a request; the level "anonymous" leaves them out. */
const PERSONAL = new Set(["client", "user", "address"]);

const anonymous = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !PERSONAL.has(name)));

/** One line of the log. */
export const logLine = (
  severity: "info" | "error",
  event: string,
  fields: Record<string, unknown>,
  now = Date.now(),
): string => `${JSON.stringify({ time: new Date(now).toISOString(), severity, event, ...fields })}\n`;

/** A log that passes its lines to `write`, stamped by `now`. */
export function openLog(level: LogLevel, write: (line: string) => void, now: () => number): Log {
  const print = (severity: "info" | "error", event: string, fields: Record<string, unknown> = {}): void => {
    write(logLine(severity, event, level === "anonymous" ? anonymous(fields) : fields, now()));
  };
  return {
    info: (event, fields) => {
      if (level === "requests" || level === "anonymous")
        print("info", event, typeof fields === "function" ? fields() : fields);
    },
    problem: (event, fields) => {
      if (level !== "off") print("error", event, fields);
    },
  };
}

const ENVIRONMENTAL: ReadonlySet<Code> = new Set([
  "identity_unavailable",
  "disk_full",
  "disk_failed",
  "database_damaged",
]);

/** The cause that only the log shows: the stack of an internal error, and why a disk or another service failed. */
export function findCause(problem: Problem): string | undefined {
  const cause = problem.cause;
  const isEnvironmental = ENVIRONMENTAL.has(problem.code);
  // Errors of other threads or processes arrive as text.
  if (isEnvironmental && cause !== undefined) return cause instanceof Error ? cause.message : String(cause);
  if (problem.code !== "internal") return undefined;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
