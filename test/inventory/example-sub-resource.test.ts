import { afterAll, beforeAll, expect, test } from "bun:test";
import { computed, flag, number, Shape, text } from "../../src/inventory/model/field.ts";
import { SUB_RESOURCES } from "../../src/inventory/resources/index.ts";
import { subResource } from "../../src/inventory/resources/sub-resource.ts";
import { type Lab, openLab } from "./harness.ts";

/** A worked example: a sub-resource is one declaration and one table. Routes, schemas and history follow. */

const measurement = subResource({
  name: "measurement",
  segment: "measurements",
  summary: "Measured values of records.",
  table: "measurement",
  fields: {
    quantity: text("What was measured, such as temperature.", { write: "required", blank: false }),
    value: number("The measured value."),
    is_final: flag("Whether the value has been checked.", false),
    summary: computed("Quantity and value.", {
      from: ["quantity", "value"],
      shape: Shape.String(),
      compute: ({ quantity, value }) => `${String(quantity)}: ${String(value)}`,
    }),
  },
  rules: ({ is_final, value }) => (is_final === 1 && value === null ? { value: "Required when final." } : {}),
  docs: { list: "List measurements", add: "Add a measurement", body: '{"quantity": "…", "value": 4.2}' },
});

/** Columns for the parent, the fields, and who wrote the row when. Without the table nothing is stored. */
const TABLE = `CREATE TABLE measurement (
  rid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  object_kind TEXT NOT NULL, object_rid INTEGER NOT NULL,
  quantity TEXT NOT NULL, value REAL, is_final INTEGER NOT NULL,
  created INTEGER NOT NULL, created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified INTEGER NOT NULL, modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  deleted INTEGER NOT NULL DEFAULT 0, deleted_date INTEGER, deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT`;

let lab: Lab;
let path: string;
beforeAll(async () => {
  lab = await openLab({ subResources: [...Object.values(SUB_RESOURCES), measurement] });
  lab.database.run(TABLE);
  const { body } = await lab.ask("POST", "locations/", { as: "alice", body: { label: "Freezer" } });
  path = `locations/${body.id}/measurements/`;
});
afterAll(() => lab.database.close());

const ask = (method: string, address: string, body?: unknown, as = "alice") =>
  lab.ask(method, address, { as, ...(body === undefined ? {} : { body }) });

test("creates, lists, changes, deletes and restores records of a new sub-resource", async () => {
  const created = await ask("POST", path, { quantity: "temperature", value: -80 });
  const now = "2026-01-01T00:00:00.000000+00:00";
  expect([created.status, created.body]).toEqual([
    201,
    {
      id: created.body.id,
      quantity: "temperature",
      value: -80,
      is_final: false,
      summary: "temperature: -80",
      created: now,
      created_by: "alice",
      modified: now,
      modified_by: "alice",
      deleted: false,
      deleted_date: null,
      deleted_by: null,
      version: 1,
    },
  ]);
  const one = `${path}${created.body.id}/`;
  expect((await ask("PATCH", one, { value: -79.5 })).body).toMatchObject({ value: -79.5, version: 2 });
  expect((await ask("PUT", one, { quantity: "T", is_final: true })).body).toMatchObject({ quantity: "T" });
  expect((await ask("GET", path)).body.results).toMatchObject([{ quantity: "T", version: 3 }]);
  expect((await ask("DELETE", one)).status).toBe(204);
  expect((await ask("GET", path)).body.results).toEqual([]);
  expect((await ask("POST", `${one}restore/`, {})).body).toMatchObject({ deleted: false, version: 5 });
  const { results } = (await ask("GET", `${one}history/`)).body as { results: { op: string }[] };
  expect(results.map(({ op }) => op)).toEqual(["restore", "delete", "update", "update", "create"]);
});

test.each([
  ["a missing field", {}, 400, { quantity: ["This field is required."] }],
  ["a wrong value", { quantity: "x", value: "warm" }, 400, { value: ["A valid number is required."] }],
  ["a broken rule", { quantity: "x", is_final: true }, 400, { value: ["Required when final."] }],
  ["an internal field", { quantity: "x", object_rid: 1 }, 400, {}],
])("rejects %s", async (_, body, status, errors) => {
  const answer = await ask("POST", path, body);
  expect([answer.status, answer.body]).toEqual([status, expect.objectContaining(errors)]);
});

test("users who may view the parent may read its items, and users who may change it may write them", async () => {
  expect((await ask("GET", path, undefined, "bob")).status).toBe(404);
  const { body } = await ask("POST", "locations/", { label: "Open shelf", public: true });
  const open = `locations/${body.id}/measurements/`;
  expect((await ask("GET", open, undefined, "bob")).status).toBe(200);
  expect((await ask("POST", open, { quantity: "x" }, "bob")).status).toBe(403);
});
