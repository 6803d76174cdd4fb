import { afterAll, beforeEach, expect, test } from "bun:test";
import { MIGRATIONS } from "../../db/index.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";

/** Links that are good for one use, by a clock of our own. */

const HOUR = 3_600_000;
let now = 0;
let ids = 0;
const clock = { now: () => now, newId: () => `00000000-0000-4000-9000-${String(++ids).padStart(12, "0")}` };
const database = openDatabase(":memory:", MIGRATIONS);
const accounts = new Accounts(database, clock);
const { links } = accounts;
afterAll(() => database.close());
beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
});

test("a key is good until its time, and what is kept does not open anything", () => {
  const { key, expires } = links.make(null, 24);
  expect(expires).toBe(now + 24 * HOUR);
  const [{ sha256 }] = database.query("SELECT sha256 FROM one_time_link").all() as { sha256: string }[];
  expect(sha256).not.toContain(key);
  expect(links.find(sha256)).toBeUndefined();
  expect(links.find(`${key} `)).toBeUndefined();
  now = expires - 1;
  expect(links.find(key)).toEqual({ user: null, expires });
  now = expires;
  expect(links.find(key)).toBeUndefined();
});

test("a new one takes the place of the one before for the same, and of no other", async () => {
  const user = await accounts.addUser({ username: "kim" });
  const [setUp, first, second] = [links.make(null, 1), links.make(user, 1), links.make(user, 1)];
  expect([setUp, first, second].map(({ key }) => links.find(key)?.user)).toEqual([null, undefined, user]);
  await expect(accounts.setUp(second.key, { username: "eve", password: "a long password" })).rejects.toThrow(
    "has been used or has expired",
  );
  await expect(accounts.setPasswordByLink(setUp.key, "a long password")).rejects.toThrow(
    "has been used or has expired",
  );
  expect(await accounts.setPasswordByLink(second.key, "a long password")).toBe(user);
  expect(links.find(second.key)).toBeUndefined();
  expect(await accounts.signIns.verify({ username: "kim", password: "a long password" }, "check")).toBe(user);
});

test("a refused password does not use a key up; an administrator from elsewhere does", async () => {
  const { key } = links.make(null, 1);
  const wanted = { username: "ada", password: "short" };
  await expect(accounts.setUp(key, wanted)).rejects.toThrow("at least 8");
  expect(links.find(key)?.user).toBeNull();
  await accounts.addUser({ username: "root", superuser: true });
  await expect(accounts.setUp(key, { ...wanted, password: "a long password" })).rejects.toThrow(
    "has been used or has expired",
  );
});
