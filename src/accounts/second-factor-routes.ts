import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import type { Actor } from "./actor.ts";
import { baseOf, type PublicUrlOptions } from "../platform/origin.ts";
import type { CodeResult } from "./second-factor.ts";
import {
  withTimestamps,
  describeOperation,
  noContent,
  type Endpoint,
  timestamp,
  json,
  list,
  usernameParameter,
  readTexts,
  requireAdministrator,
  requireUser,
  texts,
} from "./endpoint.ts";

const PATH = "/api/account/second-factor";
const CODE = "A code that the app shows now, or a recovery code.";

/** The own second factor, and those that administrators see and reset. */
export function secondFactorEndpoints(accounts: Accounts, reach: PublicUrlOptions): Endpoint[] {
  const { confirmations, secondFactors, sessions, signIns } = accounts;
  const ownerOf = (request: Request): Actor & { user: number; username: string } => {
    const actor = requireUser(accounts, request, { enrolling: true });
    if (actor.via !== "session")
      throw new Problem(
        "forbidden",
        "A second factor is looked after by its owner in a browser, not by a program.",
      );
    return actor;
  };
  /** Does something of the owner's by a code. @throws Problem invalid_request that names the field, throttled */
  const byCode = async <T>(
    request: Request,
    take: (user: number, code: string) => T | CodeResult,
  ): Promise<T> => {
    const { user, username } = ownerOf(request);
    const { code } = await readTexts(request, ["code"], ["code"]);
    return signIns.checkCode(username, () => take(user, code));
  };
  const requireOn = (user: number): void => {
    if (!secondFactors.isOn(user)) throw new Problem("conflict", "The account has no second factor.");
  };
  return [
    {
      path: PATH,
      methods: {
        GET: {
          detail: describeOperation("Your second factor", {
            answers: {
              200: "`on`, `since`, how many `recovery_codes` are left, and whether one is `required`.",
            },
            refusals: [401],
          }),
          answer({ request }) {
            const { user } = requireUser(accounts, request, { enrolling: true });
            const found = secondFactors.of(user);
            return json({
              on: found !== undefined,
              since: timestamp(found?.since ?? null),
              recovery_codes: found?.recovery_codes ?? 0,
              required: secondFactors.isRequired(user),
            });
          },
        },
        POST: {
          detail: describeOperation("Begin to set a second factor up", {
            description:
              "By a browser's session, which has shown a short while ago who it is, or gives `current_password`. It counts from its confirmation on; beginning again makes another secret.",
            body: texts([], ["current_password"]),
            answers: { 200: "`secret`, `uri` for apps, and `qr`: that as rows of a QR code, 1 for dark." },
            refusals: [400, 401, 403, 409],
          }),
          async answer({ request }) {
            const actor = ownerOf(request);
            const { user, username } = actor;
            const { current_password } = await readTexts(request, ["current_password"], []);
            await confirmations.require(request, actor, current_password);
            const issuer = `labd ${new URL(baseOf(request, reach)).hostname}`;
            const { secret, uri } = secondFactors.begin(user, username, issuer);
            const { qrMatrix } = await import("../platform/qr-code.ts");
            const { size, dark } = qrMatrix(uri);
            const along = Array.from({ length: size }, (_, i) => i);
            const qr = along.map((y) => along.map((x) => (dark(x, y) ? "1" : "0")).join(""));
            return json({ secret, uri, qr });
          },
        },
      },
    },
    {
      path: `${PATH}/confirm`,
      methods: {
        POST: {
          detail: describeOperation("Turn the second factor on", {
            description: "By a code that shows that the app has the secret. Your other sessions end.",
            body: texts(["code"]),
            answers: { 200: "`recovery_codes`, which are shown this once; each is good for one use." },
            refusals: [400, 401, 403, 409],
          }),
          async answer({ request }) {
            await confirmations.require(request, ownerOf(request));
            const recovery_codes = await byCode(request, (user, code) => secondFactors.confirm(user, code));
            sessions.endOthers(ownerOf(request).user, request);
            return json({ recovery_codes });
          },
        },
      },
    },
    {
      path: `${PATH}/recovery-codes`,
      methods: {
        POST: {
          detail: describeOperation("New recovery codes", {
            description: "In the place of those before.",
            body: texts(["code"]),
            answers: { 200: "`recovery_codes`, which are shown this once." },
            refusals: [400, 401, 403, 409],
          }),
          async answer({ request }) {
            requireOn(ownerOf(request).user);
            await byCode(request, (user, code) => secondFactors.use(user, code));
            return json({ recovery_codes: secondFactors.renewRecoveryCodes(ownerOf(request).user) });
          },
        },
      },
    },
    {
      path: `${PATH}/remove`,
      methods: {
        POST: {
          detail: describeOperation("Take the second factor away", {
            description: CODE,
            body: texts(["code"]),
            answers: { 204: "Done." },
            refusals: [400, 401, 403, 409],
          }),
          async answer({ request }) {
            requireOn(ownerOf(request).user);
            await byCode(request, (user, code) => secondFactors.use(user, code));
            secondFactors.remove(ownerOf(request).user, "second_factor.disable");
            return noContent();
          },
        },
      },
    },
    {
      path: "/api/admin/second-factors",
      methods: {
        GET: {
          detail: describeOperation("Accounts with a second factor", {
            answers: { 200: "By name: since when, and how many recovery codes are left." },
          }),
          answer({ request }) {
            requireAdministrator(accounts, request);
            return list(
              secondFactors
                .list()
                .map(({ username, since, recovery_codes }) =>
                  withTimestamps({ username, since, recovery_codes }, "since"),
                ),
            );
          },
        },
      },
    },
    {
      path: "/api/admin/users/:username/second-factor",
      methods: {
        DELETE: {
          detail: describeOperation("Reset somebody's second factor", {
            description:
              "For who has lost the phone. The sessions of the account end; the password alone signs in.",
            parameters: [usernameParameter()],
            answers: { 204: "Done." },
            refusals: [401, 403, 404, 409],
          }),
          async answer({ request, params }) {
            const actor = requireAdministrator(accounts, request);
            const user = accounts.userId(params.username);
            await confirmations.require(request, actor);
            if (user === actor.user)
              throw new Problem("conflict", "Your own is taken away in your profile, by a code.");
            if (!accounts.resetSecondFactor(user))
              throw new Problem("not_found", `${params.username} has no second factor.`);
            return noContent();
          },
        },
      },
    },
  ];
}
