import { readFileSync } from "node:fs";
import type { Redis, RedisOptions } from "ioredis";
import type { Log } from "../platform/log.ts";
import { Problem } from "../problem.ts";

/** The address of the Redis or Valkey that holds the queue. */
export interface QueueAddress {
  /** `redis://user:password@host:6379/0`, `rediss://` with TLS, or `unix:/path`. */
  url: string;
  /** File with the CA certificates (PEM) for the queue; empty: the system's certificates. */
  ca: string;
}

/** Milliseconds without a response after which a connection is closed and opened again. */
const MAX_SILENCE = 5000;
/** The limit for connections with blocking commands, which last up to ten seconds. */
export const BLOCKING_SILENCE = 15_000;

const SOCKET = /^unix:(?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?)?(\/[^?]*)(?:\?db=(\d+))?$/;

/** The address without user and password, for display. */
export function redactedAddress(url: string): string {
  const socket = SOCKET.exec(url);
  if (socket) return `unix:${socket[3]}${socket[4] === undefined ? "" : `?db=${socket[4]}`}`;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** @throws Problem invalid_setting */
export function connectionOptions({ url, ca }: QueueAddress): RedisOptions {
  const [, user = "", secret = "", path, database] = SOCKET.exec(url) ?? [];
  const isEncoded = !/%(?![0-9a-f]{2})/i.test(url);
  if (path !== undefined && isEncoded)
    return { path, ...credentials(user, secret), db: Number(database ?? 0) };
  if (!isEncoded || !URL.canParse(url) || !/^\/?\d{0,4}$/.test(new URL(url).pathname))
    throw new Problem(
      "invalid_setting",
      "queue: the address is invalid (not shown because of its password). Expected redis://user:password@host:6379/0, rediss://… with TLS, or unix://user:password@/path; a single Redis, not Sentinel or Cluster.",
    );
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

/** Patient commands wait for an unreachable queue; impatient ones fail at once. */
export type Patience = "patient" | "impatient";

/** Connects, and reconnects after a loss; the cause of a failure is logged once until the next success. */
export async function connectRedis(address: QueueAddress, patience: Patience, log: Log): Promise<Redis> {
  const { Redis } = await import("ioredis");
  const retries = patience === "patient";
  const redis = new Redis({
    ...connectionOptions(address),
    replyMapping: "legacy",
    // BullMQ copies this connection for blocking commands; a lazy copy gives up after one failed attempt.
    lazyConnect: false,
    maxRetriesPerRequest: retries ? null : 0,
    enableOfflineQueue: retries,
    autoResendUnfulfilledCommands: retries,
    socketTimeout: retries ? BLOCKING_SILENCE : MAX_SILENCE,
    connectTimeout: MAX_SILENCE,
    retryStrategy: (times: number) => Math.min(times * 100, 1000),
  });
  let isLogged = false;
  const queue = redactedAddress(address.url);
  redis.on("error", (error: Error) => {
    if (!isLogged) log.problem("queue away", { queue, cause: describeCause(error) });
    isLogged = true;
  });
  redis.on("ready", () => {
    isLogged = false;
    log.info("queue there", { queue });
  });
  return redis;
}

/** The message of an error, or the different messages of several connection attempts. */
export function describeCause(error: unknown): string {
  const parts = error instanceof AggregateError ? error.errors : [error];
  const messages = parts.map((part) => (part instanceof Error ? part.message : String(part)));
  return [...new Set(messages)].join("; ").replace(/\.$/, "");
}
