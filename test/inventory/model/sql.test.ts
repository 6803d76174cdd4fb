import { afterAll, expect, test } from "bun:test";
import { type Actor, visible } from "../../../src/inventory/model/access.ts";
import { and, compare, not, or } from "../../../src/inventory/model/condition.ts";
import { plan } from "../../../src/inventory/model/plan.ts";
import { countStatement, pageStatement } from "../../../src/inventory/model/sql.ts";
import { DECLARED, RESOURCES } from "../../../src/inventory/resources/index.ts";
import { openMigrated } from "../../database.ts";

/** SQL is pinned as text and arguments, then run, so that a change of either is seen. */

const ADMIN: Actor = { user: 1, username: "system", superuser: true, groups: [1], primaryGroup: 1 };
const ALICE: Actor = { user: 7, username: "alice", superuser: false, groups: [3, 4], primaryGroup: 3 };
const ANONYMOUS_IDENTITY: Actor = {
  user: null,
  username: null,
  superuser: false,
  groups: [],
  primaryGroup: null,
};
const location = DECLARED.get("location")!;
const annotationType = DECLARED.get("annotation_type")!;
const database = openMigrated();
afterAll(() => database.close());

const runs = ({ text, args }: { text: string; args: (string | number | null)[] }) =>
  database.prepare(text).all(...args);

test("a filter and an ordering over the same reference share one join", () => {
  const condition = and(compare(["deleted"], "==", 0), compare(["place", "building"], "==", "A"));
  const order = [
    { path: ["place", "room"], descending: true },
    { path: ["label"], descending: false },
  ];
  const sql = pageStatement(location, condition, order, plan(DECLARED, location, ADMIN), {
    limit: 50,
    offset: 100,
  });
  expect(sql).toEqual({
    text:
      "SELECT t.rid AS rid FROM location AS t LEFT JOIN place AS t_place ON (t_place.rid = t.place)" +
      " WHERE ((t.deleted = ?) AND (t_place.building = ?))" +
      " ORDER BY t_place.room DESC, t.label, t.id LIMIT ? OFFSET ?",
    args: [0, "A", 50, 100],
  });
  expect(runs(sql)).toEqual([]);
  // With a limit, even of -1, SQLite would sort all rows in a tree that keeps the first ones.
  const all = { limit: -1, offset: 0 };
  expect(pageStatement(location, condition, order, plan(DECLARED, location, ADMIN), all)).toEqual({
    text: sql.text.replace(" LIMIT ? OFFSET ?", ""),
    args: [0, "A"],
  });
});

test("a join reaches only records that the caller may view", () => {
  const condition = compare(["place", "building"], "==", "A");
  const sql = countStatement(location, condition, plan(DECLARED, location, ANONYMOUS_IDENTITY));
  expect(sql).toEqual({
    text:
      "SELECT count(*) AS total FROM location AS t LEFT JOIN place AS t_place" +
      " ON ((t_place.rid = t.place) AND (t_place.public = ?)) WHERE (t_place.building = ?)",
    args: [1, "A"],
  });
  expect(runs(sql)).toEqual([{ total: 0 }]);
});

test("treats visibility like any other condition", () => {
  const sql = countStatement(location, visible(location, ALICE), plan(DECLARED, location, ALICE));
  expect(sql).toEqual({
    text:
      "SELECT count(*) AS total FROM location AS t WHERE ((t.public = ?) OR (t.owner = ?) OR (t.owned_by = ?)" +
      " OR (t.owned_by = ?) OR (EXISTS (SELECT 1 FROM main.object_permission AS t_grants WHERE" +
      " t_grants.object_kind = 'location' AND t_grants.object_rid = t.rid AND t_grants.deleted = 0 AND" +
      " (((t_grants.user_rid = ?) OR (t_grants.group_rid = ?) OR (t_grants.group_rid = ?)) AND (t_grants.can_view = ?)))))",
    args: [1, 7, 3, 4, 7, 3, 4, 1],
  });
  expect(runs(sql)).toEqual([{ total: 0 }]);
});

test("equality with an id or a username needs no join", () => {
  const condition = or(compare(["place", "id"], "==", "u"), compare(["owner", "username"], "exact", "alice"));
  const sql = countStatement(location, condition, plan(DECLARED, location, ALICE));
  expect(sql).toEqual({
    text:
      "SELECT count(*) AS total FROM location AS t WHERE ((t.place = (SELECT rid FROM main.place WHERE id = ?))" +
      " OR (t.owner = (SELECT rid FROM main.user_account WHERE username = ?)))",
    args: ["u", "alice"],
  });
  expect(runs(sql)).toEqual([{ total: 0 }]);
});

test("separates two resources in one table, and negates with two-valued logic", () => {
  const condition = not(compare(["name"], "icontains", "A"));
  const sql = countStatement(annotationType, condition, plan(DECLARED, annotationType, ADMIN));
  expect(sql).toEqual({
    text:
      "SELECT count(*) AS total FROM field_type AS t WHERE ((t.kind = 'annotation') AND" +
      " ((instr(t.name_fold, ?) > 0) IS NOT TRUE))",
    args: ["a"],
  });
  expect(runs(sql)).toEqual([{ total: 0 }]);
});

test("every field of every resource supports comparison and ordering", () => {
  let tried = 0;
  for (const resource of RESOURCES) {
    for (const [name, field] of Object.entries(resource.fields)) {
      if (field.kind === "computed") continue;
      const order = [{ path: [name], descending: true }];
      const condition = compare([name], "==", 1);
      runs(
        pageStatement(resource, condition, order, plan(DECLARED, resource, ALICE), { limit: 10, offset: 0 }),
      );
      tried++;
    }
  }
  expect(tried).toBeGreaterThan(150);
});

test("reads plain lists from a covering index without sorting", () => {
  for (const resource of [location, annotationType]) {
    const listed = and(compare(["deleted"], "==", 0), compare(["public"], "==", 1));
    const order = resource.defaultOrder.map((name) => ({ path: [name], descending: false }));
    const { text, args } = pageStatement(
      resource,
      listed,
      order,
      plan(DECLARED, resource, ANONYMOUS_IDENTITY),
      {
        limit: 50,
        offset: 0,
      },
    );
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...args) as { detail: string }[];
    expect(steps.map(({ detail }) => detail).join("; ")).toMatch(
      /^SEARCH t USING COVERING INDEX \w+ \([^)]*\)$/,
    );
  }
});
