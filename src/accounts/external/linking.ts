import { lookUp } from "./ldap.ts";
import { readLdapOptions } from "./ldap-options.ts";
import { readOidcOptions } from "./oidc-options.ts";
import type { Provider, Subject } from "./person.ts";
import type { IdentitySettings } from "./settings.ts";
import { Problem } from "../../problem.ts";

type Settings = IdentitySettings;

/** Who may be linked to accounts. @throws Problem invalid_setting */
export const configuredProviders = (settings: Settings): Provider[] => [
  ...(readLdapOptions(settings) ? (["ldap"] as const) : []),
  ...(readOidcOptions(settings) ? (["oidc"] as const) : []),
];

/**
 * Whom an administrator means: of the directory by the name that is typed at sign-in or the DN, of the provider by the
 * subject (`sub`), which nobody but the person can show to be there.
 * @throws Problem invalid_setting, not_found, invalid_request, identity_unavailable
 */
export async function resolveSubject(settings: Settings, provider: Provider, who: string): Promise<Subject> {
  if (who === "")
    throw new Problem("invalid_request", "who: expected somebody.", {
      fields: { who: ["Expected somebody."] },
    });
  if (provider === "ldap") {
    const options = readLdapOptions(settings);
    if (!options)
      throw new Problem("invalid_setting", "ldap_url: expected an address; there is no directory.");
    const found = await lookUp(options, who);
    if (!found) throw new Problem("not_found", `The directory has nobody, or several, by ${who}.`);
    return found.person;
  }
  const options = readOidcOptions(settings);
  if (!options)
    throw new Problem("invalid_setting", "oidc_issuer: expected an address; there is no provider.");
  const { issuer } = options;
  return { provider: "oidc", issuer, subject: who, label: `${who} at ${issuer}` };
}
