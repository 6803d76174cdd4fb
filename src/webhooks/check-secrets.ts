import { existsSync } from "node:fs";
import { openReader } from "../platform/sqlite.ts";
import { type CheckResult, ok, problem } from "../platform/check-result.ts";
import { countSealed } from "./sealed-secret.ts";

const ABOUT = "webhooks";

/** Whether the key fits the secrets of webhooks in a database. Nothing is said where there are none. */
export function checkSecrets(path: string, keyFile: string): CheckResult[] {
  if (!existsSync(path)) return [];
  try {
    const reader = openReader(path);
    try {
      const { all, unreadable } = countSealed(reader, keyFile);
      if (all === 0) return [];
      if (unreadable.length === 0) return [ok(ABOUT, `${all} have a secret, and the key fits.`)];
      return [
        problem(
          ABOUT,
          `${keyFile} ${existsSync(keyFile) ? "does not fit" : "is missing"}: nothing can be signed for ${unreadable.length} of ${all}, so they are told nothing: ${unreadable.join(", ")}.`,
          "Put back the file that belongs to this database. Else give each another secret (labd webhook secret ID) and hand that to its receiver; what happened meanwhile is then told.",
        ),
      ];
    } finally {
      reader.close();
    }
  } catch {
    // Of a version before, or damaged: that is told of the database.
    return [];
  }
}
