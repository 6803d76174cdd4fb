import { existsSync } from "node:fs";
import { countSecondFactors } from "../../accounts/second-factor.ts";
import { Checks, type CheckResult } from "../../platform/check-result.ts";
import { openReader } from "../../platform/sqlite.ts";

/** Checks that the key decrypts the second factors of a database; no result without second factors. */
export function checkSecondFactors(path: string, keyFile: string): CheckResult[] {
  if (!existsSync(path)) return [];
  const checks = new Checks("second factor");
  try {
    const reader = openReader(path);
    try {
      const { all, unreadable } = countSecondFactors(reader, keyFile);
      if (all === 0) return [];
      if (unreadable.length > 0)
        checks.problem(
          `${keyFile} ${existsSync(keyFile) ? "does not match" : "is missing"}: authenticator codes are rejected for ${unreadable.join(", ")}.`,
          "Restore the file that belongs to this database. Otherwise they sign in with a recovery code, or: labd user totp NAME --reset.",
        );
      return checks.orOk(`${all} accounts have one, and the key matches.`);
    } finally {
      reader.close();
    }
  } catch {
    // An older or damaged database is the finding of another check.
    return [];
  }
}
