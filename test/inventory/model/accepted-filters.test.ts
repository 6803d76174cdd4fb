import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** The filters that the specification accepts ("Accepted filters"); lists.test.ts has more values. */

type Shown = Record<string, Json>;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const add = async (segment: string, as: string, body: Record<string, Json>): Promise<void> => {
    expect((await lab.ask("POST", `${segment}/`, { as, body })).status).toBe(201);
  };
  lab.clock.set(Date.UTC(2026, 1, 2, 3, 4, 5, 678));
  await add("locations", "alice", { label: "Archive box 1", description: "Old Films", public: true });
  await add("places", "alice", { room: "Attic", address: "Institute", description: "Dry attic" });
  const type = { name: "archived", label: "Archived on", description: "When it went up", type: "TEXT" };
  const model = { model_name: "stocks.specimen", model_type: "FISH" };
  await add("annotationtypes", "alice", { ...type, ...model });
  await add("custompropertytypes", "alice", { ...type, ...model });
  const moved = await lab.ask("PATCH", `locations/${IDS.secret}/`, { as: "admin", body: { place: "A 101" } });
  expect(moved.status).toBe(200);
  for (const [segment, id] of [
    ["locations", IDS.drawer],
    ["places", IDS.cellar],
  ] as const)
    expect((await lab.ask("DELETE", `${segment}/${id}/`, { as: "admin" })).status).toBe(204);
});
afterAll(() => lab.database.close());

const LATER = "2026-02-02T03:04:05.678000+00:00";
const list = async (path: string): Promise<Shown[]> => {
  const answer = await lab.ask("GET", `${path}&fields=*&response_format=flat&page_size=max`, { as: "admin" });
  expect({ path, status: answer.status }).toEqual({ path, status: 200 });
  return answer.body.results as Shown[];
};
const ids = (records: Shown[]): string[] => records.map(({ id }) => String(id)).sort();

test.each<[string, string, string[]]>([
  ["locations", "created=2026-02-02", ["Archive box 1"]],
  ["locations", `created=${encodeURIComponent(LATER)}`, ["Archive box 1"]],
  ["locations", "owned_by=Imaging,Genomics&created_by=alice", ["Archive box 1"]],
  ["locations", "description=old f", ["Archive box 1"]],
  ["places", "description=ATTIC", ["Attic"]],
  ["annotationtypes", "model_name=stocks.specimen&model_type=FISH", ["Archived on"]],
  ["annotationtypes", "query=CHIV arch", ["Archived on"]],
  ["custompropertytypes", "name=ARCH&owner=alice", ["Archived on"]],
])("accepts the filter %s/?%s", async (segment, query, names) => {
  const found = await list(`${segment}/?${query}`);
  expect(found.map((record) => record.label ?? record.room ?? record.name)).toEqual(names);
});

test("filters by deleted, deleted_date and deleted_by", async () => {
  for (const segment of ["locations", "places"]) {
    const [alive, dead, all] = await Promise.all(
      ["deleted=False", "deleted=true", "deleted=all"].map((query) => list(`${segment}/?${query}`)),
    );
    expect(alive.every(({ deleted }) => deleted === false)).toBe(true);
    expect(dead).toBeArrayOfSize(1);
    expect(dead[0]).toMatchObject({ deleted: true, deleted_by: "admin", deleted_date: LATER });
    expect(ids(all)).toEqual(ids([...alive, ...dead]));
    expect(ids(await list(`${segment}/?`))).toEqual(ids(alive));
  }
  const when = encodeURIComponent(LATER);
  for (const filter of ["deleted_by=admin", `deleted_date=${when}`, "deleted_date=2026-02-02"])
    expect(ids(await list(`locations/?deleted=true&${filter}`))).toEqual([IDS.drawer]);
  expect(await list("locations/?deleted=true&deleted_by=alice")).toEqual([]);
});

test("filters by id and type of custom property types", async () => {
  const [first, ...rest] = await list("custompropertytypes/?");
  expect(ids(await list(`custompropertytypes/?id=${first.id}`))).toEqual([String(first.id)]);
  expect(await list("custompropertytypes/?type=TEXT")).toBeArrayOfSize(rest.length + 1);
  expect(await list("custompropertytypes/?type=JSON")).toEqual([]);
});

test("filters by deleted_by and deleted_date include deleted records", async () => {
  const total = async (query: string) =>
    (await lab.ask("GET", `locations/?${query}`, { as: "admin" })).body.total;
  const expression = (category: string, operator: string, value: string) =>
    `query_expression=${JSON.stringify({ category, operator, value })}`;
  for (const query of [
    "deleted_by=admin",
    "deleted_by__username=admin",
    "deleted_date__gte=2026-01-01",
    expression("deleted_by", "==", "admin"),
    expression("deleted_date", ">=", "2026-01-01"),
  ])
    expect({ query, total: await total(query) }).toEqual({ query, total: 1 });
  expect(await total("deleted_by=admin&deleted=false")).toBe(0);
  expect(await total("deleted_by=alice")).toBe(0);
});

test("filters annotation types by the groups whose records require them", async () => {
  const send = async (method: string, path: string, body: unknown) =>
    lab.ask(method, path, { as: "admin", body });
  const path = `annotationtypes/${IDS.organ}/`;
  const { body: imaging } = await lab.ask("GET", "groups/Imaging/", { as: "admin" });
  const changed = await send("PATCH", `${path}?fields=mandatory_owned_by`, {
    mandatory_owned_by: ["Genomics", imaging.id, "Imaging"],
  });
  expect([changed.status, changed.body.mandatory_owned_by]).toEqual([200, ["Genomics", "Imaging"]]);
  const refused = await send("PATCH", path, { mandatory_owned_by: ["Nobody"] });
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'mandatory_owned_by: Object with name="Nobody" does not exist.',
  ]);
  const ids = async (query: string, as = "admin") =>
    ((await lab.ask("GET", `annotationtypes/?fields=id&${query}`, { as })).body.results as Shown[]).map(
      ({ id }) => id,
    );
  const expression = (category: string, operator: string, value: string) =>
    `query_expression=${JSON.stringify({ category, operator, value })}`;
  for (const [query, found] of [
    [expression("mandatory_owned_by", "==", "Imaging"), true],
    [expression("mandatory_owned_by__name", "icontains", "GENO"), true],
    [expression("mandatory_owned_by", "==", "Imag"), false],
    ["mandatory_owned_by=Imaging", true],
    ["mandatory_owned_by__name__istartswith=gen", true],
    ["mandatory_owned_by=nobody", false],
    [`as_of=2026-01-01&mandatory_owned_by=Imaging`, false],
  ] as const)
    expect({ query, ids: await ids(query) }).toEqual({ query, ids: found ? [IDS.organ] : [] });
  expect((await lab.ask("GET", `locations/?${expression("mandatory_owned_by", "==", "x")}`)).status).toBe(
    400,
  );
  expect((await lab.ask("DELETE", "groups/Imaging/", { as: "admin" })).status).toBe(409);
  await send("PATCH", "groups/Imaging/", { name: "Pictures" });
  expect(await ids("mandatory_owned_by=Pictures")).toEqual([IDS.organ]);
  await send("PATCH", "groups/Pictures/", { name: "Imaging" });
});
