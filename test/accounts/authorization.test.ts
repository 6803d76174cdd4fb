import { describe, expect, spyOn, test } from "bun:test";
import { ANONYMOUS } from "../../src/platform/actor.ts";
import {
  basicHeader,
  identifyCaller,
  MINUTE,
  openAccounts,
  PASSWORD,
  catchProblem,
  request,
  tokenHeader,
} from "./stage.ts";

describe("an Authorization header", () => {
  test.each([
    ["Token", "No credentials provided"],
    ["Token a b", "should not contain spaces"],
    ["Token nonsense", "Invalid token."],
    ["Digest x", "expected Token or Bearer"],
    ["Basic", "Invalid basic header. No credentials"],
    ["Basic a b", "should not contain spaces"],
    ["Basic a2ltOng=", "Invalid username/password."],
  ])("rejects the header %p: %p", async (authorization, message) => {
    const problem = await catchProblem(() =>
      openAccounts().accounts.authenticate(request({ authorization })),
    );
    expect(problem.message).toContain(message);
    expect([problem.code, problem.headers]).toEqual([
      "unauthenticated",
      { "WWW-Authenticate": "Token, Bearer" },
    ]);
  });

  test("accepts a token as Token or Bearer, and treats requests without a header as anonymous", async () => {
    const { accounts, database } = openAccounts();
    const user = await accounts.addUser({ username: "kim", group: "Freezers" });
    const token = accounts.addToken("kim", "test");
    for (const scheme of ["Token", "Bearer", "token"]) {
      const actor = accounts.authenticate(request({ authorization: `${scheme} ${token}` }));
      expect(actor).toMatchObject({ user, username: "kim", superuser: false, via: "token" });
      expect(actor.groups).toEqual([actor.primaryGroup!]);
    }
    expect(JSON.stringify(database.query("SELECT * FROM api_token").all())).not.toContain(token);
    expect(accounts.authenticate(request())).toEqual(ANONYMOUS);
  });

  test("accepts a password with Basic, and verifies it again after five minutes or a change", async () => {
    const { accounts, clock } = openAccounts();
    const kim = await accounts.addUser({ username: "kim", password: "long: päßword" });
    await accounts.addUser({ username: "root", superuser: true });
    const caller = (pair = "kim:long: päßword") => identifyCaller(accounts, basicHeader(pair));
    expect(await caller()).toBe("kim");
    const hashed = spyOn(Bun.password, "verify");
    for (let i = 0; i < 5; i++) expect(await caller()).toBe("kim");
    expect(hashed).not.toHaveBeenCalled();
    clock.at += 5 * MINUTE;
    expect(await caller()).toBe("kim");
    expect(hashed).toHaveBeenCalledTimes(1);
    hashed.mockRestore();
    await accounts.setPassword(kim, "another password");
    expect([await caller(), await caller("kim:another password")]).toEqual(["unauthenticated", "kim"]);
    accounts.setActive(kim, false);
    expect(await caller("kim:another password")).toBe("unauthenticated");
    for (const authorization of ["Basic !!!", "Basic a2lt", "Basic /zph", "Basic Omtpbg==", "Basic a2kAOng="])
      expect([authorization, await identifyCaller(accounts, { authorization })]).toEqual([
        authorization,
        "unauthenticated",
      ]);
  });

  test.each([
    [{}, "POST", "kim"],
    [{ origin: "http://lab" }, "POST", "kim"],
    [{ origin: "http://evil.example" }, "GET", "kim"],
    [{ origin: "http://evil.example" }, "POST", "forbidden"],
    [{ "sec-fetch-site": "cross-site" }, "DELETE", "forbidden"],
  ])("Basic authentication with %j by %s: %s", async (headers, method, caller) => {
    const { accounts } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    expect(await identifyCaller(accounts, { ...basicHeader(`kim:${PASSWORD}`), ...headers }, method)).toBe(
      caller,
    );
  });
});

describe("tokens", () => {
  test("a token ends when it expires or is revoked, or when its user is disabled", async () => {
    const { accounts, clock } = openAccounts();
    await accounts.addUser({ username: "root", superuser: true });
    const kim = await accounts.addUser({ username: "kim" });
    const short = tokenHeader(accounts.addToken("kim", "short", clock.at + 10));
    clock.at += 9;
    expect(await identifyCaller(accounts, short)).toBe("kim");
    clock.at += 1;
    expect(await identifyCaller(accounts, short)).toBe("unauthenticated");
    const long = tokenHeader(accounts.addToken("kim", "long"));
    accounts.setActive(kim, false);
    expect(await identifyCaller(accounts, long)).toBe("unauthenticated");
    accounts.setActive(kim, true);
    expect(await identifyCaller(accounts, long)).toBe("kim");
    accounts.tokens.revokeAll(kim);
    expect(await identifyCaller(accounts, long)).toBe("unauthenticated");
  });

  test("tokens with scope read cannot write; the last use is stored once a minute", async () => {
    const { accounts, clock, database } = openAccounts();
    const user = await accounts.addUser({ username: "kim" });
    const token = tokenHeader(accounts.addToken("kim", "reader", null, "read"));
    const used = () => accounts.tokens.list({ user })[0].last_used;
    const start = clock.at;
    expect(used()).toBeNull();
    for (const method of ["GET", "HEAD", "OPTIONS"])
      expect(await identifyCaller(accounts, token, method)).toBe("kim");
    for (const method of ["POST", "PUT", "PATCH", "DELETE"])
      expect(await identifyCaller(accounts, token, method)).toBe("forbidden");
    const changes = () => (database.query("SELECT total_changes() AS n").get() as { n: number }).n;
    const before = changes();
    clock.at += MINUTE - 1;
    await identifyCaller(accounts, token);
    expect([changes() - before, used()]).toEqual([0, start]);
    clock.at += 1;
    await identifyCaller(accounts, token);
    expect([changes() - before, used()]).toEqual([1, start + MINUTE]);
  });

  test("tells who used a session or a token last", async () => {
    const { accounts, clock } = openAccounts();
    const use = async (name: string) => {
      clock.at += MINUTE;
      await identifyCaller(accounts, tokenHeader(accounts.addToken(name, "script")));
    };
    const recent = (maximum: number) => accounts.recentActors(maximum).map(({ username }) => username);
    const lee = await accounts.addUser({ username: "lee" });
    for (const username of ["kim", "ana", "bob"]) await accounts.addUser({ username });
    for (const username of ["lee", "kim", "ana", "kim"]) await use(username);
    expect([recent(2), recent(9)]).toEqual([
      ["kim", "ana"],
      ["kim", "ana", "lee"],
    ]);
    accounts.setActive(lee, false);
    expect(recent(9)).toEqual(["kim", "ana"]);
  });

  test("tokens are listed and revoked by their prefix", async () => {
    const { accounts, clock } = openAccounts();
    const user = await accounts.addUser({ username: "kim" });
    const lee = await accounts.addUser({ username: "lee" });
    const [one, two] = [accounts.addToken("kim", "one"), accounts.addToken("kim", "two", clock.at + 5)];
    accounts.addToken("lee", "three");
    const listed = accounts.tokens.list({ user });
    expect(listed.map(({ name }) => name)).toEqual(["two", "one"]);
    expect(JSON.stringify(listed)).not.toContain(one);
    expect(one).toStartWith(listed[1].prefix);
    expect(accounts.tokens.find(user, listed[0].id)?.name).toBe("two");
    expect(accounts.tokens.find(lee, listed[0].id)).toBeUndefined();
    clock.at += 5;
    expect(accounts.tokens.list({ user })).toHaveLength(1);
    expect(accounts.tokens.list({ user, all: true })).toHaveLength(2);
    expect(accounts.tokens.find(user, listed[0].id)).toBeUndefined();
    expect(accounts.tokens.find(user, listed[0].id, { all: true })?.name).toBe("two");
    const [created] = accounts.audit.log.latest({ action: "token.create" }, 2).slice(1);
    expect(created.detail).toMatchObject({ name: "two", expires: new Date(clock.at).toISOString() });
    expect(() => accounts.tokens.resolve(two.slice(0, 12))).toThrow("no valid token");
    accounts.tokens.revoke(accounts.tokens.resolve(one.slice(0, 12)));
    expect(accounts.tokens.list().map(({ name }) => name)).toEqual(["three"]);
    expect([accounts.tokens.revokeAll(lee), accounts.tokens.revokeAll(lee)]).toEqual([1, 0]);
  });
});

test.each([
  ["", "name"],
  [" ", "name"],
  ["x".repeat(256), "name"],
  ["two\nlines", "name"],
  ["x".repeat(255), ""],
])("rejects a token named %j: error at %p", async (name, field) => {
  const { accounts } = openAccounts();
  const user = await accounts.addUser({ username: "kim" });
  const add = () => accounts.tokens.add(user, { name });
  if (field === "") add();
  else expect(Object.keys((await catchProblem(add)).fields!)).toEqual([field]);
});
