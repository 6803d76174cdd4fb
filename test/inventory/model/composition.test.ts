import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../../src/inventory/model/access.ts";
import { and, compare, type Condition, not, or, type Row } from "../../../src/inventory/model/condition.ts";
import type { Stored } from "../../../src/inventory/model/field.ts";
import { FIRST_PAGE } from "../../../src/inventory/model/listing.ts";
import type { OperatorName } from "../../../src/inventory/model/operator.ts";
import { selectVisible } from "../../../src/inventory/model/plan.ts";
import type { Resource } from "../../../src/inventory/model/resource.ts";
import { fieldValues } from "../../../src/inventory/records/field-values.ts";
import { countReferring } from "../../../src/inventory/records/references.ts";
import { openStore, type Store } from "../../../src/inventory/records/store.ts";
import { DECLARED } from "../../../src/inventory/resources/index.ts";
import { type Lab, openLab } from "../harness.ts";
import { seeded } from "../random.ts";
import { EMPTY } from "../sample.ts";

/**
 * Every statement that contains a condition selects what an evaluator in plain TypeScript selects: filters, rights and
 * the row selection of shared tables are composed at random, in every order that operators could bind wrongly.
 */

const random = seeded(1414);
const NAMES = ["annotation_type", "custom_property_type", "location"];
const USERS = ["alice", "bob"];
const GROUPS = ["Genomics", "Imaging"];

let lab: Lab;
let store: Store;
/** Records by resource, as the evaluator reads them. */
const records = new Map<string, Row[]>();
const actors: (Actor & { name: string })[] = [];

beforeAll(async () => {
  lab = await openLab({ sample: EMPTY });
  store = openStore(lab.database, lab.clock);
  await lab.send("admin", "POST", "fieldmeta/", { name: "m" });
  await lab.send("admin", "POST", "places/", { room: "1", address: "x" });
  for (const name of NAMES) for (let i = 0; i < 25; i++) await addRecord(DECLARED.get(name)!, i);
  for (const name of NAMES) records.set(name, readRows(DECLARED.get(name)!));
  const rid = (table: string, column: string, value: string) =>
    Number(
      store.statements.get({ text: `SELECT rid FROM ${table} WHERE ${column} = ?`, args: [value] })?.rid,
    );
  for (const [i, username] of USERS.entries())
    actors.push(
      makeActor(username, rid("user_account", "username", username), [rid("user_group", "name", GROUPS[i])]),
    );
  actors.push({ ...makeActor("admin", rid("user_account", "username", "admin"), []), superuser: true });
  actors.push({
    name: "anonymous",
    user: null,
    username: null,
    superuser: false,
    groups: [],
    primaryGroup: null,
  });
});
afterAll(() => lab.database.close());

const makeActor = (username: string, user: number, groups: number[]) => ({
  name: username,
  user,
  username,
  superuser: false,
  groups,
  primaryGroup: groups[0] ?? null,
});

async function addRecord(resource: Resource, i: number): Promise<void> {
  const access = {
    public: random.chance(0.3),
    owner: random.pick(["admin", ...USERS]),
    owned_by: random.pick(GROUPS),
  };
  const own =
    resource.name === "location"
      ? { label: `n${i % 7}`, description: `d${i % 4}`, ...(random.chance(0.5) ? { place: "1" } : {}) }
      : {
          name: `n${i % 7}x${i}`,
          label: `l${i % 3}`,
          description: `d${i % 4}`,
          type: "TEXT",
          field_meta: "m",
          ...(resource.name === "annotation_type"
            ? {}
            : { model_name: "stocks.specimen", model_type: "FISH" }),
        };
  const made = await lab.send("admin", "POST", `${resource.segment}/`, { ...own, ...access });
  expect([made.text, made.status]).toEqual([made.text, 201]);
  const path = `${resource.segment}/${String(made.body.id)}/`;
  if (random.chance(0.2))
    await lab.send("admin", "PUT", `${path}permissions/`, {
      users: [{ user: random.pick(USERS), view: true }],
    });
  if (random.chance(0.2)) await lab.send("admin", "DELETE", path);
}

function readRows(resource: Resource): Row[] {
  const own = resource.where ? ` WHERE kind = '${resource.where.kind}'` : "";
  const viewers = store.statements.all({
    text: "SELECT object_rid, user_rid FROM object_permission WHERE object_kind = ? AND can_view = 1 AND deleted = 0",
    args: [resource.name],
  });
  const rows = store.statements.all({ text: `SELECT * FROM ${resource.table}${own}`, args: [] });
  return rows.map((row) =>
    Object.assign({}, row, {
      owner: { rid: row.owner },
      owned_by: { rid: row.owned_by },
      grants: viewers.filter(({ object_rid }) => object_rid === row.rid),
    }),
  );
}

const PREDICATES: Partial<
  Record<OperatorName, (stored: string | number, value: string | number) => boolean>
> = {
  "==": (stored, value) => stored === value,
  ">=": (stored, value) => stored >= value,
  istartswith: (stored, value) => String(stored).toLowerCase().startsWith(String(value).toLowerCase()),
  icontains: (stored, value) => String(stored).toLowerCase().includes(String(value).toLowerCase()),
};

/** True if a condition of this test is true of a row. */
function matches(condition: Condition, row: Row): boolean {
  if (condition.kind === "not") return !matches(condition.part, row);
  if (condition.kind === "and") return condition.parts.every((part) => matches(part, row));
  if (condition.kind === "or") return condition.parts.some((part) => matches(part, row));
  if (condition.kind !== "compare") return condition.kind === "constant" && condition.value;
  const [first, second] = condition.path;
  const stored = (second === undefined ? row[first] : (row[first] as Row)[second]) as Stored;
  return PREDICATES[condition.operator as OperatorName]!(stored!, condition.value!);
}

const mayView = ({ user, superuser, groups }: Actor, row: Row): boolean =>
  superuser ||
  row.public === 1 ||
  (user !== null &&
    ((row.owner as Row).rid === user ||
      groups.includes(Number((row.owned_by as Row).rid)) ||
      (row.grants as Row[]).some(({ user_rid }) => user_rid === user)));

/** A condition of any shape, constants and single parts among them. */
function compose(depth: number): Condition {
  const shape = depth === 0 ? "compare" : random.pick(["compare", "and", "or", "or", "not", "constant"]);
  const parts = () => Array.from({ length: 1 + random.below(3) }, () => compose(depth - 1));
  if (shape === "constant") return random.chance(0.7) ? and() : or();
  if (shape === "not") return not(compose(depth - 1));
  if (shape === "and") return and(...parts());
  if (shape === "or") return or(...parts());
  if (random.chance(0.3)) return compare([random.pick(["deleted", "public"])], "==", random.below(2));
  if (random.chance(0.2)) return compare(["owner", "rid"], "==", 1 + random.below(4));
  const operator = random.pick(Object.keys(PREDICATES) as OperatorName[]);
  return compare(
    [random.pick(["label", "description"])],
    operator,
    `${random.pick(["d", "l", "n"])}${random.below(5)}`,
  );
}

/** The row numbers that each kind of statement finds, sorted. */
function found(resource: Resource, condition: Condition, actor: Actor): Record<string, number[]> {
  const { statements, reader } = store;
  const viewer = { resources: DECLARED, actor };
  const listing = {
    ...FIRST_PAGE,
    condition,
    order: [{ path: ["label"], descending: true }],
    size: "max" as const,
  };
  const past = store.past(resource, new URLSearchParams({ as_of: "2026-01-01" }), actor).reader;
  const byName = fieldValues(statements, viewer, resource, ["id"], { condition, maximum: 100 }).values;
  const ids = new Map(records.get(resource.name)!.map(({ id, rid }) => [id, Number(rid)]));
  const rids = {
    list: reader.list(resource, listing, actor).rids,
    "list of the past": past.list(resource, listing, actor).rids,
    select: statements
      .all(selectVisible(viewer, resource, "t.rid AS rid", condition))
      .map(({ rid }) => Number(rid)),
    values: byName.map(({ value }) => ids.get(String(value))!),
  };
  for (const list of Object.values(rids)) list.sort((a, b) => a - b);
  const { total } = reader.list(resource, { ...listing, size: 1 }, actor);
  return { ...rids, count: [total] };
}

test("every statement selects the rows that satisfy the composed condition, for every caller", () => {
  let telling = 0;
  for (let i = 0; i < 200; i++) {
    const resource = DECLARED.get(random.pick(NAMES))!;
    const actor = random.pick(actors);
    const condition = compose(3);
    const all = records.get(resource.name)!;
    const expected = all
      .filter((row) => mayView(actor, row) && matches(condition, row))
      .map(({ rid }) => Number(rid))
      .sort((a, b) => a - b);
    const context = { resource: resource.name, caller: actor.name, condition };
    const selected: Record<string, number[]> = {
      list: expected,
      "list of the past": expected,
      select: expected,
      values: expected,
      count: [expected.length],
    };
    expect({ ...context, found: found(resource, condition, actor) }).toEqual({ ...context, found: selected });
    if (expected.length > 0 && expected.length < all.length) telling++;
  }
  // Conditions that hold of nothing or of everything would prove little.
  expect(telling).toBeGreaterThan(80);
}, 60_000);

test("counting references combines the composed condition with the condition of the count", () => {
  const resource = DECLARED.get("location") as Parameters<typeof countReferring>[2]["resource"];
  const place = Number(store.statements.get({ text: "SELECT rid FROM place", args: [] })?.rid);
  for (let i = 0; i < 100; i++) {
    const actor = random.pick(actors);
    const condition = compose(2);
    const from = { resource, field: "place" };
    const total = countReferring(
      store.statements,
      { resources: DECLARED, actor },
      from,
      [place],
      condition,
    ).get(place);
    const expected = records
      .get("location")!
      .filter(
        (row) => row.place === place && row.deleted === 0 && mayView(actor, row) && matches(condition, row),
      );
    expect({ condition, total: total ?? 0 }).toEqual({ condition, total: expected.length });
  }
});

test("a list of deleted and other types does not contain types of the other kind", async () => {
  for (const as of USERS) {
    const path = "?deleted=all&page_size=max&fields=id";
    const [types, properties] = await Promise.all(
      ["annotationtypes", "custompropertytypes"].map(async (segment) => {
        const { results } = (await lab.send(as, "GET", `${segment}/${path}`)).body;
        return (results as { id: string }[]).map(({ id }) => id);
      }),
    );
    expect(types.filter((id) => properties.includes(id))).toEqual([]);
    const values = await lab.send(as, "GET", "annotationtypes/values/?field=id&deleted=all");
    expect((values.body.results as unknown as { value: string }[]).map(({ value }) => value).sort()).toEqual(
      types.sort(),
    );
  }
});
