import { Elysia } from "elysia";
import { Type } from "typebox";
import { requestPlugin } from "../platform/http.ts";
import { nullable, schema, textSchema } from "../platform/schema.ts";
import type { Accounts } from "./accounts.ts";
import { configuredProviders, type Identities, PROVIDERS, resolveSubject } from "./external/index.ts";
import { errors, list, NO_CONTENT, timestamp, timestampOrNull } from "./responses.ts";
import { guards } from "./route-guards.ts";

const Provider = Type.Enum([...PROVIDERS]);
const IdentityList = schema(
  Type.Object(
    {
      total: Type.Integer(),
      results: Type.Array(
        Type.Object({
          username: Type.String(),
          provider: Provider,
          issuer: Type.String(),
          subject: Type.String(),
          label: Type.String(),
          created: Type.String(),
          last_used: nullable(Type.String()),
          suspended: nullable(Type.String(), { description: "Since when the directory has no such person." }),
        }),
      ),
      providers: Type.Array(Provider, { description: "The configured providers." }),
    },
    { description: "Links between accounts and people in a directory or at a provider." },
  ),
);
const NewLink = schema(
  Type.Object(
    {
      provider: Provider,
      who: Type.String({
        minLength: 1,
        maxLength: 1024,
        description: "For `ldap` the name typed at sign-in, or the DN; for `oidc` the subject.",
      }),
    },
    { additionalProperties: false },
  ),
);
const Linked = schema(Type.Object({ label: Type.String() }, { description: "The linked person." }));
const Link = textSchema(Type.Object({ username: Type.String(), provider: Provider }));

/** Accounts that a directory or a provider authenticates, for administrators. */
export const identityRoutes = (
  accounts: Accounts,
  identities: Identities,
  settings: Parameters<typeof resolveSubject>[0],
) =>
  new Elysia({ name: "identities", detail: { tags: ["administration"], security: [{ token: [] }] } })
    .use(requestPlugin)
    .use(guards(accounts))
    .get(
      "/api/admin/identities",
      () => {
        const found = PROVIDERS.flatMap((provider) => identities.byProvider(provider));
        const results = found.map((identity) => ({
          username: accounts.actorOf(identity.user).username!,
          provider: identity.provider,
          issuer: identity.issuer,
          subject: identity.subject,
          label: identity.label,
          created: timestamp(identity.created),
          last_used: timestampOrNull(identity.last_used),
          suspended: timestampOrNull(identity.suspended),
        }));
        return { ...list(results), providers: configuredProviders(settings) };
      },
      {
        administrator: true,
        response: { 200: IdentityList, ...errors(401, 403) },
        detail: { summary: "List linked accounts" },
      },
    )
    .post(
      "/api/admin/users/:username/identities",
      async ({ params, body: { provider, who } }) => {
        const user = accounts.userId(params.username);
        const subject = await resolveSubject(settings, provider, who);
        identities.link(user, subject);
        return { label: subject.label };
      },
      {
        administrator: true,
        confirmed: true,
        parse: "jsonBody",
        body: NewLink,
        response: { 200: Linked, ...errors(400, 401, 403, 404, 409) },
        detail: { summary: "Link an account" },
      },
    )
    .delete(
      "/api/admin/users/:username/identities/:provider",
      ({ params }) => void identities.unlink(accounts.userId(params.username), params.provider),
      {
        administrator: true,
        params: Link,
        response: { 204: NO_CONTENT, ...errors(400, 401, 403, 404) },
        detail: { summary: "Unlink an account", description: "Its sessions end; its tokens stay valid." },
      },
    );
