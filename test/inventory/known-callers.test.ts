import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** A caller that is remembered is forgotten when anything about it changes. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const secret = async (as: string): Promise<number> => {
  // Twice: the second answer is of a caller that is known.
  await lab.ask("GET", `locations/${IDS.secret}/`, { as });
  return (await lab.ask("GET", `locations/${IDS.secret}/`, { as })).status;
};

test("leaving and entering a group counts at once", async () => {
  const alice = lab.accounts.userId("alice");
  const group = lab.accounts.addGroup("Genomics");
  expect(await secret("alice")).toBe(200);
  lab.database.query("DELETE FROM membership WHERE user_rid = ? AND group_rid = ?").run(alice, group);
  expect((await lab.ask("GET", `locations/${IDS.secret}/`, { as: "alice" })).status).toBe(404);
  lab.database.query("INSERT INTO membership (user_rid, group_rid) VALUES (?, ?)").run(alice, group);
  expect((await lab.ask("GET", `locations/${IDS.secret}/`, { as: "alice" })).status).toBe(200);
});

test("a disabled account, a revoked token and one that ran out are refused at once", async () => {
  const bob = lab.accounts.userId("bob");
  expect(await secret("bob")).toBe(404);
  lab.accounts.setActive(bob, false);
  expect((await lab.ask("GET", "locations/", { as: "bob" })).status).toBe(401);
  lab.accounts.setActive(bob, true);
  lab.tokens.bob = lab.accounts.addToken("bob", "short", lab.clock.now() + 60_000);
  expect(await secret("bob")).toBe(404);
  lab.clock.set(lab.clock.now() + 61_000);
  expect((await lab.ask("GET", "locations/", { as: "bob" })).status).toBe(401);
  lab.tokens.bob = lab.accounts.addToken("bob", "other");
  expect(await secret("bob")).toBe(404);
  lab.database.query("UPDATE api_token SET revoked = 1 WHERE user_rid = ?").run(bob);
  expect((await lab.ask("GET", "locations/", { as: "bob" })).status).toBe(401);
});

test("a token that may only read is refused for writing, however often it has read", async () => {
  lab.tokens.reader = lab.accounts.addToken("alice", "reader", null, "read");
  expect(await secret("reader")).toBe(200);
  const body = { label: "x" };
  expect((await lab.ask("POST", "locations/", { as: "reader", body })).status).toBe(403);
});
