import { describe, expect, spyOn, test } from "bun:test";
import { ANONYMOUS } from "../../src/accounts/actor.ts";
import { Passwords } from "../../src/accounts/password.ts";
import {
  attempt,
  basicHeader,
  callerOf,
  cookieHeader,
  directoryOf,
  MINUTE,
  openAccounts,
  PASSWORD,
  problemOf,
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
  ])("%p is refused: %p", async (authorization, message) => {
    const problem = await problemOf(() => openAccounts().accounts.authenticate(request({ authorization })));
    expect(problem.message).toContain(message);
    expect([problem.code, problem.headers]).toEqual([
      "unauthenticated",
      { "WWW-Authenticate": "Token, Bearer" },
    ]);
  });

  test("Token and Bearer accept a token; without a header the caller is anonymous", async () => {
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

  test("Basic accepts a password, which is verified again after five minutes or a change", async () => {
    const { accounts, clock } = openAccounts();
    const kim = await accounts.addUser({ username: "kim", password: "long: päßword" });
    await accounts.addUser({ username: "root", superuser: true });
    const caller = (pair = "kim:long: päßword") => callerOf(accounts, basicHeader(pair));
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
      expect([authorization, await callerOf(accounts, { authorization })]).toEqual([
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
  ])("Basic with %j by %s: %s", async (headers, method, caller) => {
    const { accounts } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    expect(await callerOf(accounts, { ...basicHeader(`kim:${PASSWORD}`), ...headers }, method)).toBe(caller);
  });
});

describe("tokens", () => {
  test("end when they expire, are revoked, or the user is disabled", async () => {
    const { accounts, clock } = openAccounts();
    await accounts.addUser({ username: "root", superuser: true });
    const kim = await accounts.addUser({ username: "kim" });
    const short = tokenHeader(accounts.addToken("kim", "short", clock.at + 10));
    clock.at += 9;
    expect(await callerOf(accounts, short)).toBe("kim");
    clock.at += 1;
    expect(await callerOf(accounts, short)).toBe("unauthenticated");
    const long = tokenHeader(accounts.addToken("kim", "long"));
    accounts.setActive(kim, false);
    expect(await callerOf(accounts, long)).toBe("unauthenticated");
    accounts.setActive(kim, true);
    expect(await callerOf(accounts, long)).toBe("kim");
    accounts.tokens.revokeAll(kim);
    expect(await callerOf(accounts, long)).toBe("unauthenticated");
  });

  test("with scope read cannot write, and their last use is stored once a minute", async () => {
    const { accounts, clock, database } = openAccounts();
    const user = await accounts.addUser({ username: "kim" });
    const token = tokenHeader(accounts.addToken("kim", "reader", null, "read"));
    const used = () => accounts.tokens.list({ user })[0].last_used;
    const start = clock.at;
    expect(used()).toBeNull();
    for (const method of ["GET", "HEAD", "OPTIONS"])
      expect(await callerOf(accounts, token, method)).toBe("kim");
    for (const method of ["POST", "PUT", "PATCH", "DELETE"])
      expect(await callerOf(accounts, token, method)).toBe("forbidden");
    const changes = () => (database.query("SELECT total_changes() AS n").get() as { n: number }).n;
    const before = changes();
    clock.at += MINUTE - 1;
    await callerOf(accounts, token);
    expect([changes() - before, used()]).toEqual([0, start]);
    clock.at += 1;
    await callerOf(accounts, token);
    expect([changes() - before, used()]).toEqual([1, start + MINUTE]);
  });

  test("are listed and revoked by their prefix", async () => {
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
    expect(accounts.tokens.find(user, listed[0].id)?.name).toBe("two");
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
])("a token with the name %j is refused at %p", async (name, field) => {
  const { accounts } = openAccounts();
  const user = await accounts.addUser({ username: "kim" });
  const add = () => accounts.tokens.add(user, { name });
  if (field === "") add();
  else expect(Object.keys((await problemOf(add)).fields!)).toEqual([field]);
});

describe("accounts", () => {
  test.each([
    [{ username: "a b" }, "username"],
    [{ username: "" }, "username"],
    [{ username: "-kim" }, "username"],
    [{ username: "k".repeat(151) }, "username"],
    [{ username: "kim", password: "x".repeat(7) }, "password"],
    [{ username: "kim", password: "x".repeat(1025) }, "password"],
    [{ username: "kim", password: "two\nlines of it" }, "password"],
    [{ username: "kim", fullName: "x".repeat(256) }, "full_name"],
    [{ username: "kim", fullName: "a\u0007" }, "full_name"],
    [{ username: "kim", email: "nonsense" }, "email"],
    [{ username: "kim", email: `${"k".repeat(251)}@lab` }, "email"],
    [{ username: "kim", group: " " }, "group"],
    [{ username: "kim", group: "a,b" }, "group"],
    [{ username: "kim", group: "x".repeat(151) }, "group"],
  ])("%j is refused at %s", async (user, field) => {
    const problem = await problemOf(() => openAccounts().accounts.addUser(user));
    expect([problem.code, Object.keys(problem.fields ?? {})]).toEqual(["invalid_request", [field]]);
  });

  test("accept the longest names, and refuse a name in use", async () => {
    const { accounts } = openAccounts();
    const user = {
      username: "k".repeat(150),
      fullName: "x".repeat(255),
      email: `${"k".repeat(250)}@lab`,
      group: "g".repeat(150),
    };
    await accounts.addUser(user);
    expect((await problemOf(() => accounts.addUser(user))).code).toBe("conflict");
    expect([accounts.exists(user.username), accounts.exists("kim")]).toEqual([true, false]);
  });

  test("keep one active administrator, and the system account without a password", async () => {
    const { accounts } = openAccounts();
    expect(accounts.hasAdministrator()).toBe(false);
    const root = await accounts.addUser({ username: "root", superuser: true });
    const kim = await accounts.addUser({ username: "kim" });
    expect(() => accounts.setActive(root, false)).toThrow("only active administrator");
    accounts.setActive(kim, false);
    const second = await accounts.addUser({ username: "second", superuser: true });
    accounts.setActive(root, false);
    expect(() => accounts.setActive(second, false)).toThrow("only active administrator");
    expect(() => accounts.setActive(1, true)).toThrow("system");
    await expect(accounts.setPassword(1, "long enough")).rejects.toThrow("system");
    expect(() => accounts.addToken("system", "x")).toThrow("no active user");
    expect(await attempt(accounts, { username: "system", password: "" })).toBe("unauthenticated");
    expect(() => accounts.userId("third")).toThrow("There is no user third");
  });
});

describe("sessions", () => {
  test("are a cookie; unsafe requests need the CSRF token or an Origin of this site", async () => {
    const { accounts, database } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    const credentials = { username: "kim", password: PASSWORD };
    const first = await accounts.openSession(credentials, request());
    expect(first.cookie).toMatch(
      /^labd_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
    );
    const cookie = cookieHeader(first);
    expect(JSON.stringify(database.query("SELECT * FROM session").all())).not.toContain(
      cookie.cookie.split("=")[1],
    );
    for (const [headers, method, caller] of [
      [{}, "GET", "kim"],
      [{}, "POST", "forbidden"],
      [{ "x-csrftoken": "x" }, "POST", "forbidden"],
      [{ "x-csrftoken": "x".repeat(64) }, "POST", "forbidden"],
      [{ origin: "http://evil.example" }, "POST", "forbidden"],
      [{ origin: "null" }, "PATCH", "forbidden"],
      [{ origin: "https://lab" }, "PATCH", "forbidden"],
      [{ "sec-fetch-site": "same-site" }, "DELETE", "forbidden"],
      [{ "x-csrftoken": first.session.csrfToken }, "POST", "kim"],
      [{ origin: "http://lab" }, "PUT", "kim"],
      [{ "sec-fetch-site": "same-origin" }, "DELETE", "kim"],
      [{ cookie: "labd_session=short; other=1" }, "GET", null],
    ] as const)
      expect([headers, method, await callerOf(accounts, { ...cookie, ...headers }, method)]).toEqual([
        headers,
        method,
        caller,
      ]);
    // A new session replaces that of the request.
    const again = await accounts.openSession(credentials, request(cookie));
    expect(await callerOf(accounts, cookie)).toBeNull();
    const headers = { cookie: `a=b; ${cookieHeader(again).cookie}` };
    expect(await callerOf(accounts, headers)).toBe("kim");
    expect(accounts.sessions.close(request(headers))).toContain("labd_session=; Path=/; Max-Age=0");
    expect(await callerOf(accounts, headers)).toBeNull();
    const foreign = request({ origin: "http://evil" });
    expect((await problemOf(() => accounts.openSession(credentials, foreign))).code).toBe("forbidden");
  });

  test("end after 14 days, idleness, disabling, and a new password", async () => {
    const { accounts, clock } = openAccounts({ sessionIdleMinutes: 12 * 60 });
    await accounts.addUser({ username: "root", superuser: true });
    const kim = await accounts.addUser({ username: "kim" });
    const open = () => {
      const opened = accounts.sessions.open(kim, request());
      return () => callerOf(accounts, cookieHeader(opened));
    };
    const start = clock.at;
    const used = open();
    for (; clock.at < start + 336 * 60 * MINUTE - 1; clock.at += 11 * 60 * MINUTE)
      expect(await used()).toBe("kim");
    clock.at = start + 336 * 60 * MINUTE - 1;
    expect(await used()).toBe("kim");
    clock.at += 1;
    expect(await used()).toBeNull();
    const idle = open();
    clock.at += 12 * 60 * MINUTE - 1;
    expect(await idle()).toBe("kim");
    clock.at += 12 * 60 * MINUTE;
    expect(await idle()).toBeNull();
    const disabled = open();
    accounts.setActive(kim, false);
    expect(await disabled()).toBeNull();
    accounts.setActive(kim, true);
    expect(await disabled()).toBeNull();
    const changed = open();
    await accounts.setPassword(kim, PASSWORD);
    expect(await changed()).toBeNull();
  });

  test.each([
    [{}, {}, "http://lab/", /SameSite=Lax$/],
    [{}, { "x-forwarded-proto": "https" }, "http://lab/", /SameSite=Lax$/],
    [{ trustProxy: true }, { "x-forwarded-proto": "https" }, "http://lab/", /^__Host-.*; Secure$/],
    [{ publicUrl: "https://lab.example" }, {}, "http://lab/", /^__Host-.*; Path=\/;.*; Secure$/],
    [
      { publicUrl: "https://lab.example", basePath: "/labd" },
      {},
      "http://lab/",
      /^labd_.*; Path=\/labd;.*Secure$/,
    ],
    [
      {},
      {},
      "https://lab/",
      /^__Host-labd_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; .*; Secure$/,
    ],
  ])("with %j and %j at %s set a cookie like %p", async (options, headers, url, expected) => {
    const { accounts } = openAccounts(options);
    const kim = await accounts.addUser({ username: "kim" });
    expect(accounts.sessions.open(kim, request(headers, "GET", url)).cookie).toMatch(expected);
  });

  test("over https ignore a cookie that another host could have set", async () => {
    const { accounts } = openAccounts();
    const kim = await accounts.addUser({ username: "kim" });
    const at = (cookie = "") => request({ cookie }, "GET", "https://lab/");
    const own = cookieHeader(accounts.sessions.open(kim, at())).cookie;
    const tossed = own.replace("__Host-", "");
    expect(accounts.sessions.find(at(tossed))).toBeUndefined();
    expect(accounts.sessions.find(at(`${tossed.slice(0, -3)}AAA; ${own}`))?.user).toBe(kim);
  });
});

describe("throttling", () => {
  test("counts failures by account, known or not, and by address", async () => {
    const { accounts, clock } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    for (const username of ["kim", "nobody"]) {
      for (let i = 0; i < 10; i++)
        expect(await attempt(accounts, { username, password: "wrong horse" })).toBe("unauthenticated");
      clock.at += 10_000;
      expect(await problemOf(() => accounts.signIn({ username, password: PASSWORD }))).toMatchObject({
        code: "throttled",
        message: "Request was throttled. Expected available in 290 seconds.",
        headers: { "Retry-After": "290" },
      });
      clock.at -= 10_000;
    }
    clock.at += 300_000;
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe("ok");
  });

  test("is reset by a success, and by a clock that is set back", async () => {
    const { accounts, clock } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    const fail = async (times: number) => {
      for (let i = 0; i < times; i++)
        expect(await attempt(accounts, { username: "kim", password: "wrong" })).toBe("unauthenticated");
    };
    await fail(9);
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe("ok");
    await fail(10);
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe("throttled");
    clock.at -= 5 * 60 * MINUTE;
    await fail(1);
  });

  test("counts parallel attempts from one IPv6 network together", async () => {
    const { accounts } = openAccounts();
    const verify = spyOn(Bun.password, "verify").mockResolvedValue(false);
    const attempts = Array.from({ length: 110 }, (_, i) =>
      attempt(accounts, { username: `user${i}`, password: "wrong" }, `2001:db8:0:1::${i}`),
    );
    const codes = await Promise.all(attempts);
    verify.mockRestore();
    expect(codes.filter((code) => code === "unauthenticated")).toHaveLength(100);
    expect(codes.filter((code) => code === "throttled")).toHaveLength(10);
  });
});

describe("passwords", () => {
  test("fail alike, after one hash, for wrong, missing and unknown accounts", async () => {
    const { accounts, database } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    await accounts.addUser({ username: "lee" });
    const hashed = spyOn(Bun.password, "verify");
    for (const username of ["kim", "lee", "nobody"]) {
      const problem = await problemOf(() => accounts.signIn({ username, password: "wrong horse" }));
      expect(problem.message).toBe("Unable to log in with provided credentials.");
    }
    const hashes = hashed.mock.calls.map(([, hash]) => String(hash));
    hashed.mockRestore();
    const stored = database
      .query("SELECT password_hash AS hash FROM user_account WHERE username = 'kim'")
      .get();
    expect(hashes[0]).toBe((stored as { hash: string }).hash);
    for (const hash of hashes)
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{43}\$[A-Za-z0-9+/]{43}$/);
  });

  test("are hashed two at a time, with at most 200 waiting", async () => {
    const passwords = new Passwords(2);
    let running = 0;
    let most = 0;
    const watch = spyOn(Bun.password, "verify").mockImplementation(async (password) => {
      most = Math.max(most, ++running);
      await Bun.sleep(1);
      running--;
      return password === "right one";
    });
    const verify = (password: string) => passwords.verify(password, "$hash");
    const answers = await Promise.all(
      ["right one", "wrong one", "right one", "", "x".repeat(1025)].map(verify),
    );
    const crowd = await Promise.allSettled(Array.from({ length: 210 }, () => verify("x")));
    watch.mockRestore();
    expect([most, running, answers]).toEqual([2, 0, [true, false, true, false, false]]);
    const refused = crowd.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array<string>(8).fill("busy"));
  });
});

describe("a directory", () => {
  async function opened() {
    const { accounts, clock } = openAccounts();
    const kim = await accounts.addUser({ username: "kim" });
    await accounts.addUser({ username: "lee", password: PASSWORD });
    const directory = directoryOf(kim, "kim");
    accounts.signIns.externalPasswords = directory;
    return { accounts, clock, directory };
  }

  test("is asked for passwords that are not local, and named in the audit log", async () => {
    const { accounts, directory } = await opened();
    expect(await attempt(accounts, { username: "lee", password: PASSWORD })).toBe("ok");
    expect(directory.asked).toEqual([]);
    // A local name takes as long to refuse as an unknown one.
    for (const username of ["lee", "nobody"])
      expect(await attempt(accounts, { username, password: "wrong" })).toBe("unauthenticated");
    expect(directory.asked).toEqual(["lee", "nobody"]);
    expect(await attempt(accounts, { username: "KIM", password: "theirs" })).toBe("ok");
    expect(await attempt(accounts, { username: "kim", password: "wrong" })).toBe("unauthenticated");
    const [refused, signedIn] = accounts.audit.log.latest({ action: "sign_in" }, 2);
    expect(signedIn.detail).toEqual({ by: "ldap", method: "token-auth", username: "kim" });
    expect(refused.outcome).toBe("refused");
  });

  test("that is unavailable costs no attempt; names that differ in case are throttled together", async () => {
    const { accounts, directory } = await opened();
    directory.isAway = true;
    for (let i = 0; i < 12; i++)
      expect(await attempt(accounts, { username: "kim", password: "theirs" })).toBe("identity_unavailable");
    directory.isAway = false;
    for (let i = 0; i < 10; i++) {
      const username = ["kim", "Kim", "KIM"][i % 3];
      expect(await attempt(accounts, { username, password: "wrong" })).toBe("unauthenticated");
    }
    expect(await attempt(accounts, { username: "kIM", password: "theirs" })).toBe("throttled");
  });

  test("is asked again for Basic after five minutes, or if the account is unlinked", async () => {
    const { accounts, clock, directory } = await opened();
    const asked = async () => {
      expect(await callerOf(accounts, basicHeader("kim:theirs"))).toBe("kim");
      return directory.asked.length;
    };
    expect([await asked(), await asked()]).toEqual([1, 1]);
    directory.isLinked = false;
    expect(await asked()).toBe(2);
    directory.isLinked = true;
    clock.at += 5 * MINUTE;
    expect(await asked()).toBe(3);
  });

  test("is not asked when the local password is about to be changed", async () => {
    const { accounts, directory } = await opened();
    expect(await accounts.passwordError("kim", "theirs")).toContain("no local password");
    expect(await accounts.passwordError("lee", "theirs")).toBe("This is not the password of the account.");
    expect(await accounts.passwordError("lee", PASSWORD)).toBeUndefined();
    expect(directory.asked).toEqual([]);
  });
});
