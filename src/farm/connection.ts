import { readFileSync } from "node:fs";
import type { Redis, RedisOptions } from "ioredis";
import { Problem } from "../problem.ts";
import type { Log } from "../platform/log.ts";

/** Where the queue between server and workers is: a Redis or Valkey. */
export interface QueueAddress {
  /** `redis://user:password@host:6379/0`, `rediss://` with TLS, or `unix:/path`. */
  url: string;
  /** File with the certificates (PEM) that may have signed that of the queue; empty: those of the system. */
  ca: string;
}

/** Milliseconds without an answer after which a connection counts as cut. */
const SILENCE = 5000;
/** A blocking command may be silent for ten seconds. */
export const BLOCKING_SILENCE = 15_000;

const SOCKET = /^unix:(?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?)?(\/[^?]*)(?:\?db=(\d+))?$/;

/** The address without user and password, as it may be shown. */
export function redactedAddress(url: string): string {
  const socket = SOCKET.exec(url);
  if (socket) return `unix:${socket[3]}${socket[4] === undefined ? "" : `?db=${socket[4]}`}`;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** Options of a connection. @throws Problem invalid_setting */
export function connectionOptions({ url, ca }: QueueAddress): RedisOptions {
  const [, user = "", secret = "", path, database] = SOCKET.exec(url) ?? [];
  if (path !== undefined) return { path, ...credentials(user, secret), db: Number(database ?? 0) };
  if (!URL.canParse(url) || !/^\/?\d{0,4}$/.test(new URL(url).pathname)) {
    throw new Problem(
      "invalid_setting",
      "queue: the address is not allowed (not shown); expected redis://user:password@host:6379/0, rediss://… with TLS, or unix://user:password@/path; one Redis, neither Sentinel nor Cluster.",
    );
  }
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || 6379),
    ...credentials(username, password),
    db: Number(pathname.slice(1) || 0),
    ...(protocol === "rediss:" ? { tls: ca === "" ? {} : { ca: [certificates(ca)] } } : {}),
  };
}

const credentials = (username: string, password: string): RedisOptions => ({
  ...(username === "" ? {} : { username: decodeURIComponent(username) }),
  ...(password === "" ? {} : { password: decodeURIComponent(password) }),
});

function certificates(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Problem("invalid_setting", `ca_file: ${file} cannot be read.`, { cause: error });
  }
}

/** Whether commands wait for the queue to return, or fail at once. */
export type Patience = "patient" | "impatient";

/**
 * Connects; what a connection is refused for is logged once, until it stands. A connection that is silent
 * (the network was cut, say) is closed and made anew.
 */
export async function connectRedis(place: QueueAddress, patience: Patience, log: Log): Promise<Redis> {
  const { Redis } = await import("ioredis");
  const redis = new Redis({
    ...connectionOptions(place),
    replyMapping: "legacy",
    // A copy of a lazy connection gives up where its first attempt fails: BullMQ copies this one for what blocks.
    lazyConnect: false,
    maxRetriesPerRequest: patience === "patient" ? null : 0,
    enableOfflineQueue: patience === "patient",
    autoResendUnfulfilledCommands: patience === "patient",
    socketTimeout: patience === "patient" ? BLOCKING_SILENCE : SILENCE,
    connectTimeout: SILENCE,
    retryStrategy: (times: number) => Math.min(times * 100, 1000),
  });
  let isTold = false;
  const at = redactedAddress(place.url);
  redis.on("error", (error: Error) => {
    if (isTold) return;
    isTold = true;
    log.problem("queue away", { queue: at, cause: causeOf(error) });
  });
  redis.on("ready", () => {
    isTold = false;
    log.info("queue there", { queue: at });
  });
  return redis;
}

/** Errors of several attempts to connect have their words in parts. */
export function causeOf(error: unknown): string {
  const parts = error instanceof AggregateError ? error.errors : [error];
  const words = parts.map((part) => (part instanceof Error ? part.message : String(part)));
  return [...new Set(words)].join("; ").replace(/\.$/, "");
}
