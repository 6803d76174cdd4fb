import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";
import { type Random, seeded } from "./random.ts";
import { EMPTY } from "./sample.ts";

/** What each of many users sees, changes and deletes equals what a plain model of the rules says. */

interface Person {
  rid: number;
  username: string;
  superuser: boolean;
  groups: number[];
}
interface Thing {
  rid: number;
  id: string;
  owner: number;
  ownedBy: number;
  isPublic: boolean;
  place: Thing | null;
  label: string;
  grants: { user: number | null; group: number | null; view: boolean; change: boolean; remove: boolean }[];
}

let lab: Lab;
const people: Person[] = [];
const places: Thing[] = [];
const locations: Thing[] = [];

beforeAll(async () => {
  lab = await openLab({ sample: EMPTY });
  const random = seeded(11);
  const groups = ["G1", "G2", "G3"].map((name) => lab.accounts.addGroup(name));
  for (let i = 0; i < 8; i++) {
    const username = `user${i}`;
    const own = random.pick(groups);
    const name = ["G1", "G2", "G3"][groups.indexOf(own)];
    const rid = await lab.accounts.addUser({ username, group: name, superuser: i === 7 });
    const more = groups.filter((group) => group !== own && random.chance(0.3));
    for (const group of more)
      lab.database.query("INSERT INTO membership (user_rid, group_rid) VALUES (?, ?)").run(rid, group);
    people.push({ rid, username, superuser: i === 7, groups: [own, ...more] });
    lab.tokens[username] = lab.accounts.addToken(username, "test");
  }
  for (let i = 0; i < 15; i++) places.push(thing(random, groups, "place", i, null));
  for (let i = 0; i < 120; i++)
    locations.push(thing(random, groups, "location", i, random.chance(0.2) ? null : random.pick(places)));
});
afterAll(() => lab.database.close());

function thing(
  random: Random,
  groups: number[],
  kind: "place" | "location",
  i: number,
  place: Thing | null,
): Thing {
  const made: Thing = {
    rid: i + 1,
    id: `${kind === "place" ? "a" : "b"}0000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
    owner: random.pick(people).rid,
    ownedBy: random.pick(groups),
    isPublic: random.chance(0.25),
    place,
    label: `${kind} ${i % 7}`,
    grants: [],
  };
  const common = [made.owner, made.owner, made.owner, made.ownedBy, made.isPublic ? 1 : 0];
  if (kind === "place")
    lab.database
      .query(
        `INSERT INTO place (rid, id, building, building_fold, room, room_fold, address, created, modified, created_by, modified_by, owner, owned_by, public)
         VALUES (?, ?, '', '', ?, ?, 1, 0, 0, ?, ?, ?, ?, ?)`,
      )
      .run(made.rid, made.id, made.label, made.label, ...common);
  else
    lab.database
      .query(
        `INSERT INTO location (rid, id, label, label_fold, place, created, modified, created_by, modified_by, owner, owned_by, public)
         VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?)`,
      )
      .run(made.rid, made.id, made.label, made.label, place?.rid ?? null, ...common);
  for (const grantee of [
    ...people.map(({ rid }) => ({ user: rid, group: null })),
    ...groups.map((group) => ({ user: null, group })),
  ]) {
    if (!random.chance(0.06)) continue;
    const { user, group } = grantee;
    const grant = {
      user,
      group,
      view: random.chance(0.8),
      change: random.chance(0.4),
      remove: random.chance(0.4),
    };
    made.grants.push(grant);
    lab.database
      .query(
        "INSERT INTO object_permission (object_kind, object_rid, user_rid, group_rid, can_view, can_change, can_delete) VALUES (?, ?, ?, ?, ?, ?, ?)",
      )
      .run(kind, made.rid, user, group, +grant.view, +grant.change, +grant.remove);
  }
  return made;
}

const granted = (person: Person, of: Thing, right: "view" | "change" | "remove"): boolean =>
  of.grants.some(
    (grant) =>
      grant[right] &&
      (grant.user === person.rid || (grant.group !== null && person.groups.includes(grant.group))),
  );
const mayView = (person: Person | null, of: Thing): boolean =>
  of.isPublic ||
  (person !== null &&
    (person.superuser ||
      of.owner === person.rid ||
      person.groups.includes(of.ownedBy) ||
      granted(person, of, "view")));
const mayWrite = (person: Person | null, of: Thing, right: "change" | "remove"): boolean =>
  person !== null && (person.superuser || of.owner === person.rid || granted(person, of, right));

const ids = async (person: Person | null, query: string): Promise<string[]> => {
  const { status, body } = await lab.ask(
    "GET",
    `locations/?page_size=max&ordering=id&fields=id&${query}`,
    person ? { as: person.username } : {},
  );
  expect({ query, status }).toEqual({ query, status: 200 });
  const found = (body.results as { id: string }[]).map(({ id }) => id);
  expect(body.total).toBe(found.length);
  return found;
};
const callers = (): (Person | null)[] => [null, ...people];

test("lists and counts show what may be viewed, and rights filters what may be written", async () => {
  for (const person of callers()) {
    const seen = locations.filter((location) => mayView(person, location));
    const idsOf = (things: Thing[]) => things.map(({ id }) => id);
    expect(await ids(person, "")).toEqual(idsOf(seen));
    for (const [name, right] of [
      ["can_change", "change"],
      ["can_delete", "remove"],
    ] as const) {
      expect(await ids(person, `${name}=true`)).toEqual(
        idsOf(seen.filter((of) => mayWrite(person, of, right))),
      );
      expect(await ids(person, `${name}=false`)).toEqual(
        idsOf(seen.filter((of) => !mayWrite(person, of, right))),
      );
    }
  }
});

test("no filter over a reference finds more than its reader may see behind it", async () => {
  const room = (person: Person | null, of: Thing): string | null =>
    of.place && mayView(person, of.place) ? of.place.label : null;
  for (const person of callers()) {
    const seen = locations.filter((location) => mayView(person, location));
    for (const wanted of ["place 0", "place 3"]) {
      const found = await ids(person, `place__room=${encodeURIComponent(wanted)}`);
      expect(found).toEqual(seen.filter((of) => room(person, of) === wanted).map(({ id }) => id));
      const not = encodeURIComponent(
        `{"not":{"category":"place__room","operator":"==","value":"${wanted}"}}`,
      );
      expect(await ids(person, `query_expression=${not}`)).toEqual(
        seen.filter((of) => room(person, of) !== wanted).map(({ id }) => id),
      );
    }
    const ordered = await lab.ask(
      "GET",
      "locations/?page_size=max&ordering=place__room&fields=id,place,place__room",
      person ? { as: person.username } : {},
    );
    const rows = ordered.body.results as Record<string, Json>[];
    const expected = seen
      .map((of) => ({ id: of.id, place: of.place?.id ?? null, place__room: room(person, of) }))
      .sort((a, b) => {
        const [x, y] = [a.place__room ?? "", b.place__room ?? ""];
        return x === y ? (a.id < b.id ? -1 : 1) : x < y ? -1 : 1;
      });
    expect(rows).toEqual(expected);
  }
});

test("single records answer 404, 403 or the record, and tell the caller's rights", async () => {
  for (const person of callers()) {
    for (const of of locations.filter((_, i) => i % 5 === 0)) {
      const path = `locations/${of.id}/?fields=permissions`;
      const { status, body } = await lab.ask("GET", path, person ? { as: person.username } : {});
      expect(status).toBe(mayView(person, of) ? 200 : 404);
      if (status !== 200) continue;
      const [change, remove] = [mayWrite(person, of, "change"), mayWrite(person, of, "remove")];
      expect(body.permissions).toEqual({
        public: of.isPublic,
        actions: change || remove ? { change, delete: remove } : {},
      });
    }
  }
});

test("writes are allowed exactly where the model allows them", async () => {
  const tally: Record<number, number> = {};
  for (const person of people) {
    for (const of of locations.filter((_, i) => i % 6 === 1)) {
      const { status } = await lab.ask("PATCH", `locations/${of.id}/`, {
        as: person.username,
        body: { barcode: "1" },
      });
      expect(status).toBe(!mayView(person, of) ? 404 : mayWrite(person, of, "change") ? 200 : 403);
      tally[status] = (tally[status] ?? 0) + 1;
    }
  }
  for (const status of [200, 403, 404]) expect(tally[status]).toBeGreaterThan(5);
});

test("what others may read is never taken from what was kept for someone else", async () => {
  const [first] = people;
  const path = "locations/?page_size=max&fields=id,permissions&ordering=id";
  const as = async (person: Person | null) =>
    (await lab.ask("GET", path, person ? { as: person.username } : {})).text;
  const fresh = await Promise.all([as(null), as(first), as(people[7])]);
  for (const person of [people[7], null, first, null, people[7]])
    expect(await as(person)).toBe(fresh[person === null ? 0 : person === first ? 1 : 2]);
  expect(new Set(fresh).size).toBe(3);
});
