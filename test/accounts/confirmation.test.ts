import { describe, expect, test } from "bun:test";
import type { Problem } from "../../src/problem.ts";
import {
  attempt,
  cookieHeader,
  makeDirectory,
  MINUTE,
  openAccounts,
  PASSWORD,
  catchProblem,
  request,
  tokenHeader,
} from "./stage.ts";

async function opened() {
  const stage = openAccounts();
  const { accounts } = stage;
  const kim = await accounts.addUser({ username: "kim", password: PASSWORD });
  const own = request(cookieHeader(accounts.sessions.open(kim, request())));
  /** The outcome of asking for a confirmation. */
  const require = async (password = "", asking = own): Promise<string> => {
    try {
      await accounts.confirmations.require(asking, accounts.authenticate(asking), password);
      return "ok";
    } catch (error) {
      const { code, more, fields } = error as Problem;
      return [code, more.field ?? Object.keys(fields ?? {})[0], more.by].filter(Boolean).join(" ");
    }
  };
  return { ...stage, kim, require };
}
const REQUIRED = "confirmation_required current_password";

describe("confirmation", () => {
  test("a confirmation lasts ten minutes from signing in or entering the password again", async () => {
    const { clock, require } = await opened();
    const start = clock.at;
    clock.at = start + 10 * MINUTE - 1;
    expect(await require()).toBe("ok");
    clock.at = start + 10 * MINUTE;
    expect(await require()).toBe(`${REQUIRED} password`);
    expect(await require("wrong")).toBe("invalid_request current_password");
    expect(await require()).toBe(`${REQUIRED} password`);
    expect(await require(PASSWORD)).toBe("ok");
    clock.at = start + 20 * MINUTE - 1;
    expect(await require()).toBe("ok");
    // The clock was set back.
    clock.at = start;
    expect(await require()).toBe(`${REQUIRED} password`);
  });

  test("tokens need no confirmation; wrong passwords are throttled and recorded", async () => {
    const { accounts, clock, require } = await opened();
    clock.at += 60 * MINUTE;
    expect(await require("", request(tokenHeader(accounts.addToken("kim", "a program"))))).toBe("ok");
    for (let i = 0; i < 10; i++) expect(await require("wrong")).toBe("invalid_request current_password");
    expect(await require(PASSWORD)).toBe("throttled");
    expect(accounts.audit.log.latest({ action: "sign_in" }, 20)).toContainEqual(
      expect.objectContaining({
        outcome: "refused",
        detail: { username: "kim", method: "confirm", active: true },
      }),
    );
  });

  test("confirms with the directory password or a new sign-in at the provider", async () => {
    const { accounts, clock, require } = await opened();
    const lee = await accounts.addUser({ username: "lee" });
    const by = (confirmed: number): Request =>
      request(cookieHeader(accounts.sessions.open(lee, request(), { hours: 8, session: null, confirmed })));
    expect(await require("", by(clock.at))).toBe("ok");
    expect(await require("", by(clock.at + 60 * MINUTE))).toBe("ok");
    expect(await require("", by(clock.at - 10 * MINUTE))).toBe(`${REQUIRED} provider`);
    expect(await require("", by(0))).toBe(`${REQUIRED} provider`);
    expect(await require("something", by(0))).toBe("invalid_request current_password");
    accounts.signIns.externalPasswords = makeDirectory(lee, "lee");
    expect(await require("", by(0))).toBe(`${REQUIRED} password`);
    expect(await require("wrong", by(0))).toBe("invalid_request current_password");
    expect(await require("theirs", by(0))).toBe("ok");
  });
});

describe("one-time links", () => {
  test("one-time links are valid until they expire, and are stored as a hash", () => {
    const { accounts, clock, database } = openAccounts();
    const { links } = accounts;
    const { key, expires } = links.make(null, 24);
    expect(expires).toBe(clock.at + 24 * 60 * MINUTE);
    const [{ sha256 }] = database.query("SELECT sha256 FROM one_time_link").all() as { sha256: string }[];
    for (const wrong of [sha256, `${key} `, key.slice(1)]) expect(links.find(wrong)).toBeUndefined();
    clock.at = expires - 1;
    expect(links.find(key)).toEqual({ user: null, email: null, expires });
    clock.at = expires;
    expect(links.find(key)).toBeUndefined();
  });

  test("a one-time link replaces earlier ones for the same purpose, and can be used once", async () => {
    const { accounts } = openAccounts();
    const { links } = accounts;
    const kim = await accounts.addUser({ username: "kim" });
    const keys = [links.make(null, 1), links.make(kim, 1), links.make(kim, 1)].map(({ key }) => key);
    expect(keys.map((key) => links.find(key)?.user)).toEqual([null, undefined, kim]);
    const codes = [
      (await catchProblem(() => accounts.setUp(keys[2], { username: "eve", password: PASSWORD }))).code,
      (await catchProblem(() => accounts.setPasswordByLink(keys[0], PASSWORD))).code,
      (await catchProblem(() => accounts.setUp(keys[0], { username: "eve", password: "short" }))).code,
    ];
    expect(codes).toEqual(["not_found", "not_found", "invalid_request"]);
    expect(await accounts.setPasswordByLink(keys[2], PASSWORD)).toBe(kim);
    expect(links.find(keys[2])).toBeUndefined();
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe("ok");
    expect(links.find(keys[0])?.user).toBeNull();
    await accounts.addUser({ username: "root", superuser: true });
    const late = await catchProblem(() => accounts.setUp(keys[0], { username: "ada", password: PASSWORD }));
    expect(late.code).toBe("not_found");
  });
});
