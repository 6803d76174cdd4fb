import { type CheckResult, ok, problem, warning } from "../../platform/check-result.ts";
import { bindReader, fillFilter, type LdapOptions, requireAnswer } from "./ldap.ts";
import { withDirectory } from "./ldap-connection.ts";
import { OIDC_BACK_CHANNEL } from "./oidc.ts";
import { type OidcOptions, OidcProvider } from "./oidc-provider.ts";

/** Checks each LDAP server with the searches of a sign-in, for `labd doctor`. */
export async function checkDirectory(options: LdapOptions): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const url of options.urls) {
    const start = performance.now();
    try {
      await withDirectory({ ...options, urls: [url] }, async (connection) => {
        await bindReader(connection, options);
        const nobody = { username: "labd doctor", dn: "cn=labd doctor" };
        for (const [base, filter] of [
          [options.userBase, options.userFilter],
          [options.groupBase, options.groupFilter],
        ].filter(([base]) => base !== "")) {
          const search = connection.search(base, fillFilter(filter, nobody), [], 1);
          await requireAnswer(connection, `search below ${base} with ${filter}`, search);
        }
      });
      const reader = options.bindDn === "" ? "anonymously" : `as ${options.bindDn}`;
      results.push(ok("ldap", `${url} responds in ${since(start)} ms and can be searched ${reader}.`));
    } catch (error) {
      const { cause, message } = error as Error & { cause?: Error };
      const remedy = "See labd check --ldap NAME and docs/identity.md.";
      results.push(problem("ldap", cause?.message ?? `${url}: ${message}`, remedy));
    }
  }
  if (options.allowed.length === 0) {
    const consequence = options.newAccounts ? " and gets an account" : "";
    const found = `Every user that ldap_user_filter finds may sign in${consequence}.`;
    results.push(warning("ldap", found, "Set groups_allowed, unless this is intended."));
  }
  return results;
}

/** Checks the provider's configuration, for `labd doctor`. @param publicUrl the setting */
export async function checkProvider(options: OidcOptions, publicUrl: string): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  try {
    const start = performance.now();
    const server = await new OidcProvider(options, Date.now).discover();
    results.push(ok("oidc", `${server.issuer} responds in ${since(start)} ms with its configuration.`));
    const methods = server.code_challenge_methods_supported;
    if (methods !== undefined && !methods.includes("S256"))
      results.push(
        warning("oidc", "The provider does not announce PKCE (S256).", "Enable it, or update the provider."),
      );
    if (server.backchannel_logout_supported === true) {
      const base = publicUrl === "" ? "…" : publicUrl.replace(/\/$/, "");
      results.push(
        ok("oidc", `The provider supports back-channel logout: register ${base}${OIDC_BACK_CHANNEL} there.`),
      );
    }
  } catch (error) {
    const remedy = "Check oidc_issuer, ca_file and the network.";
    results.push(problem("oidc", (error as Error).message, remedy));
  }
  if (publicUrl === "") {
    const found =
      "Without public_url the redirect URI depends on the host name in the browser; the provider accepts only registered URIs.";
    results.push(warning("oidc", found, "Set public_url."));
  }
  if (options.newAccounts && options.allowed.length === 0) {
    const found = "Every user of the provider gets an account.";
    results.push(warning("oidc", found, "Set groups_allowed, unless this is intended."));
  }
  return results;
}

const since = (start: number): number => Math.ceil(performance.now() - start);
