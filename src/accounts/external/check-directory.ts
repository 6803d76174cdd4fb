import { withDirectory } from "./ldap-connection.ts";
import { asked, bindReader, type LdapOptions } from "./ldap.ts";
import { fillFilter } from "./ldap-filter.ts";
import { type CheckResult, ok, problem, warning } from "../../platform/check-result.ts";

const REMEDY = "labd check --ldap NAME says more; see docs/identity.md.";

/** Asks each server of the directory what it is asked at a sign-in, for `labd doctor`. */
export async function checkDirectory(options: LdapOptions): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  for (const url of options.urls) {
    const began = performance.now();
    try {
      await withDirectory({ ...options, urls: [url] }, async (connection) => {
        if (options.bindDn !== "") await bindReader(connection, options);
        // Shows that the bases are there and the filters can be read.
        const nobody = { username: "labd doctor", dn: "cn=labd doctor" };
        for (const [base, filter] of [
          [options.userBase, options.userFilter],
          [options.groupBase, options.groupFilter],
        ].filter(([base]) => base !== ""))
          await asked(
            connection,
            `search below ${base} by ${filter}`,
            connection.search(base, fillFilter(filter, nobody), [], 1),
          );
      });
      const who = options.bindDn === "" ? "anybody" : options.bindDn;
      findings.push(
        ok(
          "ldap",
          `${url} answers in ${Math.ceil(performance.now() - began)} ms, and lets ${who} look people up.`,
        ),
      );
    } catch (error) {
      const { cause, message } = error as Error & { cause?: Error };
      findings.push(problem("ldap", cause?.message ?? `${url}: ${message}`, REMEDY));
    }
  }
  if (options.allowed.length === 0)
    findings.push(
      warning(
        "ldap",
        `Everybody whom ldap_user_filter finds may sign in${options.newAccounts ? ", and gets an account" : ""}.`,
        "Set ldap_groups_allowed, unless that is meant.",
      ),
    );
  return findings;
}
