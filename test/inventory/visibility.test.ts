import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";
import { type Random, seeded } from "./random.ts";
import { EMPTY } from "./sample.ts";
import {
  changed,
  HIDDEN,
  HIDDEN_PARTS,
  note,
  shared,
  type Caller,
  type Equipment,
  expectedList,
  expectedSearch,
  FIELDS,
  foundIn,
  type Grant,
  type Location,
  may,
  OPERATORS,
  ORDERINGS,
  type Person,
  type Place,
  statusFor,
  type Thing,
  views,
} from "./visibility-rules.ts";

/**
 * Random users, groups, memberships, rights, records and requests. Every answer equals that of a plain model of the
 * rules, and a hidden record cannot be told from one that does not exist.
 */

const GROUPS = ["G1", "G2", "G3", "G4"];

let lab: Lab;
const random: Random = seeded(20260);
const people: Person[] = [];
const places: Place[] = [];
const equipment: Equipment[] = [];
const locations: Location[] = [];
const ADDRESS = "1";

const send = async (method: string, path: string, body: unknown, as = "admin") => {
  const answer = await lab.ask(method, path, { as, body });
  expect({ path, status: answer.status, text: answer.status < 300 ? "" : answer.text }).toMatchObject({
    text: "",
  });
  return answer.body;
};

async function make<T extends object>(segment: string, fields: T, shown: object): Promise<T & Thing> {
  const owner = random.pick(people).username;
  const group = random.pick(GROUPS);
  const isPublic = random.chance(0.15);
  const body = { ...fields, ...shown, owner, owned_by: group, public: isPublic };
  const { id } = await send("POST", `${segment}/`, body);
  const rights = { users: new Map(), groups: new Map() };
  const made = { ...fields, ...rights, id: String(id), owner, group, public: isPublic };
  note(changed, made.id, made);
  return made;
}

const maybe = <T>(of: readonly T[]): T | null => (random.chance(0.25) ? null : random.pick(of));

async function share(segment: string, thing: Thing): Promise<void> {
  const grant = (): Grant => {
    const [change, remove] = [random.chance(0.4), random.chance(0.3)];
    return { change, delete: remove, view: change || remove || random.chance(0.8) };
  };
  for (const { username } of people) if (random.chance(0.08)) thing.users.set(username, grant());
  for (const group of GROUPS) if (random.chance(0.08)) thing.groups.set(group, grant());
  await send("PUT", `${segment}/${thing.id}/permissions/`, {
    users: [...thing.users].map(([user, rights]) => Object.assign({ user }, rights)),
    groups: [...thing.groups].map(([group, rights]) => Object.assign({ group }, rights)),
  });
  note(shared, thing.id, thing);
}

async function addPeople(): Promise<void> {
  for (const name of GROUPS) await send("POST", "groups/", { name });
  for (let i = 0; i < 8; i++) {
    const own = random.pick(GROUPS);
    const groups = new Set([own, ...GROUPS.filter(() => random.chance(0.2))]);
    const person = { username: `user${i}`, superuser: i === 7, groups };
    await send("POST", "users/", {
      username: person.username,
      primary_group: own,
      groups: [...groups],
      is_superuser: person.superuser,
    });
    lab.tokens[person.username] = lab.accounts.addToken(person.username, "test");
    people.push(person);
  }
}

async function addRecords(): Promise<void> {
  for (let i = 0; i < 12; i++) places.push(await make("places", { room: `R${i % 5}` }, { address: ADDRESS }));
  for (let i = 0; i < 10; i++) {
    const place = maybe(places);
    equipment.push(await make("equipment", { name: `E${i % 4}`, place }, { place: place?.id ?? null }));
  }
  for (let i = 0; i < 60; i++) {
    const [place, unit] = [maybe(places), maybe(equipment)];
    const fields = { label: `L${i % 6}`, barcode: `B${i % 9}`, place, equipment: unit };
    locations.push(
      await make("locations", fields, { place: place?.id ?? null, equipment: unit?.id ?? null }),
    );
  }
}

beforeAll(async () => {
  lab = await openLab({ sample: EMPTY });
  await addPeople();
  await addRecords();
  for (const thing of places) await share("places", thing);
  for (const thing of equipment) await share("equipment", thing);
  for (const thing of locations) await share("locations", thing);
  for (const thing of locations.filter(() => random.chance(0.4))) await remark(thing);
});
afterAll(() => lab.database.close());

/** Notes and files by id, with the location that they are on. */
const parts = new Map<string, { segment: string; on: Location }>();
/** A note or a file on a location, as it is or written again, or deleted. */
async function remark(on: Location): Promise<void> {
  const file = random.chance(0.4);
  const of = `app=stocks&model=location&object_id=${on.id}`;
  const made = file
    ? JSON.parse(
        new TextDecoder().decode(
          (await lab.bytes("POST", `attachments/?${of}`, { as: "admin", body: `${random.below(9)}` })).bytes,
        ),
      )
    : await send("POST", `locations/${on.id}/notes/`, { content: `secret ${random.below(9)}` });
  parts.set(String(made.id), { segment: file ? "attachments" : "notes", on });
  note(changed, String(made.id), on);
  const path = file ? `attachments/${made.id}/` : `locations/${on.id}/notes/${made.id}/`;
  if (random.chance(0.4)) await send("PATCH", path, file ? { name: "x" } : { content: "another secret" });
  if (random.chance(0.3)) await send("DELETE", path, undefined);
}

interface Asked {
  expression: Json;
  holds: (who: Caller, of: Location) => boolean;
}

function ask(depth: number): Asked {
  const kind = depth === 0 ? 0 : random.below(6);
  if (kind === 3) {
    const part = ask(depth - 1);
    return { expression: { not: part.expression }, holds: (who, of) => !part.holds(who, of) };
  }
  if (kind > 3) {
    const parts = Array.from({ length: 1 + random.below(3) }, () => ask(depth - 1));
    const expressions = parts.map(({ expression }) => expression);
    return kind === 4
      ? { expression: { and: expressions }, holds: (who, of) => parts.every((part) => part.holds(who, of)) }
      : { expression: { or: expressions }, holds: (who, of) => parts.some((part) => part.holds(who, of)) };
  }
  if (random.chance(0.1)) {
    // Ids of references are shown to everyone.
    const wanted = random.pick(places).id;
    const expression = { category: "place", operator: "==", value: wanted };
    return { expression, holds: (_, of) => of.place?.id === wanted };
  }
  const category = random.pick(Object.keys(FIELDS));
  const operator = random.pick(Object.keys(OPERATORS));
  const beginnings = { owner: "user", owned_by: "G", label: "L", barcode: "B", room: "R" };
  const last = category.split("__").pop() as keyof typeof beginnings;
  const value = `${beginnings[last] ?? "E"}${random.below(6)}`;
  return {
    expression: { category, operator, value },
    holds: (who, of) => {
      const stored = FIELDS[category](who, of);
      return stored !== null && OPERATORS[operator](stored, value);
    },
  };
}

const as = (who: Caller) => (who ? { as: who.username } : {});
const callers = (): Caller[] => [null, ...people];

async function checkLists(who: Caller): Promise<number> {
  const asked = ask(3);
  const ordering = random.pick(ORDERINGS);
  const right = random.pick(["", "", "change", "delete"] as const);
  const wanted = random.chance(0.5);
  const found = expectedList(
    locations,
    who,
    (of) => asked.holds(who, of) && (right === "" || may(who, of, right) === wanted),
    ordering,
  );
  const parameters = new URLSearchParams({ query_expression: JSON.stringify(asked.expression), ordering });
  if (right !== "") parameters.set(`can_${right}`, String(wanted));
  // The clock stands still: the past is the present, read by other statements.
  if (random.chance(0.12)) parameters.set("as_of", "2026-01-01T00:00:00Z");
  const query = parameters.toString();
  const get = async (more: string) => {
    const answer = await lab.ask("GET", `locations/?${query}&${more}`, as(who));
    expect({ query, more, status: answer.status }).toEqual({ query, more, status: 200 });
    return answer;
  };

  const fields = "id,label,place,place__room,equipment__place__room,permissions";
  const { body } = await get(`page_size=max&fields=${fields}`);
  expect({ query, total: body.total, results: body.results }).toEqual({
    query,
    total: found.length,
    results: found.map((of) => {
      const [change, remove] = [may(who, of, "change"), may(who, of, "delete")];
      return {
        id: of.id,
        label: of.label,
        place: of.place?.id ?? null,
        permissions: { public: of.public, actions: change || remove ? { change, delete: remove } : {} },
        place__room: FIELDS.place__room(who, of),
        equipment__place__room: FIELDS.equipment__place__room(who, of),
      };
    }),
  });
  const size = 1 + random.below(7);
  const page = 1 + random.below(Math.max(1, Math.ceil(found.length / size)));
  const part = (await get(`page_size=${size}&page=${page}&fields=id`)).body;
  expect([part.total, part.results]).toEqual([
    found.length,
    found.slice((page - 1) * size, page * size).map(({ id }) => ({ id })),
  ]);
  const csv = (await get("format=csv&page_size=max&fields=label,place__room")).text
    .replace(/^\ufeff/, "")
    .trimEnd();
  expect(csv.split(/\r?\n/).slice(1)).toEqual(
    found.map((of) => `${of.label},${FIELDS.place__room(who, of) ?? ""}`),
  );
  const nested = (await get("response_format=nested&page_size=max&fields=place,equipment")).body.results;
  type Property = { value: { id: string; name: string | null } | null };
  const told = (nested as unknown as { place: Property; equipment: Property }[]).map((record) =>
    [record.place.value, record.equipment.value].map((value) => value && [value.id, value.name]),
  );
  const named = (of: Thing | null, name: string | null) => of && [of.id, name];
  expect(told).toEqual(
    found.map((of) => [
      named(of.place, FIELDS.place__room(who, of)),
      named(of.equipment, FIELDS.equipment(who, of)),
    ]),
  );
  return found.length;
}

/** Requests that every round repeats: an outdated answer must not come from a cache. */
async function checkRepeated(who: Caller): Promise<void> {
  const seen = locations.filter((of) => views(who, of));
  const path = "locations/?page_size=max&fields=id,public,permissions,owner";
  const { body } = await lab.ask("GET", path, as(who));
  const told = new Map((body.results as { id: string }[]).map((record) => [record.id, record]));
  expect([body.total, told.size]).toEqual([seen.length, seen.length]);
  for (const of of seen) {
    const [change, remove] = [may(who, of, "change"), may(who, of, "delete")];
    const actions = change || remove ? { change, delete: remove } : {};
    const { id, owner, public: open } = of;
    expect(told.get(id) as object).toEqual({
      id,
      public: open,
      permissions: { public: open, actions },
      owner,
    });
  }
  for (const right of ["change", "delete"] as const) {
    const { body } = await lab.ask("GET", `locations/?page_size=1&can_${right}=true`, as(who));
    expect(body.total).toBe(seen.filter((of) => may(who, of, right)).length);
  }
}

const NOWHERE = "00000000-0000-4000-8000-ffffffffffff";
/** The request with `ID` replaced is refused for a hidden record exactly as for one that does not exist. */
async function alike(who: Caller, id: string, method: string, path: string, body?: unknown) {
  const [hidden, absent] = await Promise.all(
    [id, NOWHERE].map(async (one) => {
      const sent = body === undefined ? undefined : JSON.stringify(body).replaceAll("ID", one);
      const to = path.replaceAll("ID", one);
      const { status, text } = await lab.ask(method, to, { ...as(who), body: sent });
      expect([method, to, status >= 400 || to.startsWith("resolver")]).toEqual([method, to, true]);
      return [status, text.replaceAll(one, "ID")];
    }),
  );
  expect(hidden).toEqual(absent);
}

/** A location is as visible as the rules say; a hidden one looks like one that does not exist. */
async function checkLocation(who: Caller, of: Location): Promise<void> {
  const path = `locations/${of.id}/`;
  const seen = views(who, of);
  expect((await lab.ask("GET", path, as(who))).status).toBe(seen ? 200 : 404);
  const shared = await lab.ask("GET", `${path}permissions/`, as(who));
  expect(shared.status).toBe(statusFor(who, of));
  if (shared.status === 200) {
    const viewers = [...of.users].flatMap(([username, { view }]) => (view ? [username] : []));
    const told = (shared.body.users as { username: string }[]).map(({ username }) => username);
    expect(told.sort()).toEqual(viewers.sort());
  }
  if (seen) {
    const { status } = await lab.ask("PATCH", path, { ...as(who), body: {} });
    expect(status).toBe(statusFor(who, of));
    if (status === 200) note(changed, of.id, of);
    return;
  }
  for (const request of HIDDEN) await alike(who, of.id, ...request);
  for (const [part, { segment, on }] of parts) {
    if (on !== of) continue;
    const list = segment === "notes" ? `locations/${of.id}/notes/` : "attachments/";
    for (const [method, more] of HIDDEN_PARTS) await alike(who, part, method, `${list}ID/${more}`);
  }
}

/** A reference to a hidden record fails as one to a record that does not exist, by id and by name. */
async function checkReferences(who: Caller): Promise<void> {
  for (const place of places.filter((of) => !views(who, of))) {
    await alike(who, place.id, "POST", "locations/", { label: "x", place: "ID" });
    const own = locations.find((of) => may(who, of, "change") && of.place !== place);
    if (own) await alike(who, place.id, "PATCH", `locations/${own.id}/`, { place: { id: "ID" } });
    if (who && !places.some((of) => of.room === place.room && views(who, of))) {
      const body = { label: "x", place: place.room };
      const refused = await lab.ask("POST", "locations/", { ...as(who), body });
      const error = `Object with name="${place.room}" does not exist.`;
      expect([refused.status, refused.body.place]).toEqual([400, [error]]);
    }
  }
}

/** The feed of changes shows visible records only. */
async function checkFeed(who: Person): Promise<void> {
  const { status, body } = await lab.ask("GET", "changes/?page_size=max", as(who));
  expect(status).toBe(200);
  const all = [...places, ...equipment, ...locations];
  const told = new Set((body.results as { id: Json }[]).map(({ id }) => String(id)));
  // Changes are shown to those who may view the record and could view it when it was changed.
  const couldView = (states: readonly Thing[]) => states.some((state) => views(who, state));
  for (const thing of all) {
    const seen = views(who, thing) && couldView(changed.get(thing.id)!);
    expect([thing.id, told.has(thing.id)]).toEqual([thing.id, seen]);
  }
  type Change = { resource: string; id: Json; of: { id: string } | null; batch: string; at: string };
  const changes = body.results as unknown as Change[];
  // Sub-resources are visible with their record; rights, to those who may change the record.
  for (const [id, { segment, on }] of parts) {
    const seen = views(who, on) && couldView(changed.get(id)!);
    expect([segment, id, told.has(id)]).toEqual([segment, id, seen]);
  }
  const byId = new Map(all.map((thing) => [thing.id, thing as Thing]));
  const sharedWith = new Set<string>();
  for (const { resource, of } of changes) {
    if (resource !== "permissions") continue;
    expect(may(who, byId.get(of!.id)!, "change") && views(who, byId.get(of!.id)!)).toBeTrue();
    sharedWith.add(of!.id);
  }
  for (const thing of all)
    if (
      thing.users.size + thing.groups.size > 0 &&
      may(who, thing, "change") &&
      views(who, thing) &&
      couldView(shared.get(thing.id)!)
    )
      expect([...thing.users.values(), ...thing.groups.values()].every(({ view }) => !view)).toBe(
        !sharedWith.has(thing.id),
      );
  // Batches count only the changes in the feed, without what migrations wrote, which has no time.
  const { results } = (await lab.ask("GET", "batches/?page_size=max", as(who))).body;
  const counted = (results as unknown as { id: string; changes: Record<string, number> }[]).flatMap(
    ({ id, changes }) => Object.entries(changes).map(([segment, count]) => `${id} ${segment} ${count}`),
  );
  const seen = new Map<string, number>();
  for (const { batch, resource } of changes.filter(({ at }) => !at.startsWith("1970")))
    seen.set(`${batch} ${resource}`, (seen.get(`${batch} ${resource}`) ?? 0) + 1);
  expect(counted.sort()).toEqual([...seen].map(([key, count]) => `${key} ${count}`).sort());
}

/** Changes memberships, rights, owners and the public flag of some records. */
async function shuffle(): Promise<void> {
  for (const person of people.filter(({ superuser }) => !superuser && random.chance(0.5))) {
    const group = random.pick(GROUPS);
    const path = `groups/${group}/members/${person.username}/`;
    if (!person.groups.has(group)) {
      await send("PUT", path, {});
      person.groups.add(group);
    } else if ((await lab.ask("DELETE", path, { as: "admin" })).status === 204) person.groups.delete(group);
  }
  for (const [segment, things] of [
    ["places", places],
    ["equipment", equipment],
    ["locations", locations],
  ] as const)
    for (const thing of things as Thing[]) {
      if (random.chance(0.15)) {
        thing.users.clear();
        thing.groups.clear();
        await share(segment, thing);
      }
      if (random.chance(0.1)) {
        thing.public = !thing.public;
        await send("PATCH", `${segment}/${thing.id}/`, { public: thing.public });
        note(changed, thing.id, thing);
      }
      if (random.chance(0.1)) {
        thing.owner = random.pick(people).username;
        thing.group = random.pick(GROUPS);
        await send("PATCH", `${segment}/${thing.id}/`, { owner: thing.owner, owned_by: thing.group });
        note(changed, thing.id, thing);
      }
    }
}

/** Its own numbers, so that the other requests stay the same. */
const searched: Random = seeded(17);

async function checkSearch(who: Caller): Promise<void> {
  const q = searched.pick(locations).label;
  const { body } = await lab.ask("GET", `search/?q=${q}&list=locations&limit=500`, as(who));
  expect({ who, q, found: foundIn(body) }).toEqual({ who, q, found: expectedSearch(locations, who, q) });
}

test("every caller sees exactly the records that the rules allow, after every change", async () => {
  let [some, none] = [0, 0];
  for (let round = 0; round < 2; round++) {
    for (const who of callers()) {
      for (let i = 0; i < 5; i++) {
        if ((await checkLists(who)) > 0) some++;
        else none++;
      }
      await checkRepeated(who);
      for (const of of locations.filter(() => random.chance(0.15))) await checkLocation(who, of);
      await checkReferences(who);
      await checkSearch(who);
      if (who) await checkFeed(who);
    }
    await shuffle();
  }
  // Most requests find something, and the callers differ.
  expect(some).toBeGreaterThan(40);
  expect(none).toBeGreaterThan(10);
  const sizes = callers().map((who) => locations.filter((of) => views(who, of)).length);
  expect(new Set(sizes).size).toBeGreaterThan(4);
}, 300_000);
