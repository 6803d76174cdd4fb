import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab, START } from "../harness.ts";
import { IDS } from "../sample.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const send = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> =>
  lab.send(as, method, path, body);
/** Creates a location as alice. */
const add = async (body: object = { label: "Box" }, path = "locations/"): Promise<string> => {
  const answer = await send("POST", path, body);
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
  return String(answer.body.id);
};
const total = async (path: string, as = "admin"): Promise<Json> =>
  (await lab.ask("GET", path, { as })).body.total;

describe("changing records", () => {
  test("PATCH changes only the fields in the body", async () => {
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

  test("PUT requires required fields, ignores read-only ones, and accepts a response unchanged", async () => {
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

  test("accepts every record of the sample data unchanged", async () => {
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

  test("keeps a reference to a record that the writer may not view, but rejects a new one", async () => {
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

  test("rejects a location inside itself", async () => {
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

  test("rejects an ambiguous name", async () => {
    await add({ label: "same" });
    await add({ label: "same" });
    const { body } = await send("POST", "locations/", { label: "x", parent: "same" });
    expect(body).toMatchObject({ parent: ["Several objects have this label; give the id of one."] });
  });

  test("changes all of the given records or none", async () => {
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
      { id: await add({ label: "c" }), labl: "c" },
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
  beforeAll(async () => {
    ids = [await add({ label: "a", place: "A 101" }), await add({ label: "b", place: "A 101" })];
  });
  const labels = ({ body }: Answered): Json[] =>
    (body as unknown as { label: Json }[]).map(({ label }) => label);

  test("a JSON Patch changes several records, with ids in its paths", async () => {
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

  test("one body changes several records", async () => {
    const patch = [{ op: "replace", path: "/label", value: "same" }];
    expect(labels(await send("PATCH", "locations/", { ids, patch }))).toEqual(["same", "same"]);
    expect(labels(await send("PATCH", "locations/", { items: ids, label: "other" }))).toEqual([
      "other",
      "other",
    ]);
  });

  test("rolls back changes to several records if one is rejected", async () => {
    const [a, b] = ids;
    const { label } = (await send("GET", `locations/${a}/`)).body;
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
      expect((await send("GET", `locations/${a}/`)).body.label).toBe(label!);
    }
  });
});

test.each([
  [1000, 200],
  [1001, 400],
])("returns for a JSON Patch of %i operations status %i", async (length, status) => {
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
