import { Elysia } from "elysia";
import { Type } from "typebox";
import { pageSchema, singlePage } from "../platform/page.ts";
import { answerSchema, bodySchema, nullable, OptionalInput } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import type { Actor, SignedIn } from "../platform/actor.ts";
import { answers, NO_CONTENT, pathSchema } from "./responses.ts";
import { guardedRoutes } from "./route-guards.ts";
import { timestamp, timestampOrNull } from "../platform/clock.ts";

const PATH = "/api/account/second-factor";

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

const BEGIN = {
  summary: "Start setting up a second factor",
  description:
    "Requires a recently confirmed browser session, or `current_password`. Each call creates a new secret.",
};
const CONFIRM = {
  summary: "Enable the second factor",
  description: "Requires a code, which proves that the app has the secret. Your other sessions end.",
};
const RESET = {
  summary: "Reset a second factor",
  description:
    "For users who have lost their phone. Their sessions end, and the password alone is sufficient to sign in.",
};

/** The caller's second factor, and those that administrators see and reset. */
export const secondFactorRoutes = (accounts: Accounts) =>
  new Elysia({ name: "second-factors" }).use(ownRoutes(accounts)).use(administrationRoutes(accounts));

function ownRoutes(accounts: Accounts) {
  const { confirmations, secondFactors, sessions, signIns } = accounts;
  /** Uses up a code of the second factor. @throws Problem conflict, invalid_request, throttled */
  const useCode = async (actor: SignedIn, code: string): Promise<void> => {
    requireBrowser(actor);
    if (!secondFactors.isOn(actor.user)) throw new Problem("conflict", "The account has no second factor.");
    await signIns.checkCode(actor.username, () => secondFactors.use(actor.user, code));
  };
  const byCode = { signedIn: "enrolling", parse: "jsonBody", body: Code } as const;
  return guardedRoutes("own-second-factor", "administration", accounts)
    .get(
      PATH,
      ({ actor }) => {
        const found = secondFactors.of(actor.user);
        return {
          on: found !== undefined,
          since: timestampOrNull(found?.since ?? null),
          recovery_codes: found?.recovery_codes ?? 0,
          required: secondFactors.isRequired(actor.user),
        };
      },
      { signedIn: "enrolling", ...answers("Get your second factor", { 200: State }, 401) },
    )
    .post(
      PATH,
      async ({ actor, request, body, requestContext }) => {
        requireBrowser(actor);
        await confirmations.require(request, actor, body.current_password ?? undefined);
        const issuer = `labd ${new URL(requestContext.baseUrl).hostname}`;
        const { secret, uri } = secondFactors.begin(actor.user, actor.username, issuer);
        return { secret, uri, qr: await qrRows(uri) };
      },
      {
        signedIn: "enrolling",
        parse: "jsonBody",
        body: Begin,
        ...answers(BEGIN, { 200: Secret }, 400, 401, 403, 409),
      },
    )
    .post(
      `${PATH}/confirm`,
      async ({ actor, request, body }) => {
        requireBrowser(actor);
        await confirmations.require(request, actor);
        const confirm = () => secondFactors.confirm(actor.user, body.code);
        const recovery_codes = await signIns.checkCode<string[]>(actor.username, confirm);
        sessions.endOthers(actor.user, request);
        return { recovery_codes };
      },
      { ...byCode, ...answers(CONFIRM, { 200: RecoveryCodes }, 400, 401, 403, 409) },
    )
    .post(
      `${PATH}/recovery-codes`,
      async ({ actor, body }) => {
        await useCode(actor, body.code);
        return { recovery_codes: secondFactors.renewRecoveryCodes(actor.user) };
      },
      { ...byCode, ...answers("Replace the recovery codes", { 200: RecoveryCodes }, 400, 401, 403, 409) },
    )
    .post(
      `${PATH}/remove`,
      async ({ actor, body }) => {
        await useCode(actor, body.code);
        secondFactors.remove(actor.user, "second_factor.disable");
      },
      { ...byCode, ...answers("Remove the second factor", NO_CONTENT, 400, 401, 403, 409) },
    );
}

const administrationRoutes = (accounts: Accounts) =>
  guardedRoutes("admin-second-factors", "administration", accounts)
    .get(
      "/api/admin/second-factors",
      () =>
        singlePage(
          accounts.secondFactors.list().map(({ username, since, recovery_codes }) => {
            return { username, since: timestamp(since), recovery_codes };
          }),
        ),
      { administrator: true, ...answers("List second factors", { 200: SecondFactorList }, 401, 403) },
    )
    .delete(
      "/api/admin/users/:username/second-factor",
      ({ actor, params: { username } }) => {
        const user = accounts.userId(username);
        if (user === actor.user)
          throw new Problem("conflict", "Remove your own second factor in your profile, with a code.");
        if (!accounts.resetSecondFactor(user))
          throw new Problem("not_found", `${username} has no second factor.`);
      },
      {
        administrator: true,
        confirmed: true,
        parse: "jsonBody",
        params: pathSchema({ username: ["Username.", "carol"] }),
        ...answers(RESET, NO_CONTENT, 401, 403, 404, 409),
      },
    );

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
