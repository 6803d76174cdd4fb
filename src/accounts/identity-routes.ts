import { Type } from "typebox";
import { timestamp, timestampOrNull } from "../platform/clock.ts";
import { operation } from "../platform/operation.ts";
import { PAGE_POSITION, singlePage } from "../platform/page.ts";
import { answerSchema, bodySchema, nullable, OptionalInput } from "../platform/schema.ts";
import type { AccountParts } from "./account-routes.ts";
import { configuredProviders, type Identities, PROVIDERS, resolveSubject } from "./external/index.ts";

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
const Username = ["Username.", "carol"] as const;

export interface IdentityParts extends AccountParts {
  identities: Identities;
  settings: Parameters<typeof resolveSubject>[0];
}

/** Links between accounts and people in a directory or at a provider. */
export const identityOperations = [
  operation("GET /api/admin/identities", {
    access: "administrator",
    summary: "List linked accounts",
    returns: IdentityList,
    run(_, { accounts, identities, settings }: IdentityParts) {
      const found = PROVIDERS.flatMap((provider) => identities.listByProvider(provider));
      const results = found.map((identity) => ({
        username: accounts.readActor(identity.user).username!,
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
  }),
  operation("POST /api/admin/users/:username/identities", {
    access: "administrator",
    confirmed: true,
    summary: "Link an account",
    params: { username: Username },
    body: NewLink,
    returns: Linked,
    errors: [404, 409],
    async run({ params, body: { provider, who } }, { accounts, identities, settings }: IdentityParts) {
      const user = accounts.userId(params.username);
      const subject = await resolveSubject(settings, provider, who);
      identities.link(user, subject);
      return { label: subject.label };
    },
  }),
  operation("DELETE /api/admin/users/:username/identities/:provider", {
    access: "administrator",
    summary: "Unlink an account",
    description: "The account's sessions end; its tokens stay valid.",
    params: {
      username: Username,
      provider: Type.Enum([...PROVIDERS], { description: "Kind of provider.", examples: ["ldap"] }),
    },
    errors: [404],
    run({ params }, { accounts, identities }: IdentityParts) {
      identities.unlink(accounts.userId(params.username), params.provider);
    },
  }),
];
