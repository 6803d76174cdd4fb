import { Elysia } from "elysia";
import { Type } from "typebox";
import { requestPlugin } from "../platform/http.ts";
import { nullable, schema } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import type { Actor, SignedIn } from "./actor.ts";
import { errors, list, listSchema, NO_CONTENT, timestamp, timestampOrNull } from "./responses.ts";
import { guards } from "./route-guards.ts";

const PATH = "/api/account/second-factor";

const Code = schema(
  Type.Object(
    {
      code: Type.String({
        minLength: 1,
        maxLength: 1024,
        description: "A code that the app shows now, or a recovery code.",
      }),
    },
    { additionalProperties: false },
  ),
);
const Begin = schema(
  Type.Object(
    { current_password: Type.Optional(Type.String({ maxLength: 1024 })) },
    { additionalProperties: false },
  ),
);
const State = schema(
  Type.Object(
    {
      on: Type.Boolean(),
      since: nullable(Type.String()),
      recovery_codes: Type.Integer({ description: "Recovery codes left." }),
      required: Type.Boolean({ description: "Whether the account must have a second factor." }),
    },
    { description: "Your second factor." },
  ),
);
const Secret = schema(
  Type.Object(
    {
      secret: Type.String(),
      uri: Type.String({ description: "For authenticator apps." }),
      qr: Type.Array(Type.String(), { description: "Rows of the URI's QR code; 1 is dark." }),
    },
    { description: "The secret, which counts once it is confirmed." },
  ),
);
const RecoveryCodes = schema(
  Type.Object(
    { recovery_codes: Type.Array(Type.String()) },
    { description: "Recovery codes for one use each, shown only now." },
  ),
);
const SecondFactorList = listSchema(
  Type.Object({ username: Type.String(), since: Type.String(), recovery_codes: Type.Integer() }),
  "Accounts with a second factor, and how many recovery codes are left.",
);

const plugin = (name: string, accounts: Accounts) =>
  new Elysia({ name, detail: { tags: ["administration"], security: [{ token: [] }] } })
    .use(requestPlugin)
    .use(guards(accounts));

/** The caller's second factor, and those that administrators see and reset. */
export const secondFactorRoutes = (accounts: Accounts) =>
  new Elysia({ name: "second-factors" })
    .use(setUpRoutes(accounts))
    .use(codeRoutes(accounts))
    .use(adminRoutes(accounts));

function setUpRoutes(accounts: Accounts) {
  const { confirmations, secondFactors, sessions, signIns } = accounts;
  return plugin("second-factor-set-up", accounts)
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
      {
        signedIn: "enrolling",
        response: { 200: State, ...errors(401) },
        detail: { summary: "Get your second factor" },
      },
    )
    .post(
      PATH,
      async ({ actor, request, body, requestContext }) => {
        requireBrowser(actor);
        await confirmations.require(request, actor, body.current_password);
        const issuer = `labd ${new URL(requestContext.baseUrl).hostname}`;
        const { secret, uri } = secondFactors.begin(actor.user, actor.username, issuer);
        return { secret, uri, qr: await qrRows(uri) };
      },
      {
        signedIn: "enrolling",
        parse: "jsonBody",
        body: Begin,
        response: { 200: Secret, ...errors(400, 401, 403, 409) },
        detail: {
          summary: "Begin to set up a second factor",
          description:
            "For a browser session that was confirmed recently, or with `current_password`. Beginning again creates another secret.",
        },
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
      {
        signedIn: "enrolling",
        parse: "jsonBody",
        body: Code,
        response: { 200: RecoveryCodes, ...errors(400, 401, 403, 409) },
        detail: {
          summary: "Turn on the second factor",
          description: "With a code, which shows that the app has the secret. Your other sessions end.",
        },
      },
    );
}

function codeRoutes(accounts: Accounts) {
  const { secondFactors, signIns } = accounts;
  /** Uses up a code of the second factor. @throws Problem conflict, invalid_request, throttled */
  const useCode = async (actor: SignedIn, code: string): Promise<void> => {
    requireBrowser(actor);
    if (!secondFactors.isOn(actor.user)) throw new Problem("conflict", "The account has no second factor.");
    await signIns.checkCode(actor.username, () => secondFactors.use(actor.user, code));
  };
  return plugin("second-factor-codes", accounts)
    .post(
      `${PATH}/recovery-codes`,
      async ({ actor, body }) => {
        await useCode(actor, body.code);
        return { recovery_codes: secondFactors.renewRecoveryCodes(actor.user) };
      },
      {
        signedIn: "enrolling",
        parse: "jsonBody",
        body: Code,
        response: { 200: RecoveryCodes, ...errors(400, 401, 403, 409) },
        detail: { summary: "Replace the recovery codes" },
      },
    )
    .post(
      `${PATH}/remove`,
      async ({ actor, body }) => {
        await useCode(actor, body.code);
        secondFactors.remove(actor.user, "second_factor.disable");
      },
      {
        signedIn: "enrolling",
        parse: "jsonBody",
        body: Code,
        response: { 204: NO_CONTENT, ...errors(400, 401, 403, 409) },
        detail: { summary: "Remove the second factor" },
      },
    );
}

const adminRoutes = (accounts: Accounts) =>
  plugin("admin-second-factors", accounts)
    .get(
      "/api/admin/second-factors",
      () =>
        list(
          accounts.secondFactors.list().map(({ username, since, recovery_codes }) => ({
            username,
            since: timestamp(since),
            recovery_codes,
          })),
        ),
      {
        administrator: true,
        response: { 200: SecondFactorList, ...errors(401, 403) },
        detail: { summary: "List second factors" },
      },
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
        response: { 204: NO_CONTENT, ...errors(401, 403, 404, 409) },
        detail: {
          summary: "Reset a second factor",
          description: "For somebody who has lost the phone. The sessions end; the password alone signs in.",
        },
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
