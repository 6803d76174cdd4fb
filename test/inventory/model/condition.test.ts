import { afterAll, expect, test } from "bun:test";
import type { Actor } from "../../../src/inventory/model/access.ts";
import {
  ALWAYS,
  and,
  compare,
  type Condition,
  holds,
  mentions,
  NEVER,
  not,
  or,
  type Row,
  some,
} from "../../../src/inventory/model/condition.ts";
import type { Stored } from "../../../src/inventory/model/field.ts";
import { foldCase, OPERATORS, type OperatorName } from "../../../src/inventory/model/operator.ts";
import { plan } from "../../../src/inventory/model/plan.ts";
import { compile, countStatement } from "../../../src/inventory/model/sql.ts";
import { DECLARED } from "../../../src/inventory/resources/index.ts";
import { type Random, randomText, seeded } from "../random.ts";
import { indexTexts } from "../text-index.ts";
import { openMigrated } from "../../database.ts";

const ADMIN: Actor = { user: 1, username: "system", superuser: true, groups: [1], primaryGroup: 1 };
const location = DECLARED.get("location")!;
const database = openMigrated();
afterAll(() => database.close());

test("removes constants from conditions", () => {
  const part = compare(["label"], "==", "x");
  expect(and()).toEqual(ALWAYS);
  expect(or()).toEqual(NEVER);
  expect(and(part, ALWAYS)).toEqual(part);
  expect(and(part, NEVER)).toEqual(NEVER);
  expect(or(part, NEVER)).toEqual(part);
  expect(or(part, ALWAYS)).toEqual(ALWAYS);
  expect(not(not(part))).toEqual(part);
  expect(not(ALWAYS)).toEqual(NEVER);
  expect(and(and(part, part), part)).toEqual({ kind: "and", parts: [part, part, part] });
});

test("mentions() finds the fields of a condition", () => {
  const condition = or(not(compare(["deleted"], "==", 1)), compare(["place", "room"], "==", "1"));
  expect(mentions(condition, "deleted")).toBe(true);
  expect(mentions(condition, "place")).toBe(true);
  expect(mentions(condition, "room")).toBe(false);
});

/** Fills places and locations at random and returns the locations as `holds` wants them. */
function fill(random: Random, count: number): Row[] {
  database.run("INSERT INTO address VALUES (1,'x','x','','','','','','',0,0,1,1,1,1,1,0,NULL,NULL,1)");
  const places = Array.from({ length: 8 }, (_, i): Row => {
    const [building, room] = [randomText(random), randomText(random)];
    const rid = i + 1;
    database
      .query(
        `INSERT INTO place (rid, id, building, building_fold, room, room_fold, address, created, modified, created_by, modified_by, owner, owned_by)
         VALUES (?, ?, ?, ?, ?, ?, 1, ?, 0, 1, 1, 1, 1)`,
      )
      .run(rid, `p${rid}`, building, foldCase(building), room, foldCase(room), i);
    return { rid, id: `p${rid}`, building, room, created: i };
  });
  return Array.from({ length: count }, (_, i): Row => {
    const rid = i + 1;
    const place = random.chance(0.3) ? null : random.pick(places);
    const row = {
      rid,
      id: `l${rid}`,
      label: randomText(random, 9),
      description: randomText(random, 9),
      created: random.below(5),
      public: random.below(2),
      deleted_date: random.chance(0.5) ? null : random.below(5),
    };
    database
      .query(
        `INSERT INTO location (rid, id, label, label_fold, description, place, public, deleted_date, created, modified, created_by, modified_by, owner, owned_by)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1, 1, 1, 1)`,
      )
      .run(
        rid,
        row.id,
        row.label,
        foldCase(row.label),
        row.description,
        place === null ? null : (place.rid as number),
        row.public,
        row.deleted_date,
        row.created,
      );
    const grantees = [
      { user_rid: 1, group_rid: null },
      { user_rid: null, group_rid: 1 },
    ].filter(() => random.chance(0.5));
    const grants = grantees.map(({ user_rid, group_rid }): Row => ({
      user_rid,
      group_rid,
      can_view: random.below(2),
    }));
    for (const { user_rid, group_rid, can_view } of grants)
      database
        .query(
          "INSERT INTO object_permission (object_kind, object_rid, user_rid, group_rid, can_view) VALUES ('location', ?, ?, ?, ?)",
        )
        .run(rid, user_rid as Stored, group_rid as Stored, can_view as Stored);
    return { ...row, place, grants };
  });
}

const PATHS: Record<"text" | "number", string[][]> = {
  text: [["label"], ["description"], ["id"], ["place", "building"], ["place", "room"], ["place", "id"]],
  number: [["created"], ["deleted_date"], ["place", "created"]],
};

function randomCondition(random: Random, rows: readonly Row[], depth: number): Condition {
  const kind =
    depth === 0 ? "compare" : random.pick(["compare", "compare", "and", "or", "not", "some"] as const);
  const part = () => randomCondition(random, rows, depth - 1);
  if (kind === "not") return { kind, part: part() };
  if (kind === "and" || kind === "or")
    return { kind, parts: Array.from({ length: 1 + random.below(3) }, part) };
  if (kind === "some")
    return some(
      "grants",
      random.pick([
        compare(["can_view"], "==", 1),
        and(compare(["user_rid"], "==", 1), compare(["can_view"], "==", 1)),
        not(compare(["group_rid"], "==", 1)),
      ]),
    );
  if (random.chance(0.15)) return compare(random.pick([["place", "rid"], ["deleted_date"]]), "==", null);
  const number = random.chance(0.3);
  const path = random.pick(PATHS[number ? "number" : "text"]);
  const usable = (Object.keys(OPERATORS) as OperatorName[]).filter((name) =>
    OPERATORS[name].kinds.includes(number ? "instant" : "text"),
  );
  let value: Stored = number ? random.below(5) : randomText(random, 3);
  if (!number && random.chance(0.5)) {
    const taken = String(
      path.reduce<unknown>((at, name) => (at as Row | null)?.[name], random.pick(rows)) ?? "",
    );
    value = taken.slice(random.below(3), random.chance(0.3) ? -1 : undefined);
  }
  return compare(path, random.pick(usable), typeof value === "string" ? value.toWellFormed() : value);
}

test("random conditions match the same rows in SQL and in memory", () => {
  const random = seeded(7);
  const rows = fill(random, 60);
  indexTexts(database);
  let some = 0;
  for (let i = 0; i < 1500; i++) {
    const condition = randomCondition(random, rows, 3);
    const from = plan(DECLARED, location, ADMIN);
    const where = compile(condition, from);
    const joins = from.joins();
    const found = database
      .prepare(`SELECT t.rid AS rid FROM location AS t${joins.text} WHERE ${where.text} ORDER BY t.rid`)
      .all(...joins.args, ...where.args) as { rid: number }[];
    const expected = rows.filter((row) => holds(condition, row)).map((row) => Number(row.rid));
    expect({ condition, rids: found.map(({ rid }) => rid) }).toEqual({ condition, rids: expected });
    const count = countStatement(location, condition, plan(DECLARED, location, ADMIN));
    const total = database.prepare(count.text).get(...count.args) as { total: number };
    expect(total.total).toBe(expected.length);
    if (expected.length > 0 && expected.length < rows.length) some++;
  }
  // Conditions that hold of nothing or of everything would prove little.
  expect(some).toBeGreaterThan(800);
});
