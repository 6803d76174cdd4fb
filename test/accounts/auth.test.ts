import { expect, spyOn, test } from "bun:test";
import { asRequest, callerOfRequest } from "../fixtures/request.ts";
import { MIGRATIONS } from "../../db/index.ts";
import type { AccountOptions } from "../../src/accounts/account-options.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { ANONYMOUS } from "../../src/accounts/actor.ts";
import { Passwords } from "../../src/accounts/password.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";

function opened(now = { ms: 1_000_000 }, options: Partial<AccountOptions> = {}) {
  let ids = 0;
  const clock = {
    now: () => now.ms,
    newId: () => `00000000-0000-4000-8000-1${String(ids++).padStart(11, "0")}`,
  };
  const database = openDatabase(":memory:", MIGRATIONS);
  return { database, accounts: new Accounts(database, clock, options), now };
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
  ["Digest x", "expected Token or Bearer"],
  ["Basic", "Invalid basic header. No credentials"],
  ["Basic a b", "should not contain spaces"],
  ["Basic a2ltOng=", "Invalid username/password."],
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
  const token = await accounts.signIn({ username: "kim", password: "correct horse" });
  expect(accounts.authenticate(asking(`Token ${token}`)).username).toBe("kim");
  for (const [name, password] of [
    ["kim", "wrong horse"],
    ["lee", "anything at all"],
    ["nobody", "anything at all"],
  ]) {
    await expect(accounts.signIn({ username: name, password })).rejects.toThrow(
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
  await expect(accounts.signIn({ username: "system", password: "" })).rejects.toThrow("Unable to log in");
});

/** The caller of a request with these headers. */
const callerBy = (accounts: Accounts, headers: Record<string, string>, { method = "GET" } = {}) =>
  callerOfRequest(accounts, new Request("http://lab/", { method, headers }));
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
const refusalOf = async (work: () => unknown): Promise<{ code: string; headers: Record<string, string> }> => {
  try {
    await work();
  } catch (error) {
    return error as { code: string; headers: Record<string, string> };
  }
  throw new Error("nothing was refused");
};

test("Basic signs in by the password; the second time it is not hashed again, unless it was changed", async () => {
  const { accounts, now } = opened();
  const rid = await accounts.addUser({ username: "kim", password: "long: päßword" });
  const signIn = async () => (await callerBy(accounts, basic("kim:long: päßword"))).user;
  expect(await signIn()).toBe(rid);
  const hashed = spyOn(Bun.password, "verify");
  for (let i = 0; i < 20; i++) expect(await signIn()).toBe(rid);
  expect(hashed).not.toHaveBeenCalled();
  now.ms += 6 * 60_000;
  expect(await signIn()).toBe(rid);
  expect(hashed).toHaveBeenCalledTimes(1);
  hashed.mockRestore();
  await accounts.setPassword(rid, "another password");
  await expect(signIn()).rejects.toThrow("Invalid username/password.");
  expect((await callerBy(accounts, basic("kim:another password"))).user).toBe(rid);
  accounts.addUser({ username: "root", superuser: true });
  accounts.setActive(rid, false);
  await expect(callerBy(accounts, basic("kim:another password"))).rejects.toThrow(
    "Invalid username/password.",
  );
  for (const header of [
    "Basic !!!",
    "Basic a2lt",
    `Basic ${Buffer.from([0xff, 0x3a, 0x61]).toString("base64")}`,
  ]) {
    await expect(callerBy(accounts, { authorization: header })).rejects.toThrow(
      "not correctly base64 encoded",
    );
  }
});

test("Basic from a page of somebody else does not change anything", async () => {
  const { accounts } = opened();
  await accounts.addUser({ username: "kim", password: "correct horse" });
  const ask = async (headers: Record<string, string>, method: string) =>
    callerBy(accounts, { ...basic("kim:correct horse"), ...headers }, { method });
  expect((await ask({}, "POST")).username).toBe("kim");
  expect((await ask({ origin: "http://lab" }, "POST")).username).toBe("kim");
  expect((await ask({ origin: "http://evil.example" }, "GET")).username).toBe("kim");
  await expect(ask({ origin: "http://evil.example" }, "POST")).rejects.toThrow("CSRF Failed");
  await expect(ask({ "sec-fetch-site": "cross-site" }, "DELETE")).rejects.toThrow("CSRF Failed");
});

test("by https at the root of a host no other host can set the cookie of a session, nor one of another name count", async () => {
  const { accounts } = opened();
  const rid = await accounts.addUser({ username: "kim", password: "correct horse" });
  const at = (url: string, cookie = ""): Request => new Request(url, { headers: { cookie } });
  const { cookie } = accounts.sessions.open(rid, at("https://lab/"));
  expect(cookie).toMatch(
    /^__Host-labd_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const own = cookie.split(";")[0];
  const tossed = own.replace("__Host-", "");
  expect(accounts.sessions.find(at("https://lab/", own))?.user).toBe(rid);
  expect(accounts.sessions.find(at("https://lab/", tossed))).toBeUndefined();
  expect(accounts.sessions.find(at("https://lab/", `${tossed.slice(0, -3)}AAA; ${own}`))?.user).toBe(rid);
  expect(accounts.sessions.close(at("https://lab/", own))).toStartWith(
    "__Host-labd_session=; Path=/; Max-Age=0;",
  );
  expect(accounts.sessions.find(at("https://lab/", own))).toBeUndefined();
});

test("a session is a cookie; what changes something needs its token or a page of ours", async () => {
  const { accounts, database } = opened();
  const rid = await accounts.addUser({ username: "kim", password: "correct horse" });
  const first = await accounts.openSession(
    { username: "kim", password: "correct horse" },
    new Request("http://lab/"),
  );
  expect(first.cookie).toMatch(
    /^labd_session=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
  );
  const [cookie] = first.cookie.split(";");
  expect(JSON.stringify(database.query("SELECT * FROM session").all())).not.toContain(cookie.split("=")[1]);
  const ask = (headers: Record<string, string>, method = "GET", url = "http://lab/") =>
    accounts.authenticate(new Request(url, { method, headers: { cookie, ...headers } }));
  expect(ask({})).toMatchObject({ user: rid, username: "kim", token: null });
  expect(() => ask({}, "POST")).toThrow("CSRF Failed: CSRF token missing.");
  expect(() => ask({ "x-csrftoken": "x" }, "POST")).toThrow("CSRF Failed: CSRF token incorrect.");
  expect(() => ask({ origin: "http://evil.example" }, "POST")).toThrow(
    "CSRF Failed: Origin checking failed.",
  );
  expect(() => ask({ origin: "null" }, "PATCH")).toThrow("CSRF Failed: Origin");
  expect(() => ask({ origin: "https://lab" }, "PATCH")).toThrow("CSRF Failed: Origin");
  expect(() => ask({ "sec-fetch-site": "same-site" }, "DELETE")).toThrow("CSRF Failed");
  expect(ask({ "x-csrftoken": first.session.csrfToken }, "POST").user).toBe(rid);
  expect(ask({ origin: "http://lab" }, "PUT").user).toBe(rid);
  expect(ask({ "sec-fetch-site": "same-origin" }, "DELETE").user).toBe(rid);
  expect(ask({ cookie: "labd_session=short; other=1" })).toEqual(ANONYMOUS);

  const again = await accounts.openSession(
    { username: "kim", password: "correct horse" },
    new Request("http://lab/", { headers: { cookie } }),
  );
  expect(again.cookie).not.toBe(first.cookie);
  expect(ask({})).toEqual(ANONYMOUS);
  const headers = { cookie: `a=b; ${again.cookie.split(";")[0]}` };
  expect(ask(headers).user).toBe(rid);
  expect(accounts.sessions.close(new Request("http://lab/", { headers }))).toContain(
    "labd_session=; Path=/; Max-Age=0",
  );
  expect(ask(headers)).toEqual(ANONYMOUS);
  await expect(
    accounts.openSession(
      { username: "kim", password: "correct horse" },
      new Request("http://lab/", { headers: { origin: "http://evil" } }),
    ),
  ).rejects.toThrow("CSRF Failed");
});

test("a session ends by age, by idleness, with the account, and with a new password", async () => {
  const { accounts, now } = opened({ ms: 1_000_000 }, { sessionHours: 2, sessionIdleMinutes: 50 });
  await accounts.addUser({ username: "root", superuser: true });
  const rid = await accounts.addUser({ username: "kim", password: "correct horse" });
  const open = async () => {
    const { cookie } = await accounts.openSession(
      { username: "kim", password: "correct horse" },
      new Request("http://lab/"),
    );
    return () =>
      accounts.authenticate(new Request("http://lab/", { headers: { cookie: cookie.split(";")[0] } })).user;
  };
  const used = await open();
  for (let minutes = 0; minutes < 120; minutes += 40) {
    expect(used()).toBe(rid);
    now.ms += 40 * 60_000;
  }
  expect(used()).toBeNull();
  const idle = await open();
  now.ms += 50 * 60_000;
  expect(idle()).toBeNull();
  const disabled = await open();
  accounts.setActive(rid, false);
  expect(disabled()).toBeNull();
  accounts.setActive(rid, true);
  expect(disabled()).toBeNull();
  const changed = await open();
  await accounts.setPassword(rid, "correct horse");
  expect(changed()).toBeNull();
});

test("behind https the cookie is for https only; a proxy is believed only where told", async () => {
  const cookieOf = async (
    options: Partial<AccountOptions>,
    headers: Record<string, string> = {},
    url = "http://lab/",
  ) => {
    const { accounts } = opened(undefined, options);
    await accounts.addUser({ username: "kim", password: "correct horse" });
    return (
      await accounts.openSession(
        { username: "kim", password: "correct horse" },
        new Request(url, { headers }),
      )
    ).cookie;
  };
  const forwarded = { "x-forwarded-proto": "https" };
  expect(await cookieOf({}, forwarded)).not.toContain("Secure");
  expect(await cookieOf({ trustProxy: true }, forwarded)).toEndWith("; Secure");
  expect(await cookieOf({ trustProxy: true }, { ...forwarded, origin: "https://lab" })).toEndWith("; Secure");
  expect(await cookieOf({ publicUrl: "https://lab.example" }, { origin: "https://lab.example" })).toEndWith(
    "; Secure",
  );
  expect(await cookieOf({}, {}, "https://lab/")).toEndWith("; Secure");
});

test("failed sign-ins are counted by account, and by address, whoever is there", async () => {
  const { accounts, now } = opened(undefined, { loginFailures: 3, loginFailuresAddress: 5, loginWindow: 60 });
  await accounts.addUser({ username: "kim", password: "correct horse" });
  const request = new Request("http://lab/");
  const attempt = (name: string, password: string, from: string) =>
    asRequest(request, () => accounts.signIn({ username: name, password }), from);
  for (const name of ["kim", "nobody"]) {
    for (let i = 0; i < 3; i++) {
      const refused = await refusalOf(() => attempt(name, "wrong horse", `192.0.2.${name.length}`));
      expect(refused.code).toBe("unauthenticated");
    }
    now.ms += 10_000;
    const refused = await refusalOf(() => attempt(name, "correct horse", "198.51.100.7"));
    expect(refused).toMatchObject({
      code: "throttled",
      message: "Request was throttled. Expected available in 50 seconds.",
      headers: { "Retry-After": "50" },
    });
    now.ms -= 10_000;
  }
  // Another account from the same address has two attempts left, whatever the port or the rest of an IPv6 network.
  for (const expected of ["unauthenticated", "unauthenticated", "throttled"])
    expect((await refusalOf(() => attempt("lee", "x", "192.0.2.3"))).code).toBe(expected);
  now.ms += 60_000;
  expect(await attempt("kim", "correct horse", "192.0.2.3")).toStartWith("labd_");
  for (let i = 0; i < 2; i++) await refusalOf(() => attempt("kim", "wrong horse", "192.0.2.9"));
  // Signing in makes the failures before it void.
  await attempt("kim", "correct horse", "192.0.2.9");
  for (let i = 0; i < 3; i++)
    expect((await refusalOf(() => attempt("kim", "wrong horse", "192.0.2.9"))).code).toBe("unauthenticated");
});

test("a clock that is set back makes nobody wait until it comes again", async () => {
  const { accounts, now } = opened(undefined, { loginFailures: 3, loginWindow: 60 });
  await accounts.addUser({ username: "kim", password: "correct horse" });
  const attempt = (password: string) => refusalOf(() => accounts.signIn({ username: "kim", password }));
  for (let i = 0; i < 3; i++) expect((await attempt("wrong horse")).code).toBe("unauthenticated");
  expect((await attempt("correct horse")).code).toBe("throttled");
  now.ms -= 5 * 3_600_000;
  for (let i = 0; i < 3; i++) expect((await attempt("wrong horse")).code).toBe("unauthenticated");
  // And it is counted as ever.
  expect(await attempt("correct horse")).toMatchObject({
    code: "throttled",
    headers: { "Retry-After": "60" },
  });
});

test("many attempts at once do not slip through the count together, and the networks of IPv6 count as one", async () => {
  const { accounts } = opened(undefined, { loginFailures: 100, loginFailuresAddress: 4, trustProxy: true });
  const codes = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const headers = { "x-forwarded-for": `10.0.0.1, 2001:db8:0:1::${i}` };
      return (await refusalOf(() => callerBy(accounts, { ...headers, ...basic(`user${i}:wrong horse`) })))
        .code;
    }),
  );
  expect(codes.filter((code) => code === "unauthenticated")).toHaveLength(4);
  expect(codes.filter((code) => code === "throttled")).toHaveLength(8);
});

test("an unknown account costs the same hash as a wrong password", async () => {
  const { accounts } = opened(undefined, { loginFailures: 1000, loginFailuresAddress: 1000 });
  await accounts.addUser({ username: "kim", password: "correct horse" });
  await accounts.addUser({ username: "lee" });
  const hashed = spyOn(Bun.password, "verify");
  const least = async (name: string) => {
    const times: number[] = [];
    for (let i = 0; i < 4; i++) {
      const started = process.cpuUsage();
      expect(
        (await refusalOf(() => accounts.signIns.verify({ username: name, password: "wrong horse" }, "check")))
          .code,
      ).toBe("unauthenticated");
      const { user, system } = process.cpuUsage(started);
      times.push(user + system);
    }
    return Math.min(...times);
  };
  const [known, without, unknown] = [await least("kim"), await least("lee"), await least("nobody")];
  const hashes = hashed.mock.calls.map(([, hash]) => String(hash));
  hashed.mockRestore();
  expect(hashes).toHaveLength(12);
  for (const hash of hashes)
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{43}\$[A-Za-z0-9+/]{43}$/);
  // In processor time; of the same order, and what is left of a difference is the machine's.
  for (const other of [without, unknown]) expect(other).toBeGreaterThan(known / 4);
}, 300_000);

test("no more passwords are hashed at once than allowed, and all get their turn", async () => {
  const passwords = new Passwords(2);
  const verify = Bun.password.verify;
  let running = 0;
  let most = 0;
  const watch = spyOn(Bun.password, "verify").mockImplementation(async (...args) => {
    most = Math.max(most, ++running);
    await Bun.sleep(1);
    running--;
    return verify === undefined || args[0] === "right one";
  });
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) => passwords.verify(i % 3 === 0 ? "right one" : "wrong one", "$hash")),
  );
  const crowd = await Promise.allSettled(Array.from({ length: 210 }, () => passwords.verify("x", "$hash")));
  watch.mockRestore();
  expect([most, running]).toEqual([2, 0]);
  expect(answers).toEqual(Array.from({ length: 30 }, (_, i) => i % 3 === 0));
  const refused = crowd.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  expect(refused.map(({ reason }) => reason.code)).toEqual(Array.from({ length: 8 }, () => "busy"));
});

test("a token that may only read does only that; its use is noted to the minute", async () => {
  const { accounts, database, now } = opened();
  const rid = await accounts.addUser({ username: "kim" });
  const token = accounts.addToken("kim", "reader", null, "read");
  const ask = (method: string) =>
    accounts.authenticate(
      new Request("http://lab/", { method, headers: { authorization: `Token ${token}` } }),
    );
  const used = () => accounts.tokens.list({ user: rid })[0].last_used;
  expect(used()).toBeNull();
  for (const method of ["GET", "HEAD", "OPTIONS"]) expect(ask(method).user).toBe(rid);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) expect(() => ask(method)).toThrow("may only read");
  expect(used()).toBe(1_000_000);
  const changes = () => (database.query("SELECT total_changes() AS n").get() as { n: number }).n;
  const before = changes();
  for (let i = 0; i < 59; i++) {
    now.ms += 1000;
    ask("GET");
  }
  expect([changes() - before, used()]).toEqual([0, 1_000_000]);
  now.ms += 1000;
  ask("GET");
  expect([changes() - before, used()]).toEqual([1, 1_060_000]);
});

test("tokens are listed without themselves and revoked by what the list shows", async () => {
  const { accounts, now } = opened();
  const rid = await accounts.addUser({ username: "kim" });
  await accounts.addUser({ username: "lee" });
  const [one, two] = [accounts.addToken("kim", "one"), accounts.addToken("kim", "two", now.ms + 5)];
  accounts.addToken("lee", "three");
  const listed = accounts.tokens.list({ user: rid });
  expect(listed.map(({ name }) => name)).toEqual(["two", "one"]);
  expect(JSON.stringify(listed)).not.toContain(one);
  expect(one).toStartWith(listed[1].prefix);
  now.ms += 5;
  expect(accounts.tokens.list({ user: rid })).toHaveLength(1);
  expect(accounts.tokens.list({ user: rid, all: true })).toHaveLength(2);
  expect(() => accounts.tokens.resolve(two.slice(0, 12))).toThrow("no valid token");
  accounts.tokens.revoke(accounts.tokens.resolve(one.slice(0, 12)));
  expect(() => accounts.authenticate(asking(`Token ${one}`))).toThrow("Invalid token.");
  expect(accounts.tokens.list().map(({ name }) => name)).toEqual(["three"]);
  expect(accounts.tokens.revokeAll(accounts.userId("lee"))).toBe(1);
  expect(accounts.tokens.list()).toEqual([]);
});

test("neither the last administrator nor the system account can be changed away", async () => {
  const { accounts } = opened();
  const root = await accounts.addUser({ username: "root", superuser: true });
  expect(() => accounts.setActive(root, false)).toThrow("only active administrator");
  await accounts.addUser({ username: "second", superuser: true });
  accounts.setActive(root, false);
  expect(() => accounts.setActive(accounts.userId("second"), false)).toThrow("only active administrator");
  expect(() => accounts.setActive(1, true)).toThrow("system");
  await expect(accounts.setPassword(1, "long enough")).rejects.toThrow("system");
  expect(() => accounts.userId("third")).toThrow("There is no user third");
});
