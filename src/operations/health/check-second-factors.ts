import { existsSync } from "node:fs";
import { countSecondFactors } from "../../accounts/second-factor.ts";
import { openReader } from "../../platform/sqlite.ts";
import { type CheckResult, ok, problem } from "../../platform/check-result.ts";

const ABOUT = "second factor";

/** Whether the key fits the second factors of a database. Nothing is said where there are none. */
export function checkSecondFactors(path: string, keyFile: string): CheckResult[] {
  if (!existsSync(path)) return [];
  try {
    const reader = openReader(path);
    try {
      const { all, unreadable } = countSecondFactors(reader, keyFile);
      if (all === 0) return [];
      if (unreadable.length === 0) return [ok(ABOUT, `${all} accounts have one, and the key fits.`)];
      return [
        problem(
          ABOUT,
          `${keyFile} ${existsSync(keyFile) ? "does not fit" : "is missing"}: codes of apps are not taken from ${unreadable.join(", ")}.`,
          "Put back the file that belongs to this database. Else they sign in by a recovery code, or: labd user totp NAME --reset.",
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
