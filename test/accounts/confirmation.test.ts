import { expect, test } from "bun:test";
import { Problem } from "../../src/problem.ts";
import { openLab } from "../inventory/harness.ts";

/** Showing again who one is, before what would let whoever finds an open browser stay. */

const PASSWORD = "a long password";
const MINUTE = 60_000;

async function opened() {
  const { accounts, clock } = await openLab();
  const kim = await accounts.addUser({ username: "kim", password: PASSWORD });
  const cookie = accounts.sessions.open(kim, new Request("http://lab/")).cookie.split(";")[0];
  const asks = (headers: Record<string, string> = { cookie }): Request =>
    new Request("http://lab/", { headers });
  /** What becomes of it, in a word. */
  const require = async (password = "", request = asks()): Promise<string> => {
    try {
      await accounts.confirmations.require(request, accounts.authenticate(request), password);
      return "ok";
    } catch (error) {
      const { code, more, fields } = error as Problem;
      return [code, more.field ?? Object.keys(fields ?? {})[0], more.by].filter(Boolean).join(" ");
    }
  };
  return { accounts, clock, kim, asks, require };
}

test("for ten minutes after signing in nothing is asked; then the password, which counts for another ten", async () => {
  const { clock, require } = await opened();
  const began = clock.now();
  expect(await require()).toBe("ok");
  clock.set(began + 10 * MINUTE - 1);
  expect(await require()).toBe("ok");
  clock.set(began + 10 * MINUTE);
  expect(await require()).toBe("confirmation_required current_password password");
  expect(await require("wrong")).toBe("invalid_request current_password");
  expect(await require()).toBe("confirmation_required current_password password");
  expect(await require(PASSWORD)).toBe("ok");
  clock.set(began + 20 * MINUTE - 1);
  expect(await require()).toBe("ok");
  // A clock that is set back has nobody shown anything in the future.
  clock.set(began);
  expect(await require()).toBe("confirmation_required current_password password");
});

test("programs are not asked; wrong passwords count as failed sign-ins, and are in the audit log", async () => {
  const { accounts, clock, require, asks } = await opened();
  const token = accounts.addToken("kim", "a program");
  clock.set(clock.now() + 60 * MINUTE);
  expect(await require("", asks({ authorization: `Token ${token}` }))).toBe("ok");
  for (let i = 0; i < 10; i++) expect(await require("wrong")).toBe("invalid_request current_password");
  expect(await require(PASSWORD)).toBe("throttled");
  expect(accounts.audit.log.latest({ action: "sign_in" }, 20)).toContainEqual(
    expect.objectContaining({
      outcome: "refused",
      detail: { username: "kim", method: "confirm", active: true },
    }),
  );
});

test("a directory is asked for the password of its people; who came by a provider goes there", async () => {
  const { accounts, clock, kim, require, asks } = await opened();
  const lee = await accounts.addUser({ username: "lee" });
  const by = (confirmed: number): Request =>
    asks({
      cookie: accounts.sessions
        .open(lee, new Request("http://lab/"), { hours: 8, session: null, confirmed })
        .cookie.split(";")[0],
    });
  const now = clock.now();
  // What the provider said of when the person signed in there; nothing, and long ago, are the same.
  expect(await require("", by(now))).toBe("ok");
  expect(await require("", by(now + 60 * MINUTE))).toBe("ok");
  expect(await require("", by(0))).toBe("confirmation_required current_password provider");
  expect(await require("", by(now - 11 * MINUTE))).toBe("confirmation_required current_password provider");
  expect(await require("something", by(0))).toBe("invalid_request current_password");
  const asked: string[] = [];
  accounts.signIns.externalPasswords = {
    name: "ldap",
    verify: async () => kim,
    async checkPassword(user, username, password) {
      asked.push(`${user === lee} ${username}`);
      return password === "theirs";
    },
    canSignIn: (user) => user === lee,
  };
  expect(await require("", by(0))).toBe("confirmation_required current_password password");
  expect(await require("wrong", by(0))).toBe("invalid_request current_password");
  expect(await require("theirs", by(0))).toBe("ok");
  expect(asked).toEqual(["true lee", "true lee"]);
  // It does not set another password for that: the account has none of its own.
  expect(await accounts.passwordError("lee", "theirs")).toContain("has no local password");
});
