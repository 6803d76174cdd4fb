import { expect, test } from "bun:test";
import { makeOwnership, requireOwner } from "../../src/accounts/owner.ts";
import type { Actor } from "../../src/platform/actor.ts";
import { RequestContext, runInRequest } from "../../src/platform/request-context.ts";
import { sha256 } from "../../src/platform/secret.ts";

/** Accounts by the text of Authorization; a session that has ended throws. */
const ownership = makeOwnership({
  authenticate(request) {
    const username = request.headers.get("authorization");
    if (username === "ended") throw new Error("the session has ended");
    return { username, superuser: username === "admin" } as Actor;
  },
});
const SECRET = "s".repeat(20);
const OTHER = "o".repeat(255);
const ask = (headers: Record<string, string>) => new Request("http://lab/", { headers });
const cookie = (value: string) => ({ cookie: `labd_owner=${value}` });

test.each<[headers: Record<string, string>, keys: string[], administrator: boolean]>([
  [{}, [], false],
  [{ authorization: "ada" }, ["user ada"], false],
  [{ authorization: "admin" }, ["user admin"], true],
  [{ authorization: "ended" }, [], false],
  [{ authorization: "ada", "owner-key": SECRET }, ["user ada", sha256(SECRET)], false],
  [{ "owner-key": OTHER }, [sha256(OTHER)], false],
  [cookie(SECRET), [sha256(SECRET)], false],
  [{ ...cookie(SECRET), "owner-key": OTHER }, [sha256(OTHER)], false],
  [cookie("short"), [], false],
])("a request with %p has the keys %p; administrator: %p", (headers, keys, isAdministrator) => {
  expect(ownership.identify(ask(headers))).toEqual({ keys, isAdministrator });
});

test.each<[headers: Record<string, string>, key: string | null]>([
  [{ authorization: "ada" }, null],
  [{ authorization: "ada", "owner-key": SECRET }, null],
  [{ "owner-key": SECRET }, sha256(SECRET)],
])("what a request with %p starts belongs to %p, without a cookie", (headers, key) => {
  for (const setsCookie of [true, false])
    expect(ownership.claim(ask(headers), setsCookie)).toEqual({ key, headers: {} });
});

test("nobody owns what a request without a secret starts if the response has no cookies", () => {
  const claims = [1, 2].map(() => ownership.claim(ask({}), false));
  const keys = claims.map(({ key }) => key);
  expect(keys).toEqual([expect.stringMatching(/^nobody /), expect.stringMatching(/^nobody /)]);
  expect(keys[0]! < keys[1]!).toBe(true);
  expect(claims.map(({ headers }) => headers)).toEqual([{}, {}]);
});

test("a browser keeps its secret, and gets one where it has none", () => {
  const claim = (headers: Record<string, string>) => {
    const request = ask(headers);
    return runInRequest(new RequestContext(request, "test"), () => ownership.claim(request));
  };
  const kept = claim(cookie(SECRET));
  expect(kept.key).toBe(sha256(SECRET));
  expect(kept.headers["Set-Cookie"]).toContain(`labd_owner=${SECRET}; `);
  expect(kept.headers["Set-Cookie"]).toContain("Max-Age=34560000; HttpOnly; SameSite=Strict");
  const fresh = claim({});
  const [, secret] = /^labd_owner=([\w-]{43});/.exec(fresh.headers["Set-Cookie"])!;
  expect(fresh.key).toBe(sha256(secret));
});

test.each(["s".repeat(19), "s".repeat(256), `${SECRET} x`])("refuses the Owner-Key %p", (key) => {
  for (const use of [ownership.identify, ownership.claim])
    expect(() => use(ask({ "owner-key": key }))).toThrow("Owner-Key: expected 20 to 255 printable");
});

test.each([
  [["user ada"], false, true],
  [["user bob", "user ada"], false, true],
  [["user bob"], false, false],
  [[], false, false],
  [[], true, true],
])("with the keys %p (administrator: %p) may change what ada owns: %p", (keys, isAdministrator, may) => {
  const act = () => requireOwner({ keys, isAdministrator }, "user ada", "job");
  if (may) act();
  else expect(act).toThrow("Only the owner may change this job");
});
