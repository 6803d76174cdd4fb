import { expect, test } from "bun:test";
import { callerOfRequest } from "../fixtures/request.ts";
import { MIGRATIONS } from "../../db/index.ts";
import { Problem } from "../../src/problem.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";

/** Accounts whose passwords somebody else knows, told by a stand-in that counts. */
async function opened() {
  const now = { ms: 1_000_000 };
  let ids = 0;
  const clock = { now: () => now.ms, newId: () => `id-${ids++}` };
  const accounts = new Accounts(openDatabase(":memory:", MIGRATIONS), clock, { loginFailures: 3 });
  const kim = await accounts.addUser({ username: "kim" });
  await accounts.addUser({ username: "lee", password: "a long password" });
  const asked: string[] = [];
  const state = { holds: true, away: false };
  accounts.signIns.externalPasswords = {
    name: "ldap",
    async verify(username, password) {
      asked.push(username);
      if (state.away) throw new Problem("identity_unavailable", "away");
      return username.toLowerCase() === "kim" && password === "theirs" ? kim : undefined;
    },
    checkPassword: async (user, _, password) => user === kim && password === "theirs",
    canSignIn: () => state.holds,
  };
  return { accounts, now, kim, asked, state };
}

const basic = async (accounts: Accounts, pair: string) => {
  const headers = { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
  const request = new Request("http://lab/", { headers });
  return callerOfRequest(accounts, request);
};

test("a password that is none here is asked for elsewhere, and the account says who it is", async () => {
  const { accounts, asked } = await opened();
  await accounts.signIn({ username: "lee", password: "a long password" });
  expect(asked).toEqual([]);
  const token = await accounts.signIn({ username: "KIM", password: "theirs" });
  const request = new Request("http://lab/", { headers: { authorization: `Token ${token}` } });
  expect(accounts.authenticate(request).username).toBe("kim");
  await expect(accounts.signIn({ username: "kim", password: "wrong" })).rejects.toMatchObject({
    code: "unauthenticated",
  });
  const [refused, signedIn] = accounts.audit.log.latest({ action: "sign_in" }, 2);
  expect(signedIn.detail).toEqual({ by: "ldap", method: "token-auth", username: "kim" });
  expect(refused.outcome).toBe("refused");
});

test("names that differ in case alone are throttled together, and an absent directory counts against nobody", async () => {
  const { accounts, state } = await opened();
  state.away = true;
  for (let i = 0; i < 5; i++)
    await expect(accounts.signIn({ username: "kim", password: "theirs" })).rejects.toMatchObject({
      code: "identity_unavailable",
    });
  state.away = false;
  for (const name of ["kim", "Kim", "KIM"])
    await expect(accounts.signIn({ username: name, password: "wrong" })).rejects.toMatchObject({
      code: "unauthenticated",
    });
  await expect(accounts.signIn({ username: "kIM", password: "theirs" })).rejects.toMatchObject({
    code: "throttled",
  });
});

test("what came by Basic is remembered for minutes, while it holds", async () => {
  const { accounts, now, asked, state } = await opened();
  for (let i = 0; i < 3; i++) expect((await basic(accounts, "kim:theirs")).username).toBe("kim");
  expect(asked.length).toBe(1);
  state.holds = false;
  await basic(accounts, "kim:theirs");
  expect(asked.length).toBe(2);
  state.holds = true;
  now.ms += 5 * 60_000;
  await basic(accounts, "kim:theirs");
  expect(asked.length).toBe(3);
});

test("the own password is asked for here and nowhere else", async () => {
  const { accounts, asked } = await opened();
  await expect(
    accounts.signIns.verify({ username: "kim", password: "theirs" }, "check"),
  ).rejects.toMatchObject({ code: "unauthenticated" });
  expect(await accounts.passwordError("kim", "theirs")).toContain("no local password");
  expect(await accounts.passwordError("lee", "theirs")).toBe("This is not the password of the account.");
  expect(await accounts.passwordError("lee", "a long password")).toBeUndefined();
  expect(asked).toEqual([]);
});
