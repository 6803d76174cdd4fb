import { describe, expect, test } from "bun:test";
import {
  identifyCaller,
  cookieHeader,
  MINUTE,
  openAccounts,
  PASSWORD,
  catchProblem,
  request,
} from "./stage.ts";

describe("sessions", () => {
  test("a session is a cookie; unsafe requests need the CSRF token or an Origin of this site", async () => {
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
      expect([headers, method, await identifyCaller(accounts, { ...cookie, ...headers }, method)]).toEqual([
        headers,
        method,
        caller,
      ]);
    // A new session replaces that of the request.
    const again = await accounts.openSession(credentials, request(cookie));
    expect(await identifyCaller(accounts, cookie)).toBeNull();
    const headers = { cookie: `a=b; ${cookieHeader(again).cookie}` };
    expect(await identifyCaller(accounts, headers)).toBe("kim");
    expect(accounts.sessions.close(request(headers))).toContain("labd_session=; Path=/; Max-Age=0");
    expect(await identifyCaller(accounts, headers)).toBeNull();
    const foreign = request({ origin: "http://evil" });
    expect((await catchProblem(() => accounts.openSession(credentials, foreign))).code).toBe("forbidden");
  });

  test.each([
    [1, 1, 0],
    [336, 336, 5],
    [337, 336, 5],
    [10_000, 336, 1e15],
    [undefined, 336, undefined],
  ])("a session that a provider confirms for %p hours lasts %p", async (hours, lasts, confirmed) => {
    const { accounts, clock } = openAccounts();
    const kim = await accounts.addUser({ username: "kim" });
    const provider = hours === undefined ? undefined : { hours, session: null, confirmed: confirmed! };
    const { session, cookie } = accounts.sessions.open(kim, request(), provider);
    expect(session.expires - clock.at).toBe(lasts * 60 * MINUTE);
    expect(cookie).toContain(`; Max-Age=${lasts * 3600};`);
    // Nobody has authenticated in the future.
    expect(session.confirmedAt).toBe(Math.min(clock.at, confirmed ?? Infinity));
    expect(session.external).toBe(provider !== undefined);
  });

  test("sessions end after 14 days, inactivity, disabling, and a new password", async () => {
    const { accounts, clock } = openAccounts({ sessionIdleMinutes: 12 * 60 });
    await accounts.addUser({ username: "root", superuser: true });
    const kim = await accounts.addUser({ username: "kim" });
    const open = () => {
      const opened = accounts.sessions.open(kim, request());
      return () => identifyCaller(accounts, cookieHeader(opened));
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
  ])("the cookie with %j and %j at %s looks like %p", async (options, headers, url, expected) => {
    const { accounts } = openAccounts(options);
    const kim = await accounts.addUser({ username: "kim" });
    expect(accounts.sessions.open(kim, request(headers, "GET", url)).cookie).toMatch(expected);
  });

  test("sessions over https ignore a cookie that another host could have set", async () => {
    const { accounts } = openAccounts();
    const kim = await accounts.addUser({ username: "kim" });
    const at = (cookie = "") => request({ cookie }, "GET", "https://lab/");
    const own = cookieHeader(accounts.sessions.open(kim, at())).cookie;
    const tossed = own.replace("__Host-", "");
    expect(accounts.sessions.find(at(tossed))).toBeUndefined();
    expect(accounts.sessions.find(at(`${tossed.slice(0, -3)}AAA; ${own}`))?.user).toBe(kim);
  });
});
