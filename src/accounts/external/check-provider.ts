import { OIDC_BACK_CHANNEL } from "./oidc.ts";
import type { OidcOptions } from "./oidc-options.ts";
import { OidcProvider } from "./oidc-provider.ts";
import { type CheckResult, ok, problem, warning } from "../../platform/check-result.ts";

/** Asks the provider what it says of itself, for `labd doctor`. `publicUrl` is the setting. */
export async function checkProvider(options: OidcOptions, publicUrl: string): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  try {
    const began = performance.now();
    const server = await new OidcProvider(options, Date.now).discover();
    const took = Math.ceil(performance.now() - began);
    findings.push(ok("oidc", `${server.issuer} answers in ${took} ms, and says where to sign in.`));
    const methods = server.code_challenge_methods_supported;
    if (methods !== undefined && !methods.includes("S256"))
      findings.push(
        warning(
          "oidc",
          "The provider does not say that it knows PKCE (S256).",
          "Ask for it, or bring it up to date.",
        ),
      );
    if (server.backchannel_logout_supported === true)
      findings.push(
        ok(
          "oidc",
          `It can tell of who signs out there: let it do so at ${publicUrl === "" ? "…" : publicUrl.replace(/\/$/, "")}${OIDC_BACK_CHANNEL}.`,
        ),
      );
  } catch (error) {
    findings.push(
      problem("oidc", (error as Error).message, "See to oidc_issuer, ca_file, and the way to the provider."),
    );
  }
  if (publicUrl === "")
    findings.push(
      warning(
        "oidc",
        "Without public_url people are sent back to the name that their browser asked for, and the provider takes only those that it was told.",
        "Set public_url.",
      ),
    );
  if (options.newAccounts && options.allowed.length === 0)
    findings.push(
      warning(
        "oidc",
        "Everybody whom the provider knows gets an account.",
        "Set oidc_groups_allowed, unless that is meant.",
      ),
    );
  return findings;
}
