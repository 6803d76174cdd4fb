import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../../../src/platform/sqlite.ts";
import { type Lab, openLab } from "../harness.ts";
import { seeded } from "../random.ts";
import { EMPTY } from "../sample.ts";
import { indexTexts } from "../text-index.ts";
import { computeRank, isFoundWithTypos, type Searched, views } from "../search-model.ts";

/**
 * Thousands of records, of which many are found and most are hidden from most callers: the search stops early, tests
 * records one by one, and changes its mind. What it finds equals what a plain model of the rules finds.
 */

const RECORDS = 3200;
const WORDS = ["mouse", "human", "plate", "buffer", "primer", "Kinase", "Übermaß", "GFP", "anti"];
const CALLERS = [undefined, "alice", "bob", "admin"] as const;
const KINDS = ["consumable", "specimen"] as const;
const LISTS = { consumable: "stocks/consumables", specimen: "stocks/specimen" } as const;
const SHARED = "id, created, modified, created_by, modified_by";

const random = seeded(29);
const padNumber = (i: number): string => String(i).padStart(5, "0");

interface Thing extends Searched {
  rid: number;
  kind: (typeof KINDS)[number];
  modified: number;
}

const things = Array.from({ length: RECORDS }, (_, i): Thing => {
  const words = (most: number): string =>
    Array.from({ length: 1 + random.below(most) }, () => random.pick(WORDS)).join(" ");
  const isHidden = random.chance(0.9);
  return {
    rid: i + 1,
    kind: random.pick(["consumable", "consumable", "specimen"]),
    id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
    name: random.chance(0.3) ? `Item ${words(2)} ${padNumber(i)}` : `${words(2)} ${padNumber(i)}`,
    description: random.chance(0.7) ? `Sample of ${words(3)}, batch ${random.below(300)}` : "",
    barcode: random.chance(0.5) ? `MOUSE${i}` : "",
    parts: Array.from({ length: random.below(4) }, () => ({
      by: random.pick(["note", "annotation", "secret"]),
      text: `${random.chance(0.7) ? "Mouse " : ""}${words(2)} ${random.below(500)}`,
    })),
    owner: isHidden ? "admin" : random.pick(["alice", "alice", "alice", "bob"]),
    group: isHidden ? "SYSTEM_GROUP" : random.pick(["Genomics", "Genomics", "SYSTEM_GROUP"]),
    public: random.chance(0.005),
    viewer: random.chance(0.01) ? "bob" : undefined,
    modified: random.below(1e9),
  };
});

/** Writes the records as they are, past the API. */
function fill(database: Database, written: readonly Thing[]): void {
  const findRid = (table: string, column: string, name: string): number =>
    (database.query(`SELECT rid FROM ${table} WHERE ${column} = ?`).get(name) as { rid: number }).rid;
  const insert = (table: string, columns: string, values: (string | number)[]): void => {
    database
      .query(`INSERT INTO ${table} (${columns}) VALUES (${values.map(() => "?").join(", ")})`)
      .run(...values);
  };
  let parts = 0;
  const partId = (): string => `00000000-0000-4000-9100-${String(++parts).padStart(12, "0")}`;
  const users = Object.fromEntries(
    ["admin", "alice", "bob"].map((name) => [name, findRid("user_account", "username", name)]),
  );
  const groups = Object.fromEntries(
    ["SYSTEM_GROUP", "Genomics"].map((name) => [name, findRid("user_group", "name", name)]),
  );
  const types = Object.fromEntries(
    ["annotation", "secret"].map((name) => [name, findRid("field_type", "name", name)]),
  );
  database.transaction(() => {
    for (const { rid, kind, id, name, description, barcode, ...thing } of written) {
      const access = [users[thing.owner], groups[thing.group], Number(thing.public)];
      insert(kind, `rid, ${SHARED}, name, name_fold, description, barcode, owner, owned_by, public`, [
        rid,
        id,
        0,
        thing.modified,
        1,
        1,
        name,
        name.toLowerCase(),
        description,
        barcode,
        ...access,
      ]);
      if (thing.viewer !== undefined)
        insert("object_permission", "object_kind, object_rid, user_rid", [kind, rid, users[thing.viewer]]);
      for (const { by, text } of thing.parts) {
        const of = [partId(), 0, 0, 1, 1, kind, rid];
        if (by === "note") insert("note", `${SHARED}, object_kind, object_rid, content`, [...of, text]);
        else
          insert("annotation", `${SHARED}, object_kind, object_rid, annotation_type, value`, [
            ...of,
            types[by],
            JSON.stringify(text),
          ]);
      }
    }
  })();
}

async function openFilled(written: readonly Thing[]): Promise<Lab> {
  const lab = await openLab({ sample: EMPTY });
  const access = { annotation: { public: true }, secret: { owner: "alice", owned_by: "Genomics" } };
  for (const [name, given] of Object.entries(access)) {
    const { status } = await lab.send("admin", "POST", "annotationtypes/", { name, type: "TEXT", ...given });
    expect(status).toBe(201);
  }
  fill(lab.database, written);
  indexTexts(lab.database);
  return lab;
}

interface Group {
  list: string;
  total: number;
  more: boolean;
  results: { id: string; by: string; text: string }[];
}

async function search(lab: Lab, as: string | undefined, typed: string): Promise<Group[]> {
  const query = new URLSearchParams({ q: typed, limit: "500" });
  const { status, body } = await lab.ask(
    "GET",
    `search/?${query.toString()}`,
    as === undefined ? {} : { as },
  );
  expect(status).toBe(200);
  return (body.groups as unknown as Group[]).filter(({ list }) =>
    Object.values<string>(LISTS).includes(list),
  );
}

/** Ids in the order of the answer. */
function expected(as: string | undefined, typed: string, kind: Thing["kind"]): string[] {
  const visible = things.filter((of) => views(as, of));
  const isTolerant = visible.filter((of) => computeRank(as, of, typed)).length < 5;
  return visible
    .filter((of) => of.kind === kind)
    .flatMap((of) => {
      const ranked = computeRank(as, of, typed);
      if (!ranked && isTolerant && isFoundWithTypos(of, typed)) return [{ of, rank: 6 }];
      return ranked ? [{ of, ...ranked }] : [];
    })
    .sort((a, b) => a.rank - b.rank || b.of.modified - a.of.modified || (a.of.id < b.of.id ? -1 : 1))
    .map(({ of }) => of.id);
}

/** Searches of all kinds: of few and many results, in names, descriptions and parts. */
function randomSearch(): string {
  const some = random.pick(things);
  const word = (): string => (random.chance(0.4) ? "mouse" : random.pick(WORDS).toLowerCase());
  return random.pick([
    () => word(),
    () => `${word()} ${word()}`,
    () => `${word()} ${word()} ${word()}`,
    () => `sample ${word()}`,
    () => `${word()} ${some.parts[0]?.text ?? "plate"}`,
    () => `${padNumber(some.rid - 1)} ${word()}`,
    () => `${word()} batch ${random.below(300)}`,
    () => some.name,
    () => some.name.slice(0, 5 + random.below(8)),
    () => some.barcode.slice(0, 5 + random.below(5)) || "item",
    () => `${word().slice(0, 2)} ${word()}`,
    () =>
      `${random.pick(["mosue", "humn", "plte", "bufffer", "priner", "ubermas"])} ${padNumber(some.rid - 1)}`,
    () => random.pick(["knase", "primerx", "imnase", "platee hunan"]),
  ])();
}

let lab: Lab;
beforeAll(async () => {
  lab = await openFilled(things);
});
afterAll(() => lab.database.close());

test("finds and ranks the same records as a plain model, or reports that there are more", async () => {
  const seen = { complete: 0, cut: 0 };
  for (let i = 0; i < 40; i++) {
    const [as, typed] = [random.pick(CALLERS), randomSearch()];
    const groups = await search(lab, as, typed);
    for (const kind of KINDS) {
      const found = groups.find(({ list }) => list === LISTS[kind]);
      const ids = (found?.results ?? []).map(({ id }) => id);
      const all = expected(as, typed, kind);
      const wrong = found?.more ? ids.filter((id) => !all.includes(id)) : ids;
      expect({ as, typed, kind, wrong }).toEqual({ as, typed, kind, wrong: found?.more ? [] : all });
      seen[found?.more ? "cut" : "complete"] += ids.length;
    }
  }
  expect(Math.min(seen.complete, seen.cut)).toBeGreaterThan(500);
});

test("finds an old record by a rare word in its name and a common one in a note", async () => {
  const old = things.filter(({ parts }) => parts[0]?.by === "note").slice(0, 8);
  for (const { rid, parts, kind } of old) {
    const typed = `${parts[0].text.split(" ")[0]} ${padNumber(rid - 1)}`;
    const [group] = await search(lab, "admin", typed);
    expect(group).toMatchObject({
      list: LISTS[kind],
      more: false,
      results: expected("admin", typed, kind).map((id) => ({ id })),
    });
  }
});

test.each(["alice", "bob"] as const)("answers %s as if hidden records did not exist", async (as) => {
  const other = await openFilled(things.filter((of) => views(as, of)));
  for (let i = 0; i < 18; i++) {
    const typed = randomSearch();
    expect({ typed, groups: await search(lab, as, typed) }).toEqual({
      typed,
      groups: await search(other, as, typed),
    });
  }
  other.database.close();
});
