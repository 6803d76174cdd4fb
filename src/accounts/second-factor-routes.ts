import { Type } from "typebox";
import type { Actor, SignedIn } from "../platform/actor.ts";
import { timestamp, timestampOrNull } from "../platform/clock.ts";
import { operation } from "../platform/operation.ts";
import { pageSchema, singlePage } from "../platform/page.ts";
import { answerSchema, bodySchema, nullable, OptionalInput } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { AccountParts } from "./account-routes.ts";
import type { Accounts } from "./accounts.ts";

const Input = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "A code of the authenticator app, or a recovery code.",
  examples: ["123456"],
});
const Code = bodySchema({ code: Input });
const Begin = bodySchema({ current_password: OptionalInput });
const State = answerSchema("Your second factor.", {
  on: Type.Boolean(),
  since: nullable(Type.String()),
  recovery_codes: Type.Integer({ description: "Number of remaining recovery codes." }),
  required: Type.Boolean({ description: "Whether the account must have a second factor." }),
});
const Secret = answerSchema("The secret, which takes effect once it is confirmed.", {
  secret: Type.String(),
  uri: Type.String({ description: "URI for authenticator apps." }),
  qr: Type.Array(Type.String(), { description: "Rows of the URI's QR code; 1 is dark." }),
});
const RecoveryCodes = answerSchema("Single-use recovery codes, which are not shown again.", {
  recovery_codes: Type.Array(Type.String()),
});
const SecondFactorList = pageSchema(
  "Accounts with a second factor, and how many recovery codes are left.",
  Type.Object({
    username: Type.String(),
    since: Type.String(),
    recovery_codes: Type.Integer(),
  }),
);

const codeAccess = { access: "enrolling", body: Code, errors: [409] } as const;

/** The caller's second factor. */
const accountOperations = [
  operation("GET /api/account/second-factor", {
    access: "enrolling",
    summary: "Get your second factor",
    returns: State,
    run({ caller: { user } }, { accounts: { secondFactors } }: AccountParts) {
      const found = secondFactors.of(user);
      return {
        on: found !== undefined,
        since: timestampOrNull(found?.since ?? null),
        recovery_codes: found?.recovery_codes ?? 0,
        required: secondFactors.isRequired(user),
      };
    },
  }),
  operation("POST /api/account/second-factor", {
    access: "enrolling",
    summary: "Start setting up a second factor",
    description:
      "Requires a recently confirmed browser session, or `current_password`. Each call creates a new secret.",
    body: Begin,
    returns: Secret,
    errors: [409],
    async run({ caller, request, body, context }, { accounts }: AccountParts) {
      requireBrowser(caller);
      await accounts.confirmations.require(request, caller, body.current_password ?? undefined);
      const issuer = `labd ${new URL(context.baseUrl).hostname}`;
      const { secret, uri } = accounts.secondFactors.begin(caller.user, caller.username, issuer);
      return { secret, uri, qr: await qrRows(uri) };
    },
  }),
  operation("POST /api/account/second-factor/confirm", {
    ...codeAccess,
    summary: "Enable the second factor",
    description: "Requires a code, which proves that the app has the secret. Your other sessions end.",
    returns: RecoveryCodes,
    async run({ caller, request, body }, { accounts }: AccountParts) {
      const { confirmations, secondFactors, sessions, signIns } = accounts;
      requireBrowser(caller);
      await confirmations.require(request, caller);
      const confirm = () => secondFactors.confirm(caller.user, body.code);
      const recovery_codes = await signIns.checkCode<string[]>(caller.username, confirm);
      sessions.endOthers(caller.user, request);
      return { recovery_codes };
    },
  }),
  operation("POST /api/account/second-factor/recovery-codes", {
    ...codeAccess,
    summary: "Replace the recovery codes",
    returns: RecoveryCodes,
    async run({ caller, body }, { accounts }: AccountParts) {
      await useCode(accounts, caller, body.code);
      return { recovery_codes: accounts.secondFactors.renewRecoveryCodes(caller.user) };
    },
  }),
  operation("POST /api/account/second-factor/remove", {
    ...codeAccess,
    summary: "Remove the second factor",
    async run({ caller, body }, { accounts }: AccountParts) {
      await useCode(accounts, caller, body.code);
      accounts.secondFactors.remove(caller.user, "second_factor.disable");
    },
  }),
];

/** Uses up a code of the second factor. @throws Problem conflict, invalid_request, throttled */
async function useCode({ secondFactors, signIns }: Accounts, actor: SignedIn, code: string): Promise<void> {
  requireBrowser(actor);
  if (!secondFactors.isOn(actor.user)) throw new Problem("conflict", "The account has no second factor.");
  await signIns.checkCode(actor.username, () => secondFactors.use(actor.user, code));
}

const administrationOperations = [
  operation("GET /api/admin/second-factors", {
    access: "administrator",
    summary: "List second factors",
    returns: SecondFactorList,
    run: (_, { accounts }: AccountParts) =>
      singlePage(
        accounts.secondFactors.list().map(({ username, since, recovery_codes }) => {
          return { username, since: timestamp(since), recovery_codes };
        }),
      ),
  }),
  operation("DELETE /api/admin/users/:username/second-factor", {
    access: "administrator",
    confirmed: true,
    summary: "Reset a second factor",
    description:
      "For users who have lost their phone. Their sessions end, and the password alone is sufficient to sign in.",
    params: { username: ["Username.", "carol"] },
    errors: [404, 409],
    run({ caller, params: { username } }, { accounts }: AccountParts) {
      const user = accounts.userId(username);
      if (user === caller.user)
        throw new Problem("conflict", "Remove your own second factor in your profile, with a code.");
      if (!accounts.resetSecondFactor(user))
        throw new Problem("not_found", `${username} has no second factor.`);
    },
  }),
];

/** The caller's second factor, and second factors that administrators see and reset. */
export const secondFactorOperations = [...accountOperations, ...administrationOperations];

function requireBrowser(actor: Actor): void {
  if (actor.via !== "session")
    throw new Problem("forbidden", "Manage your second factor in a browser, not with a token.");
}

async function qrRows(uri: string): Promise<string[]> {
  const { qrMatrix } = await import("../platform/qr-code.ts");
  const { size, dark } = qrMatrix(uri);
  const indices = Array.from({ length: size }, (_, i) => i);
  return indices.map((y) => indices.map((x) => (dark(x, y) ? "1" : "0")).join(""));
}
