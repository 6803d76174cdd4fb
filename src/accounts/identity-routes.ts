import { type Identities, PROVIDERS, configuredProviders, resolveSubject } from "./external/index.ts";
import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import {
  withTimestamps,
  describeOperation,
  noContent,
  type Endpoint,
  json,
  usernameParameter,
  parameter,
  readTexts,
  requireAdministrator,
  texts,
} from "./endpoint.ts";

/** Which accounts a directory or a provider vouches for, and linking them. */
export function identityEndpoints(
  accounts: Accounts,
  identities: Identities,
  settings: Parameters<typeof resolveSubject>[0],
): Endpoint[] {
  const providerOf = (name: string): (typeof PROVIDERS)[number] => {
    const provider = PROVIDERS.find((known) => known === name);
    if (provider) return provider;
    const said = `Expected ${PROVIDERS.join(" or ")}.`;
    throw new Problem("invalid_request", `provider: ${said}`, { fields: { provider: [said] } });
  };
  return [
    {
      path: "/api/admin/identities",
      methods: {
        GET: {
          detail: describeOperation("Accounts that others vouch for", {
            answers: {
              200: "By `ldap` or `oidc`: as whom, since when, when last; `suspended` where the directory no longer has them. `providers` are those that the settings name.",
            },
          }),
          answer({ request }) {
            requireAdministrator(accounts, request);
            const results = PROVIDERS.flatMap((provider) => identities.byProvider(provider)).map(
              ({ user, ...identity }) =>
                withTimestamps(
                  { username: accounts.actorOf(user).username, ...identity },
                  "created",
                  "last_used",
                  "suspended",
                ),
            );
            return json({ total: results.length, results, providers: configuredProviders(settings) });
          },
        },
      },
    },
    {
      path: "/api/admin/users/:username/identities",
      methods: {
        POST: {
          detail: describeOperation("Link an account", {
            description:
              "To `who`: somebody of the directory (`ldap`) by the name that is typed at sign-in, or the DN; somebody of the provider (`oidc`) by the subject.",
            parameters: [usernameParameter()],
            body: texts(["provider", "who"]),
            answers: { 200: "`label` is whom it is linked to." },
            refusals: [400, 401, 403, 404, 409],
          }),
          async answer({ request, params }) {
            const actor = requireAdministrator(accounts, request);
            await accounts.confirmations.require(request, actor);
            const names = ["provider", "who"] as const;
            const { provider, who } = await readTexts(request, names, names);
            const user = accounts.userId(params.username);
            const subject = await resolveSubject(settings, providerOf(provider), who);
            identities.link(user, subject);
            return json({ label: subject.label });
          },
        },
      },
    },
    {
      path: "/api/admin/users/:username/identities/:provider",
      methods: {
        DELETE: {
          detail: describeOperation("Unlink an account", {
            description: "Its sessions end; tokens stay.",
            parameters: [usernameParameter(), parameter("path", "provider", "`ldap` or `oidc`.")],
            answers: { 204: "Done." },
            refusals: [400, 401, 403, 404],
          }),
          answer({ request, params }) {
            requireAdministrator(accounts, request);
            identities.unlink(accounts.userId(params.username), providerOf(params.provider));
            return noContent();
          },
        },
      },
    },
  ];
}
