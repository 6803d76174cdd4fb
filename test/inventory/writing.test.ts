import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab, START } from "./harness.ts";
import { IDS } from "./sample.ts";

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.database.close());

const send = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> =>
  lab.ask(method, path, { as, ...(body === undefined ? {} : { body }) });
/** The status and the body. */
const sent = async (
  method: string,
  path: string,
  body?: unknown,
  as = "alice",
): Promise<[number, unknown]> => {
  const answer = await send(method, path, body, as);
  return [answer.status, answer.body];
};
/** Creates a location as alice. */
const add = async (body: object = { label: "Box" }, path = "locations/"): Promise<string> => {
  const answer = await send("POST", path, body);
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
  return String(answer.body.id);
};
const total = async (path: string, as = "admin"): Promise<Json> =>
  (await lab.ask("GET", path, { as })).body.total;

describe("creating", () => {
  test("returns the record, its address and its owners", async () => {
    const { status, headers, body } = await send("POST", "locations/", { label: "  Box  ", place: IDS.a101 });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`http://lab/api/v2/locations/${body.id}/`);
    expect(headers.get("allow")).toBe("GET, POST, PUT, PATCH, HEAD, OPTIONS");
    expect(body).toMatchObject({
      label: "Box",
      place: IDS.a101,
      equipment: null,
      created_by: "alice",
      modified_by: "alice",
    });
    const fields = "owner,owned_by,public,version,permissions";
    expect((await send("GET", `locations/${body.id}/?fields=${fields}`)).body).toEqual({
      public: false,
      permissions: { public: false, actions: { change: true, delete: true } },
      owner: "alice",
      owned_by: "Genomics",
      version: 1,
    });
    expect((await lab.ask("GET", String(headers.get("location")), { as: "alice" })).body).toEqual(body);
  });

  test.each([
    ["an id", IDS.a101],
    ["a name", "A 101"],
    ["an object with id", { id: IDS.a101 }],
    ["an object with name", { name: "A 101" }],
    ["an object with value", { value: "A 101" }],
    ["a nested property", { name: "place", value: { id: IDS.a101, name: "A 101" }, category: "property" }],
  ])("a reference may be %s", async (_, place) => {
    expect((await send("POST", "locations/", { label: "Box", place })).body.place).toBe(IDS.a101);
  });

  test("accepts the same forms for users, groups and addresses", async () => {
    const owners = { owner: { username: "bob" }, owned_by: { name: "Imaging" } };
    const admin = await send("POST", "locations/?fields=owner,owned_by", { label: "x", ...owners }, "admin");
    expect(admin.body).toEqual({ owner: "bob", owned_by: "Imaging" });
    for (const address of [1, "1", "Institute", { id: 1 }])
      expect((await send("POST", "places/", { room: "7", address })).body).toMatchObject({
        address: 1,
        building: "",
      });
  });

  test("accepts and returns the wrapper of the flat format", async () => {
    const { status, body } = await send("POST", "locations/?format=json&response_format=flat", {
      results: { label: "Box" },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      results: expect.objectContaining({ label: "Box", created: "2026-01-01T00:00:00.000000+00:00" }),
    });
  });

  test("a list creates all records or none", async () => {
    const good = await send("POST", "locations/", [{ label: "a" }, { label: "b" }]);
    expect(good.status).toBe(201);
    expect((good.body as unknown as { label: string }[]).map(({ label }) => label)).toEqual(["a", "b"]);
    const before = await total("locations/");
    expect(await sent("POST", "locations/", [{ label: "c" }, { label: "" }, {}])).toEqual([
      400,
      [{}, { label: ["This field may not be blank."] }, { label: ["This field is required."] }],
    ]);
    expect(await total("locations/")).toBe(before);
  });
});

describe("field errors:", () => {
  /** Valid bodies; a row replaces or removes one field. */
  const VALID: Record<string, object> = {
    locations: { label: "a" },
    places: { room: "1", address: 1 },
    annotationtypes: { name: "x", type: "TEXT" },
    custompropertytypes: { name: "x", type: "TEXT" },
    "vocabularies/categories": { name: "x" },
    "vocabularies/terms": { name: "x", category: "Tissue" },
  };
  test.each<[list: string, change: object | string, text: string]>([
    ["locations", { label: undefined }, "This field is required."],
    ["locations", "", "This field is required."],
    ["locations", { label: "" }, "This field may not be blank."],
    ["locations", { label: null }, "This field may not be null."],
    ["locations", { label: {} }, "Not a valid string."],
    ["locations", { label: "x".repeat(256) }, "Ensure this field has no more than 255 characters."],
    ["locations", { labl: "b" }, '"labl" is not a field of location. Did you mean label?'],
    ["locations", { rid: 3 }, '"rid" is not a field of location.'],
    ["locations", { place: IDS.bench }, `Invalid pk "${IDS.bench}" - object does not exist.`],
    ["locations", { place: "Nowhere" }, 'Object with name="Nowhere" does not exist.'],
    ["locations", { place: [1] }, "Expected an id, a name, or an object with one of them."],
    ["locations", { place: { id: "1" } }, "Enter a valid UUID."],
    ["locations", { public: "maybe" }, "Must be a valid boolean."],
    ["locations", { owner: "bob" }, "Only an administrator may change the owner."],
    ["locations", { owned_by: "Imaging" }, "You are not a member of this group."],
    ["locations", { owned_by: null }, "This field may not be null."],
    ["places", { address: undefined }, "This field is required."],
    ["places", { address: 99 }, 'Invalid pk "99" - object does not exist.'],
    ["places", { address: null }, "This field may not be null."],
    ["annotationtypes", { type: undefined }, "This field is required."],
    ["annotationtypes", { type: "POEM" }, '"POEM" is not a valid choice. Choices: TEXT, OBJECT'],
    ["annotationtypes", { visibility: "sometimes" }, "Expected upper case letters"],
    ["annotationtypes", { validations: [{ name: "required" }] }, "Expected a list of objects"],
    ["annotationtypes", { value_choices: [["a"]] }, "Expected null or a list of pairs"],
    ["annotationtypes", { type: "OBJECT", choices_target: "../x" }, "Expected the segment of a list"],
    ["custompropertytypes", { model_name: undefined }, "This field is required."],
    ["vocabularies/categories", { name: "Tissue" }, "category with this name already exists."],
    ["vocabularies/categories", { kind: "sort" }, '"sort" is not a valid choice. Choices: term, unit.'],
    ["vocabularies/terms", { position: "first" }, "A valid integer is required."],
    ["locations", '"text"', "Invalid data. Expected a dictionary, but got string."],
    ["locations", "null", "Invalid data. Expected a dictionary, but got null."],
  ])("POST %s %p", async (list, change, text) => {
    const path = `${list}/`;
    const isText = typeof change === "string";
    const body = isText ? change : { ...VALID[list], ...change };
    // An empty body counts as an object.
    const field = isText ? (change === "" ? "label" : "non_field_errors") : Object.keys(change).at(-1)!;
    const before = await total(path);
    const answer = await send("POST", path, body);
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 400 });
    expect(answer.body[field]).toBeArrayOfSize(1);
    expect((answer.body[field] as string[])[0]).toStartWith(text);
    expect(answer.body.message).toStartWith(`${field}: ${text}`);
    expect(await total(path)).toBe(before);
  });

  test("reports all wrong fields at once", async () => {
    const { body } = await send("POST", "custompropertytypes/", { name: "", type: "X", mandatory: 7 });
    const named = ["mandatory", "message", "model_name", "model_type", "name", "type"];
    expect(Object.keys(body).sort()).toEqual(named);
  });

  test("treats __proto__ and constructor as plain names", async () => {
    const given = '{"label":"a","__proto__":{"x":1},"constructor":1}';
    const { status, body } = await send("POST", "locations/", given);
    expect(status).toBe(400);
    expect(body.message).toContain("is not a field of location");
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("the rules of types:", () => {
  const create = (body: object, path = "annotationtypes/"): Promise<Answered> =>
    send("POST", `${path}?fields=*`, { name: "x", type: "TEXT", ...body });

  test("mandatory adds its validation and removes it", async () => {
    const made = await create({ mandatory: true, label: "Dose" });
    expect(made.body.validations).toEqual([
      { name: "required", arguments: [], error_message: "Dose is required." },
    ]);
    const off = await send("PATCH", `annotationtypes/${made.body.id}/`, { mandatory: false });
    expect(off.body).toMatchObject({ mandatory: false, validations: [] });
    const own = [
      { name: "range", arguments: [0, 9], error_message: "0 to 9" },
      { name: "required", arguments: [], error_message: "Please!" },
    ];
    const kept = await send("PATCH", `annotationtypes/${made.body.id}/`, {
      mandatory: true,
      validations: own,
    });
    expect(kept.body.validations).toEqual([own[1], own[0]]);
    expect((await create({ validations: [own[1]] })).body.validations).toEqual([]);
  });

  test("has a default if and only if has_default is true", async () => {
    expect((await create({ has_default: false, default: "a" })).body).toMatchObject({
      has_default: false,
      default: "",
    });
    expect((await create({ default: "a" })).body).toMatchObject({ has_default: true, default: "a" });
    expect((await create({ has_default: true, default: 5 })).body).toMatchObject({ default: "5" });
    const wrong = await create({ has_default: true });
    expect(wrong.body).toMatchObject({ default: ["This field may not be blank if has_default is true."] });
  });

  test("VOCABULARYTERM requires a category, and other types have none", async () => {
    expect((await create({ type: "VOCABULARYTERM" })).body).toMatchObject({
      cv_category: ["This field is required if type is VOCABULARYTERM."],
    });
    const made = await create({ type: "VOCABULARYTERM", cv_category: "Tissue" });
    expect(made.body).toMatchObject({
      cv_category: IDS.tissue,
      choices_api: `http://lab/api/v2/vocabularies/terms/?category_id=${IDS.tissue}&page_size=max&fields=id,name&response_format=flat`,
      preferred_edit_widget: "CVEDIT",
    });
    expect((await create({ cv_category: "Tissue" })).body).toMatchObject({
      cv_category: null,
      choices_api: null,
    });
    const changed = await send("PATCH", `annotationtypes/${made.body.id}/`, { type: "TEXT" });
    expect(changed.body).toMatchObject({
      cv_category: null,
      choices_api: null,
      preferred_edit_widget: "TEXTINPUT",
    });
  });

  test("NUMBERUNIT sets its widgets, links to its units, and is not searchable by default", async () => {
    const made = await create({ type: "NUMBERUNIT", unit_category: "Mass", preferred_view_widget: "TEXT" });
    expect(made.body).toMatchObject({
      searchable: false,
      unit_category: IDS.mass,
      preferred_view_widget: "NUMBERUNIT",
      preferred_edit_widget: "NUMBERUNIT",
      preferred_list_widget: "NUMBERUNIT",
      unit_choices_api: `http://lab/api/v2/vocabularies/terms/?category_id=${IDS.mass}&page_size=max&fields=id,name&response_format=flat`,
    });
    const any = await create({ type: "NUMBERUNIT", searchable: true });
    expect(any.body).toMatchObject({ searchable: true, unit_category: null });
    expect(any.body.unit_choices_api).toContain("category__kind=unit");
    expect((await create({ unit_category: "Mass" })).body).toMatchObject({
      unit_category: null,
      unit_choices_api: null,
    });
  });

  test("OBJECT links to the list of its target", async () => {
    const made = await create({
      type: "OBJECT",
      choices_target: "stocks/consumables?type=ANTIBODY",
      choices_label: "label",
    });
    expect(made.body.choices_api).toBe(
      "http://lab/api/v2/stocks/consumables/?type=ANTIBODY&page_size=max&fields=id,label&response_format=flat",
    );
  });

  test("labels default to the name, and the field meta to the default one", async () => {
    expect((await create({ label: "Dose" })).body).toMatchObject({ label: "Dose", choice_label: "Dose" });
    expect((await create({})).body).toMatchObject({
      label: "x",
      choice_label: "x",
      field_meta: "00000000-0000-4000-8000-000000000003",
    });
  });
});

describe("changing", () => {
  test("PATCH changes the given fields only", async () => {
    const id = await add({ label: "Box", place: "A 101", description: "old" });
    lab.clock.set(START + 1500);
    const { status, headers, body } = await send("PATCH", `locations/${id}/`, { label: "Case" });
    expect(status).toBe(200);
    expect(headers.get("allow")).toBe("GET, PUT, PATCH, DELETE, HEAD, OPTIONS");
    expect(body).toMatchObject({
      label: "Case",
      place: IDS.a101,
      created: { value: "2026-01-01T00:00:00.000000+00:00" },
      modified: { value: "2026-01-01T00:00:01.500000+00:00" },
    });
    expect((await send("GET", `locations/${id}?fields=description,version`)).body).toEqual({
      description: "old",
      version: 2,
    });
    expect((await send("PATCH", `locations/${id}/`, { place: null })).body.place).toBeNull();
    expect(await total("locations/?name=case", "alice")).toBe(1);
  });

  test("PUT requires required fields, ignores read-only ones, and accepts an answer unchanged", async () => {
    const id = await add({ label: "Box", place: "A 101", description: "old" });
    expect((await send("PUT", `locations/${id}/`, { place: null })).body).toMatchObject({
      label: ["This field is required."],
    });
    for (const form of ["", "?response_format=nested", "?response_format=flat", "?fields=*"]) {
      const got = await send("GET", `locations/${id}/${form}`);
      const put = await send("PUT", `locations/${id}/${form}`, got.body);
      expect({ form, status: put.status, text: put.status === 200 ? "" : put.text }).toEqual({
        form,
        status: 200,
        text: "",
      });
    }
    const { body } = await send("GET", `locations/${id}?fields=label,place,description,created_by,version`);
    expect(body).toEqual({
      created_by: "alice",
      label: "Box",
      place: IDS.a101,
      description: "old",
      version: 5,
    });
  });

  test("accepts every record of the sample unchanged", async () => {
    for (const segment of [
      "annotationtypes",
      "custompropertytypes",
      "equipment",
      "places",
      "vocabularies/terms",
      "vocabularies/categories",
      "addresses",
      "fieldmeta",
    ]) {
      const { body } = await send("GET", `${segment}/?page_size=max`, undefined, "admin");
      const put = await send("PUT", `${segment}/`, body, "admin");
      // The envelope is no list.
      expect(put.status).toBe(400);
      const rows = body.results as Record<string, Json>[];
      const answer = await send("PUT", `${segment}/`, rows, "admin");
      expect({ segment, status: answer.status, text: answer.status === 200 ? "" : answer.text }).toEqual({
        segment,
        status: 200,
        text: "",
      });
      const strip = (row: Record<string, Json>) => ({ ...row, modified: null, modified_by: null });
      expect((answer.body as unknown as Record<string, Json>[]).map(strip)).toEqual(rows.map(strip));
    }
  });

  test("keeps a reference to a record that the writer may not view, but refuses a new one", async () => {
    const id = String((await send("POST", "locations/", { label: "x", place: "Cellar" }, "alice")).body.id);
    lab.database.run(
      `INSERT INTO object_permission (object_kind, object_rid, user_rid, can_view, can_change)
       SELECT 'location', l.rid, u.rid, 1, 1 FROM location l, user_account u WHERE l.id = '${id}' AND u.username = 'bob'`,
    );
    const got = await send("GET", `locations/${id}/`, undefined, "bob");
    expect(got.body.place).toBe(IDS.cellar);
    const whole = await send("GET", `locations/${id}/?fields=*`, undefined, "bob");
    expect((await send("PUT", `locations/${id}/`, whole.body, "bob")).status).toBe(200);
    expect((await send("PUT", `locations/${id}/`, got.body, "bob")).body.place).toBe(IDS.cellar);
    expect((await send("PATCH", `locations/${id}/`, { place: "A 101" }, "bob")).body.place).toBe(IDS.a101);
    const back = await send("PATCH", `locations/${id}/`, { place: IDS.cellar }, "bob");
    expect(back.body).toMatchObject({ place: [`Invalid pk "${IDS.cellar}" - object does not exist.`] });
  });

  test("refuses a location inside itself", async () => {
    const [a, b] = [await add({ label: "a" }), await add({ label: "b" })];
    expect((await send("PATCH", `locations/${b}/`, { parent: a })).status).toBe(200);
    for (const [of, parent] of [
      [a, a],
      [a, b],
    ])
      expect((await send("PATCH", `locations/${of}/`, { parent })).body).toMatchObject({
        parent: ["A location cannot be inside itself."],
      });
  });

  test("refuses an ambiguous name", async () => {
    await add({ label: "same" });
    await add({ label: "same" });
    const { body } = await send("POST", "locations/", { label: "x", parent: "same" });
    expect(body).toMatchObject({ parent: ["Several objects have this label; give the id of one."] });
  });

  test("changes several records or none", async () => {
    const [a, b] = [await add({ label: "a" }), await add({ label: "b" })];
    const done = await send("PATCH", "locations/", [
      { id: b, label: "B" },
      { id: a, description: "first" },
    ]);
    expect(done.status).toBe(200);
    expect((done.body as unknown as { label: string }[]).map(({ label }) => label)).toEqual(["B", "a"]);
    const wrong = await send("PATCH", "locations/", [
      { id: a, label: "A" },
      { id: b, label: "" },
      { id: b, labl: "c" },
    ]);
    expect(wrong.body).toMatchObject({
      "[1].label": ["This field may not be blank."],
      "[2].labl": [expect.stringContaining("is not a field")],
    });
    const first = { id: a, label: "A" };
    for (const [method, body, status, message] of [
      ["PATCH", [{ label: "c" }], 400, "[0].id: This field is required."],
      ["PATCH", [first, { id: IDS.shelf, label: "mine" }], 403, "You do not have permission"],
      ["PATCH", [first, { id: IDS.note, label: "x" }], 404, `Not found: "${IDS.note}".`],
      ["PUT", [{ id: a }], 400, "[0].label: This field is required."],
      ["PATCH", { id: a }, 400, "non_field_errors: Expected a list"],
    ] as const) {
      const answer = await send(method, "locations/", body);
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
    }
    expect((await send("GET", `locations/${a}/`)).body.label).toBe("a");
  });
});

describe("operations on several records", () => {
  let ids: string[];
  beforeEach(async () => {
    ids = [await add({ label: "a", place: "A 101" }), await add({ label: "b", place: "A 101" })];
  });
  const labels = ({ body }: Answered): Json[] =>
    (body as unknown as { label: Json }[]).map(({ label }) => label);

  test("may be a JSON Patch with ids in the paths", async () => {
    const [a, b] = ids;
    const patch = [
      { op: "test", path: `/${a}/label`, value: "a" },
      { op: "replace", path: `/${a}/label`, value: "A" },
      { op: "remove", path: `/${b}/place` },
      { op: "add", path: `/${a}/description`, value: "first" },
    ];
    const answer = await lab.ask("PATCH", "locations/?fields=label,place,description", {
      as: "alice",
      body: patch,
      headers: { "Content-Type": "application/json-patch+json" },
    });
    expect({ status: answer.status, body: answer.body as unknown }).toEqual({
      status: 200,
      body: [
        { label: "A", place: IDS.a101, description: "first" },
        { label: "b", place: null, description: "" },
      ],
    });
  });

  test("may be the same for all records", async () => {
    const patch = [{ op: "replace", path: "/label", value: "same" }];
    expect(labels(await send("PATCH", "locations/", { ids, patch }))).toEqual(["same", "same"]);
    expect(labels(await send("PATCH", "locations/", { items: ids, label: "other" }))).toEqual([
      "other",
      "other",
    ]);
  });

  test("are rolled back if one is refused", async () => {
    const [a, b] = ids;
    const change = { op: "replace", path: `/${a}/label`, value: "A" };
    const refusals: [unknown, number, string][] = [
      [{ op: "test", path: `/${b}/label`, value: "x" }, 409, `"label" of "${b}" is not the tested value.`],
      [{ op: "test", path: `/${b}/rid`, value: 1 }, 409, "is not the tested value."],
      [{ op: "replace", path: `/${b}/label`, value: "" }, 400, "[1].label: This field may not be blank."],
      [{ op: "remove", path: `/${b}/label` }, 400, "[1].label: This field may not be null."],
      [{ op: "replace", path: `/${b}/labl`, value: "x" }, 400, '"labl" is not a field of location.'],
      [{ op: "replace", path: `/${b}/__proto__`, value: {} }, 400, "is not a field of location."],
      [{ op: "copy", path: `/${b}/label` }, 400, "[1].op: Choices: add, replace, remove, test."],
      [{ op: "replace", path: "label", value: "x" }, 400, "[1].path: Expected /<id>/<field>."],
      [{ op: "replace", path: `/${b}/`, value: "x" }, 400, "[1].path: Expected /<id>/<field>."],
      [{ op: "replace", path: `/${b}/label` }, 400, "[1].value: This field is required."],
      [{ op: "replace", path: `/${IDS.shelf}/label`, value: "x" }, 403, "permission"],
      [{ op: "replace", path: `/${IDS.secret}x/label`, value: "x" }, 404, "Not found"],
    ];
    for (const [operation, status, text] of refusals) {
      const answer = await send("PATCH", "locations/", [change, operation]);
      expect({ operation, status: answer.status }).toEqual({ operation, status });
      expect(answer.body.message).toContain(text);
      expect((await send("GET", `locations/${a}/`)).body.label).toBe("a");
    }
  });
});

describe("deleting", () => {
  test("hides a record from lists and keeps it", async () => {
    const id = await add();
    const before = await total("locations/");
    lab.clock.set(START + 1000);
    const { status, text, headers } = await send("DELETE", `locations/${id}`);
    expect([status, text, headers.get("content-type")]).toEqual([204, "", null]);
    expect(await total("locations/")).toBe(Number(before) - 1);
    expect((await send("GET", `locations/${id}/`)).status).toBe(404);
    expect((await send("DELETE", `locations/${id}/`)).status).toBe(404);
    expect((await send("PATCH", `locations/${id}/?deleted=true`, { label: "x" })).status).toBe(404);
    const query = "deleted=true&fields=deleted,deleted_by,deleted_date,label&response_format=flat";
    expect((await send("GET", `locations/${id}/?${query}`)).body.results).toEqual({
      label: "Box",
      deleted: true,
      deleted_by: "alice",
      deleted_date: "2026-01-01T00:00:01.000000+00:00",
    });
    for (const query of ["deleted=true", "deleted=all", "deleted=True&deleted_by=alice"])
      expect(await total(`locations/?${query}&label=Box`, "alice")).toBe(1);
    expect(await total("locations/?deleted=true", "bob")).toBe(0);
    const expression = encodeURIComponent('{"category":"deleted","operator":"==","value":"true"}');
    expect(await total(`locations/?query_expression=${expression}`, "alice")).toBe(1);
  });

  test("refuses to delete a record that others refer to", async () => {
    const { status, body } = await send("DELETE", `places/${IDS.a102}/`, undefined, "admin");
    expect(status).toBe(409);
    expect(body.detail).toContain("it is the place of records in locations");
    expect((await send("GET", `places/${IDS.a102}/`)).status).toBe(200);
  });

  test("deletes several records or none, in every accepted form", async () => {
    const make = async (): Promise<string[]> => [await add({ label: "a" }), await add({ label: "b" })];
    const forms: [string, string, (ids: string[]) => string, (ids: string[]) => unknown][] = [
      ["DELETE", "as specified", ([a, b]) => `bulk_delete/?id=${a},id=${b}`, () => undefined],
      ["POST", "repeated", ([a, b]) => `bulk_delete?id=${a}&id=${b}`, () => undefined],
      ["DELETE", "doubled slash", ([a, b]) => `/bulk_delete/?ids=${a},${b}`, () => undefined],
      ["POST", "a list", () => "bulk_delete/", (ids) => ids],
      ["DELETE", "a list of objects", () => "bulk_delete/", (ids) => ids.map((id) => ({ id }))],
      ["POST", "an object", () => "bulk_delete/", (ids) => ({ ids })],
    ];
    for (const [method, form, path, body] of forms) {
      const ids = await make();
      const answer = await sent(method, `locations/${path(ids)}`, body(ids));
      expect([form, ...answer]).toEqual([form, 200, { deleted: 2, ids }]);
      expect((await send("GET", `locations/${ids[0]}/`)).status).toBe(404);
    }
    const [a, b] = await make();
    expect((await send("DELETE", `locations/bulk_delete/?id=${a}&id=${IDS.shelf}`)).body.detail).toBe(
      `You do not have permission to delete "${IDS.shelf}".`,
    );
    expect((await send("DELETE", `locations/bulk_delete/?id=${a}&id=${IDS.note}`)).status).toBe(404);
    expect((await send("DELETE", "locations/bulk_delete/")).body).toMatchObject({
      id: [expect.stringContaining("Name the records")],
    });
    const get = await send("GET", "locations/bulk_delete/");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST, DELETE, OPTIONS"]);
    for (const id of [a, b]) expect((await send("GET", `locations/${id}/`)).status).toBe(200);
  });

  test("deletes a location together with the locations inside it", async () => {
    const outer = await add({ label: "outer" });
    const inner = await add({ label: "inner", parent: outer });
    expect((await send("DELETE", `locations/${outer}/`)).status).toBe(409);
    expect((await send("DELETE", `locations/bulk_delete/?id=${outer},${inner}`)).status).toBe(200);
  });
});

describe("writes without permission:", () => {
  test.each([
    ["POST", "locations/"],
    ["PUT", "locations/"],
    ["PATCH", "locations/"],
    ["PUT", `locations/${IDS.shelf}/`],
    ["PATCH", `locations/${IDS.shelf}`],
    ["DELETE", `locations/${IDS.shelf}/`],
    ["DELETE", `locations/${IDS.secret}/`],
    ["DELETE", "locations/bulk_delete/"],
  ])("nobody: %s %s", async (method, path) => {
    const { status, headers, body } = await lab.ask(method, path, { body: {} });
    const text = "Authentication credentials were not provided.";
    expect({ status, body }).toEqual({ status: 401, body: { detail: text, message: text } });
    expect(headers.get("www-authenticate")).toBe("Token, Bearer");
  });

  test.each([
    ["PUT", `locations/${IDS.shelf}/`, 403],
    ["PATCH", `locations/${IDS.shelf}/`, 403],
    ["DELETE", `locations/${IDS.shelf}/`, 403],
    ["PATCH", `locations/${IDS.secret}/`, 404],
    ["DELETE", `locations/${IDS.secret}/`, 404],
    ["PATCH", `locations/${IDS.note}/`, 404],
    ["DELETE", "locations/", 405],
    ["POST", `locations/${IDS.shelf}/`, 405],
    ["TRACE", "locations/", 405],
    ["DELETE", "", 405],
    ["POST", "version/", 405],
    ["POST", "users/bob", 405],
    ["PUT", `resolver/${IDS.shelf}/`, 405],
  ])("bob: %s %s is %d", async (method, path, wanted) => {
    const { status, headers, body } = await lab.ask(method, path, { as: "bob", body: { label: "x" } });
    const texts: Record<number, string> = {
      403: "You do not have permission to perform this action.",
      404: "Not found.",
      405: `Method "${method}" not allowed.`,
    };
    const detail = expect.stringContaining(texts[wanted]);
    expect({ status, body }).toEqual({ status: wanted, body: { detail, message: detail } });
    expect(headers.has("allow")).toBe(wanted === 405);
  });

  test("refuses a wrong token, also for reading", async () => {
    for (const [Authorization, status, detail] of [
      ["Token wrong", 401, "Invalid token."],
      [`Bearer ${lab.tokens.alice}`, 200, undefined],
    ] as const) {
      const answer = await lab.ask("GET", "locations/", { headers: { Authorization } });
      expect([answer.status, answer.body.detail] as unknown[]).toEqual([status, detail]);
    }
  });

  test("requires credentials for reading if anonymous reading is off", async () => {
    const closed = await openLab({ anonymousRead: false });
    for (const path of ["", "locations/", `locations/${IDS.shelf}/`])
      expect((await closed.ask("GET", path)).status).toBe(401);
    expect((await closed.ask("GET", "locations/", { as: "bob" })).status).toBe(200);
    closed.database.close();
  });
});

describe("malformed bodies:", () => {
  test.each([
    ["text/csv", "label\nx", 415, 'Unsupported media type "text/csv" in request. Send application/json.'],
    ["<b>/x", "{}", 415, "Unsupported media type of this name in request. Send application/json."],
    ["application/json", '{"label":', 400, "JSON parse error - Unexpected EOF."],
    [
      "application/json; charset=utf-8",
      "{'label':1}",
      400,
      "JSON parse error - Single quotes (') are not allowed in JSON.",
    ],
  ])("%s %s", async (type, body, status, detail) => {
    const headers = { "Content-Type": type };
    const answer = await lab.ask("POST", "locations/", { as: "alice", body, headers });
    expect([answer.status, answer.body]).toEqual([status, { detail, message: detail }]);
  });

  test("refuses an unacceptable format before anything is written", async () => {
    const before = await total("locations/");
    const headers = { Accept: "image/png" };
    const refused = await lab.ask("POST", "locations/", { as: "alice", body: { label: "x" }, headers });
    expect(refused.status).toBe(406);
    expect((await send("POST", "locations/?format=xml", { label: "x" })).status).toBe(404);
    expect(await total("locations/")).toBe(before);
  });
});

test.each([
  [1000, 200],
  [1001, 400],
])("a JSON Patch of %i operations is %i", async (length, status) => {
  const id = await add();
  const patch = Array.from({ length }, () => ({ op: "test", path: "/label", value: "Box" }));
  expect((await send("PATCH", `locations/${id}/`, patch)).status).toBe(status);
});

test("a stocktake can be changed after its location was deleted", async () => {
  const location = await add();
  const stocktake = await add({ name: "Count", location }, "stocktakes/");
  await send("DELETE", `locations/${location}/`);
  const body = { name: "Counted", location };
  expect((await send("PATCH", `stocktakes/${stocktake}/`, body)).body).toMatchObject(body);
  expect((await send("POST", "stocktakes/", { name: "New", location })).body).toMatchObject({
    location: [`Invalid pk "${location}" - object does not exist.`],
  });
});

test("refuses a unit category whose kind is not unit", async () => {
  const make = (unit_category: string) =>
    send("POST", "annotationtypes/", { name: "w", type: "NUMBERUNIT", unit_category }, "admin");
  const refused = await make("Tissue");
  const error = "Expected a category whose kind is unit.";
  expect([refused.status, refused.body.unit_category]).toEqual([400, [error]]);
  expect((await make("Mass")).status).toBe(201);
});
