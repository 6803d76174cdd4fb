import type { Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";

/** The client of reruns. */
export const SERVICE = "labd";

/** True if a client is a network instead of an account. */
export const isAnonymous = (client: string): boolean => client !== SERVICE && !client.startsWith("user ");

const MB = 1_000_000;

/** Bytes that are stored for one anonymous client, and for all. */
const LIMITS = {
  jobs: { own: 1000 * MB, all: 10_000 * MB, of: "jobs and results" },
  models: { own: 100 * MB, all: 1000 * MB, of: "structure models" },
} as const;

/** Data stored for callers without an account. Triggers keep the numbers of bytes. */
export class AnonymousStorage {
  constructor(private readonly database: Database) {}

  /** Why no more bytes can be stored for the client; undefined if they can. */
  problem(kind: keyof typeof LIMITS, client: string, bytes: number): Problem | undefined {
    if (!isAnonymous(client)) return undefined;
    const { own, all } = this.database
      .query(
        `SELECT coalesce(sum(${kind}) FILTER (WHERE client = ?), 0) AS own, coalesce(sum(${kind}), 0) AS "all" FROM anonymous_storage`,
      )
      .get(client) as { own: number; all: number };
    const limits = LIMITS[kind];
    if (own + bytes > limits.own) return exceeded(`Your network stores ${mb(own)}`, limits.own, limits.of);
    if (all + bytes > limits.all)
      return exceeded(`Anonymous callers together store ${mb(all)}`, limits.all, limits.of);
    return undefined;
  }
}

const mb = (bytes: number): string => `${Math.round(bytes / MB).toLocaleString("en")} MB`;

const exceeded = (who: string, limit: number, of: string): Problem =>
  new Problem(
    "quota_exceeded",
    `${who} of ${of}; without an account at most ${mb(limit)} are stored. Sign in, or wait until jobs expire.`,
  );
