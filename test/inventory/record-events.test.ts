import { afterAll, beforeAll, expect, test } from "bun:test";
import { recordEvents } from "../../src/inventory/index.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Changes as webhooks receive them. */

let lab: Lab;
let events: ReturnType<typeof recordEvents>;
let start: number;
const findActor = (name: string) =>
  lab.accounts.authenticate(
    new Request("http://lab/", { headers: { Authorization: `Token ${lab.tokens[name]}` } }),
  );
beforeAll(async () => {
  lab = await openLab();
  events = recordEvents(lab.database, lab.clock, "https://lab.example");
  start = events.last();
  await lab.send("admin", "PATCH", `locations/${IDS.bench}/`, { description: "x" });
  await lab.send("admin", "POST", `locations/${IDS.bench}/notes/`, { content: "y" });
  await lab.send("admin", "PATCH", `locations/${IDS.secret}/`, { description: "z" });
  const { body } = await lab.send("admin", "POST", "places/", { room: "9", address: 1, public: true });
  await lab.send("admin", "DELETE", `places/${String(body.id)}/`);
  await lab.send("admin", "POST", `places/${String(body.id)}/restore/`, {});
});
afterAll(() => lab.database.close());

const ALL = { resource: null, expression: null };
const labelled = (value: string) => JSON.stringify({ category: "label", operator: "startswith", value });

test.each([
  [
    "admin",
    ALL,
    [
      "updated locations",
      "created notes",
      "updated locations",
      "created places",
      "deleted places",
      "restored places",
    ],
  ],
  ["bob", ALL, ["updated locations", "created notes", "created places", "deleted places", "restored places"]],
  ["bob", { resource: "locations", expression: null }, ["updated locations"]],
  ["bob", { resource: "notes", expression: null }, ["created notes"]],
  ["bob", { resource: "locations", expression: labelled("Bench") }, ["updated locations"]],
  ["bob", { resource: "locations", expression: labelled("Shelf") }, []],
  ["bob", { resource: "equipment", expression: null }, []],
])("%s receives from %j the events %j", (name, filter, expected) => {
  const found = events.since(start, findActor(name), filter, 100);
  const shown = found.events.map(
    ({ event, data }) => `${event.slice("record.".length)} ${String(data.resource)}`,
  );
  expect(shown).toEqual(expected);
  expect(found.cursor).toBe(events.last());
  for (const { seq } of found.events) {
    expect(events.matches(seq, findActor(name), filter)).toBe(true);
    expect(events.matches(seq, findActor(name), { resource: "equipment", expression: null })).toBe(false);
  }
});

test("an event contains the record and the address of it or its parent, without values", () => {
  const [changed, note] = events.since(start, findActor("bob"), ALL, 100).events;
  const address = `https://lab.example/api/v2/locations/${IDS.bench}/`;
  expect(changed.data).toMatchObject({ resource: "locations", id: IDS.bench, of: null, address, version: 2 });
  expect(note.data).toMatchObject({ of: { resource: "locations", id: IDS.bench }, address, user: "admin" });
  expect(JSON.stringify([changed, note])).not.toMatch(/"[xy]"/);
});

test("a hidden record matches no filter, and a limit defers the remaining events", () => {
  const secret = events.since(start, findActor("admin"), ALL, 100).events[2];
  expect(secret.data.id).toBe(IDS.secret);
  expect(events.matches(secret.seq, findActor("bob"), ALL)).toBe(false);
  const first = events.since(start, findActor("admin"), ALL, 2);
  expect(first.events).toHaveLength(2);
  const rest = events.since(first.cursor, findActor("admin"), ALL, 100);
  expect(rest.events).toHaveLength(4);
});

test.each([
  [{ resource: "locaitons", expression: null }, "resource: Choices: "],
  [{ resource: null, expression: "{}" }, "query_expression: This field requires a resource."],
  [{ resource: "notes", expression: "{}" }, "query_expression: notes cannot be filtered"],
  [{ resource: "locations", expression: "{" }, "query_expression: "],
])("rejects the filter %j: %s", (filter, text) => {
  expect(() => events.check(filter)).toThrow(text);
});

test("accepts valid filters", () => {
  for (const filter of [ALL, { resource: "locations", expression: labelled("B") }])
    expect(events.check(filter)).toBeUndefined();
});
