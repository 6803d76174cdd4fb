import { existsSync } from "node:fs";
import { Checks, type CheckResult } from "../../platform/check-result.ts";
import { openReader } from "../../platform/sqlite.ts";

const DAY = 86_400_000;

/** Checks for throttled sign-ins in the last day. @param path of the database */
export function checkSignIns(path: string, now: number): CheckResult[] {
  const checks = new Checks("sign-ins");
  for (const { username, count, addresses } of throttledSince(path, now - DAY))
    checks.warning(
      `Sign-ins as ${username ?? "unknown users"} were throttled in the last 24 hours (recorded ${count} times, from ${addresses || "unknown addresses"}).`,
      "Someone may be guessing passwords: labd audit export --action sign_in shows the attempts. Block the addresses, and require a second factor (require_totp).",
    );
  return checks.orOk("No sign-ins were throttled in the last 24 hours.");
}

interface Throttled {
  /** Account; null for users that do not exist. */
  username: string | null;
  count: number;
  addresses: string;
}

function throttledSince(path: string, since: number): Throttled[] {
  if (!existsSync(path)) return [];
  try {
    const reader = openReader(path);
    try {
      return reader
        .query(
          `SELECT detail ->> 'username' AS username, count(*) AS count, group_concat(DISTINCT address) AS addresses
           FROM audit WHERE action = 'sign_in' AND outcome = 'throttled' AND time >= ?
           GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
        )
        .all(since) as Throttled[];
    } finally {
      reader.close();
    }
  } catch {
    // checkDatabase reports databases that cannot be read.
    return [];
  }
}
