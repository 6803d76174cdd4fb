import { Type } from "typebox";
import { PAGE_POSITION, singlePage } from "../platform/page.ts";
import { answerSchema, bodySchema, nullable, OptionalInput, textSchema } from "../platform/schema.ts";
import type { Accounts } from "./accounts.ts";
import { configuredProviders, type Identities, PROVIDERS, resolveSubject } from "./external/index.ts";
import { answers, NO_CONTENT, pathSchema } from "./responses.ts";
import { guardedRoutes } from "./route-guards.ts";
import { timestamp, timestampOrNull } from "../platform/clock.ts";

const Text = Type.String();
const Provider = Type.Enum([...PROVIDERS]);
const Identity = Type.Object({
  username: Text,
  provider: Provider,
  issuer: Text,
  subject: Text,
  label: Text,
  created: Text,
  last_used: nullable(Text),
  suspended: nullable(Text, { description: "Time since which the directory has not admitted the person." }),
});
const IdentityList = answerSchema("Links between accounts and people in a directory or at a provider.", {
  ...PAGE_POSITION,
  results: Type.Array(Identity),
  providers: Type.Array(Provider, { description: "The configured providers." }),
});
const NewLink = bodySchema({
  provider: Provider,
  who: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: "For `ldap`, the sign-in name or the DN; for `oidc`, the subject.",
    examples: ["carol"],
  }),
  current_password: OptionalInput,
});
const Linked = answerSchema("The linked person.", { label: Text });
const Link = textSchema(
  Type.Object({
    username: Type.String({ description: "Username.", examples: ["carol"] }),
    provider: Type.Enum([...PROVIDERS], { description: "Kind of provider.", examples: ["ldap"] }),
  }),
);
const Account = pathSchema({ username: ["Username.", "carol"] });
const UNLINK = { summary: "Unlink an account", description: "Its sessions end; its tokens stay valid." };

export const identityRoutes = (
  accounts: Accounts,
  identities: Identities,
  settings: Parameters<typeof resolveSubject>[0],
) =>
  guardedRoutes("identities", "administration", accounts)
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
        return { ...singlePage(results), providers: configuredProviders(settings) };
      },
      { administrator: true, ...answers("List linked accounts", { 200: IdentityList }, 401, 403) },
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
        params: Account,
        body: NewLink,
        ...answers("Link an account", { 200: Linked }, 400, 401, 403, 404, 409),
      },
    )
    .delete(
      "/api/admin/users/:username/identities/:provider",
      ({ params }) => void identities.unlink(accounts.userId(params.username), params.provider),
      { administrator: true, params: Link, ...answers(UNLINK, NO_CONTENT, 400, 401, 403, 404) },
    );
