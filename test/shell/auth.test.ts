import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../db/index.ts";
import { Accounts, ANONYMOUS } from "../../src/shell/auth.ts";
import { openDatabase } from "../../src/shell/sqlite.ts";

function opened(now = { ms: 1_000_000 }) {
  let ids = 0;
  const clock = {
    now: () => now.ms,
    newId: () => `00000000-0000-4000-8000-1${String(ids++).padStart(11, "0")}`,
  };
  const database = openDatabase(":memory:", MIGRATIONS);
  return { database, accounts: new Accounts(database, clock), now };
}

const asking = (authorization: string): Request => new Request("http://lab/", { headers: { authorization } });

test("a token signs in under either scheme, and only its hash is kept", async () => {
  const { accounts, database } = opened();
  const rid = await accounts.addUser({ username: "kim", group: "Freezers" });
  const token = accounts.addToken("kim", "test");
  for (const scheme of ["Token", "Bearer", "token"]) {
    const actor = accounts.authenticate(asking(`${scheme} ${token}`));
    expect(actor).toMatchObject({ user: rid, username: "kim", superuser: false });
    expect(actor.groups).toEqual([actor.primaryGroup!]);
  }
  expect(JSON.stringify(database.query("SELECT * FROM api_token").all())).not.toContain(token);
  expect(accounts.authenticate(new Request("http://lab/"))).toEqual(ANONYMOUS);
});

test.each([
  ["Token", "No credentials provided"],
  ["Token a b", "should not contain spaces"],
  ["Token nonsense", "Invalid token."],
  ["Basic a2ltOng=", "expected Token or Bearer"],
])("%p is refused: %p", (header, text) => {
  const { accounts } = opened();
  expect(() => accounts.authenticate(asking(header))).toThrow(text);
});

test("a token ends when it expires, is revoked, or its user is shut out", async () => {
  const { accounts, database, now } = opened();
  await accounts.addUser({ username: "kim" });
  const short = accounts.addToken("kim", "short", now.ms + 10);
  accounts.authenticate(asking(`Token ${short}`));
  now.ms += 10;
  expect(() => accounts.authenticate(asking(`Token ${short}`))).toThrow("Invalid token.");
  const long = accounts.addToken("kim", "long");
  database.run("UPDATE user_account SET is_active = 0 WHERE username = 'kim'");
  expect(() => accounts.authenticate(asking(`Token ${long}`))).toThrow("Invalid token.");
  database.run("UPDATE user_account SET is_active = 1 WHERE username = 'kim'");
  accounts.authenticate(asking(`Token ${long}`));
  database.run("UPDATE api_token SET revoked = 1");
  expect(() => accounts.authenticate(asking(`Token ${long}`))).toThrow("Invalid token.");
});

test("a password signs in; a wrong one, an unknown user and a user without one fail alike", async () => {
  const { accounts, database } = opened();
  await accounts.addUser({ username: "kim", password: "correct horse" });
  await accounts.addUser({ username: "lee" });
  const token = await accounts.signIn("kim", "correct horse");
  expect(accounts.authenticate(asking(`Token ${token}`)).username).toBe("kim");
  for (const [name, password] of [
    ["kim", "wrong horse"],
    ["lee", "anything at all"],
    ["nobody", "anything at all"],
  ]) {
    await expect(accounts.signIn(name, password)).rejects.toThrow(
      "Unable to log in with provided credentials.",
    );
  }
  const { password_hash } = database
    .query("SELECT password_hash FROM user_account WHERE username = 'kim'")
    .get() as {
    password_hash: string;
  };
  expect(password_hash).toStartWith("$argon2id$v=19$m=19456,t=2");
});

test("names and passwords that break the rule are refused by field", async () => {
  const { accounts } = opened();
  await expect(accounts.addUser({ username: "a b" })).rejects.toMatchObject({
    code: "invalid_request",
    fields: { username: expect.any(Array) },
  });
  await expect(accounts.addUser({ username: "kim", password: "short" })).rejects.toMatchObject({
    fields: { password: expect.any(Array) },
  });
  await accounts.addUser({ username: "kim" });
  await expect(accounts.addUser({ username: "kim" })).rejects.toMatchObject({ code: "conflict" });
});

test("the system account cannot be signed in to", async () => {
  const { accounts } = opened();
  expect(() => accounts.addToken("system", "x")).toThrow("no active user");
  await expect(accounts.signIn("system", "")).rejects.toThrow("Unable to log in");
});
