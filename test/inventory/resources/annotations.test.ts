import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { RESOURCES } from "../../../src/inventory/index.ts";
import type { InventorySample } from "../../../src/inventory/records/sample.ts";
import sample from "../../../src/sample/inventory.json";
import { expectStatuses, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** Annotations and notes of records: values and rights. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const path = (id: string) => `consumables/${id}/annotations/`;
const annotate = (type: string, value: unknown, as = "admin", id = IDS.antibody) =>
  lab.send(as, "POST", path(id), { annotation_type_id: type, value });
const listed = async (id = IDS.antibody, as?: string): Promise<Json> =>
  ((await lab.ask("GET", path(id), as ? { as } : {})).body.results as Record<string, Json>[]).map(
    ({ name, value }) => [name, value],
  );

test("accepts values that match the annotation type", async () => {
  const before = await listed();
  expect(before).toEqual([]);
  const good: [string, unknown, Json][] = [
    ["note", " free words ", "free words"],
    ["organ", "liver", { id: IDS.liver, name: "liver" }],
    ["weight", { value: "2.5", unit: "gram" }, { value: 2.5, unit: { id: IDS.gram, name: "gram" } }],
    ["settings", { gain: [1, 2] }, { gain: [1, 2] }],
    ["stored_in", IDS.freezer, { id: IDS.freezer, name: "Freezer 1" }],
    ["host", "goat", "goat"],
  ];
  for (const [type, value, shown] of good) {
    const { status, body } = await annotate(type, value);
    expect([type, status, body.name, body.value]).toEqual([type, 201, type, shown]);
  }
  expect(await listed()).toEqual(good.map(([type, , shown]) => [type, shown]));
  const again = await annotate("note", "more");
  const message = "annotation_type_id: The record already has a value of this type. Change that one.";
  expect([again.status, again.body.message]).toEqual([400, message]);
});

const REFUSED: [string, unknown, string][] = [
  ["organ", "gram", 'value: "gram" is not a term of the vocabulary.'],
  ["organ", ["liver"], "value: Only one value is allowed."],
  ["weight", 5, 'value: Expected a number with a unit: {"value": 5, "unit": "milligram"}.'],
  ["weight", { value: "x", unit: "gram" }, "value: A valid number is required."],
  ["weight", { value: 5, unit: "liver" }, 'value: "liver" is not one of the units.'],
  ["weight", "", "value: weight is required."],
  ["note", { a: 1 }, "value: Not a valid string."],
  ["note", "", "value: This field may not be blank."],
  ["stored_in", IDS.shelf, `value: "${IDS.shelf}" is not a record of equipment.`],
  ["host", "cat", 'value: "cat" is not a valid choice. Choices: rabbit, goat.'],
  ["nothing", "x", "annotation_type_id: No such annotation type."],
];
test.each(REFUSED)("rejects %s: %p", async (type, value, message) => {
  const { body: made } = await lab.send("admin", "POST", "consumables/", { name: "new" });
  const { status, body } = await annotate(type, value, "admin", String(made.id));
  expect({ status, message: body.message }).toEqual({ status: 400, message });
});

async function annotateNew(type: string, value: unknown) {
  const declared = { name: `a ${type}`, type, public: true };
  const { body: made } = await lab.send("admin", "POST", "annotationtypes/", declared);
  const { body: record } = await lab.send("admin", "POST", "consumables/", { name: "new" });
  const { status, body } = await annotate(String(made.id), value, "admin", String(record.id));
  return [status, body.value];
}

const FIVE_GRAMS = { value: 5, unit: { id: IDS.gram, name: "gram" } };
test.each<[type: string, value: unknown, shown: Json]>([
  ["DATE", " 2026-01-31 ", "2026-01-31"],
  ["NUMBER", "2.5", 2.5],
  ["NUMBER", -1, -1],
  ["NUMBERUNIT", " 5  gram ", FIVE_GRAMS],
  ["NUMBERUNIT", { number: 5, unit_id: IDS.gram }, FIVE_GRAMS],
  ["JSON", [1, { a: null }], [1, { a: null }]],
])("a %s with the value %j is shown as %j", async (type, value, shown) => {
  expect(await annotateNew(type, value)).toEqual([201, shown]);
});

const DATE = "Expected a date, such as 2026-01-31.";
test.each([
  ["DATE", "2026-02-30", DATE],
  ["DATE", "2026-01-31T10:00:00Z", DATE],
  ["DATE", 20260131, DATE],
  ["NUMBER", "x", "A valid number is required."],
  ["NUMBERUNIT", "gram", 'Expected a number with a unit: {"value": 5, "unit": "milligram"}.'],
  ["USER", "nobody", '"nobody" is not a user.'],
])("a %s rejects the value %j: %s", async (type, value, message) => {
  expect(await annotateNew(type, value)).toEqual([400, [message]]);
});

test("returns 404 for invisible records and 403 for read-only ones", async () => {
  const hidden = `specimens/${IDS.hidden}`;
  for (const part of ["annotations", "notes"]) {
    await expectStatuses(lab, "bob", [
      [`GET ${hidden}/${part}/`, 404],
      [`POST ${hidden}/${part}/`, 404, {}],
    ]);
    expect((await lab.send("alice", "GET", `${hidden}/${part}`)).body).toMatchObject({
      total: 0,
      results: [],
    });
  }
  expect((await annotate("note", "x", "bob")).status).toBe(403);
  expect((await lab.ask("POST", path(IDS.antibody), { body: {} })).status).toBe(401);
  expect((await lab.send("admin", "DELETE", path(IDS.antibody))).headers.get("allow")).toBe(
    "GET, POST, HEAD, OPTIONS",
  );
});

test("shows the name of a referenced record only to callers who may view it", async () => {
  const made = await lab.send("admin", "POST", "consumables/", { name: "open", public: true });
  const id = String(made.body.id);
  const type = await lab.send("admin", "POST", "annotationtypes/", {
    name: "kept_in",
    type: "OBJECT",
    choices_target: "locations",
    public: true,
  });
  expect((await annotate(String(type.body.id), "Secret", "admin", id)).status).toBe(201);
  expect(await listed(id, "alice")).toEqual([["kept_in", { id: IDS.secret, name: "Secret" }]]);
  expect(await listed(id, "bob")).toEqual([["kept_in", { id: IDS.secret, name: null }]]);
  const hidden = { public: false, owned_by: "Genomics" };
  await expectStatuses(lab, "admin", [[`PATCH annotationtypes/${String(type.body.id)}`, 200, hidden]]);
  expect(await listed(id, "bob")).toEqual([[null, { id: IDS.secret, name: null }]]);
});

test("updates and deletes an annotation", async () => {
  const made = await lab.send("bob", "POST", "specimens/", { name: "Bob's", model_type: "FISH" });
  const at = `specimens/${String(made.body.id)}/annotations/`;
  const { body } = await lab.send("bob", "POST", at, { annotation_type_id: IDS.note, value: "a" });
  const one = `${at}${String(body.id)}/`;
  expect((await lab.send("bob", "PATCH", one, { value: "b" })).body.value).toBe("b");
  await expectStatuses(lab, "alice", [[`PATCH ${one}`, 404, { value: "c" }]]);
  await expectStatuses(lab, "bob", [
    [`DELETE ${one}`, 204],
    [`DELETE ${one}`, 404],
  ]);
});

test("creates notes, and finds records by their text", async () => {
  const notes = `locations/${IDS.shelf}/notes/?response_format=flat`;
  const { status, body } = await lab.send("admin", "POST", notes, { results: { content: "Door sticks" } });
  expect([status, body.results]).toEqual([201, expect.objectContaining({ content: "Door sticks" })]);
  for (const [query, isFound] of [
    ['query_expression={"category":"notes","operator":"icontains","value":"STICKS"}', true],
    ["notes__content__contains=sticks", true],
    ["notes__content__contains=summer", false],
    ['query_expression={"not":{"category":"notes__content","operator":"contains","value":"Door"}}', false],
  ] as const) {
    const { results } = (await lab.ask("GET", `locations/?${query}`)).body;
    const ids = (results as Record<string, Json>[]).map(({ id }) => id);
    expect([query, ids.includes(IDS.shelf)]).toEqual([query, isFound]);
  }
  for (const bad of ["ordering=notes__content", "notes__content__isnull=true", "notes=x"])
    expect({ bad, status: (await lab.ask("GET", `locations/?${bad}`)).status }).toEqual({ bad, status: 400 });
});

test("takes the model type from the parameter `type`", async () => {
  const made = await lab.send("alice", "POST", "stocks/consumables/?type=OLIGO", { name: "p1" });
  expect(made.body.model_type).toBe("OLIGO");
  const { body } = await lab.send("alice", "GET", "stocks/consumables/?type=OLIGO");
  expect(body.total).toBe(1);
});

test("links to existing choices", async () => {
  const full = await openLab({ sample: sample as unknown as InventorySample });
  let followed = 0;
  for (const segment of ["annotationtypes", "custompropertytypes"]) {
    const { body } = await full.ask("GET", `${segment}/?page_size=max`);
    for (const record of body.results as Record<string, Json>[]) {
      const links = [record.choices_api, record.unit_choices_api].filter((link) => typeof link === "string");
      const expected = ["VOCABULARYTERM", "OBJECT", "NUMBERUNIT"].includes(String(record.type)) ? 1 : 0;
      expect({ name: record.name, links: links.length }).toEqual({ name: record.name, links: expected });
      for (const link of links) {
        const { status, body: choices } = await full.ask("GET", link);
        expect({ link, status }).toEqual({ link, status: 200 });
        const records = choices.results as Record<string, Json>[];
        expect(records.length).toBeGreaterThan(0);
        const names = [record.choices_value, record.choices_label].map(String).sort();
        const keys = Object.keys(records[0]).sort();
        if (record.type === "OBJECT") expect(keys).toEqual(names);
        else expect(keys).toEqual(["id", "name"]);
        followed++;
      }
    }
  }
  expect(followed).toBeGreaterThan(15);
  full.database.close();
});

test("serves the same lists under their aliases", async () => {
  for (const { segment, aliases } of RESOURCES)
    for (const alias of aliases ?? []) {
      const [long, short] = [await lab.ask("GET", `${segment}/`), await lab.ask("GET", `${alias}/`)];
      expect({ alias, ...short.body }).toEqual({ alias, ...long.body });
    }
  expect((await lab.ask("GET", `assays/${IDS.assay}`)).body.name).toBe("Imaging");
  expect((await lab.ask("GET", `assays/experiments/${IDS.experiment}`)).body.name).toBe("Time course");
});
