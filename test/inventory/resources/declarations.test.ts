import { afterAll, describe, expect, test } from "bun:test";
import { MIGRATIONS } from "../../../db/index.ts";
import { explain, RESOURCES } from "../../../src/inventory/index.ts";
import { fieldAt, isGuarded, shownFields } from "../../../src/inventory/model/resource.ts";
import { DECLARED, validateDeclarations } from "../../../src/inventory/resources/index.ts";
import { openDatabase } from "../../../src/platform/sqlite.ts";

const database = openDatabase(":memory:", MIGRATIONS);
afterAll(() => database.close());

test("the declarations are consistent", () => {
  expect(validateDeclarations(DECLARED)).toEqual([]);
});

test("reports errors in a declaration", () => {
  const location = DECLARED.get("location")!;
  const broken = { ...location, table: "location; --", key: "nothing", nameFields: ["place__nothing"] };
  expect(validateDeclarations(new Map([...DECLARED, ["location", broken]]))).toEqual([
    "location: location; -- is not a plain word",
    "location: nothing is not a field",
    "location: place__nothing is not a field",
  ]);
});

interface Column {
  name: string;
  type: string;
  notnull: number;
}
const columnsOf = (table: string): Map<string, Column> =>
  new Map(
    (database.prepare(`PRAGMA table_xinfo(${table})`).all() as Column[]).map((column) => [
      column.name,
      column,
    ]),
  );

test("the declared columns are exactly those of the database, with the right types", () => {
  const types: Record<string, string> = { text: "TEXT", uuid: "TEXT", json: "TEXT", number: "REAL" };
  const declared = new Map<string, Set<string>>();
  for (const resource of DECLARED.values()) {
    const columns = columnsOf(resource.table);
    const seen = declared.get(resource.table) ?? new Set(["rid", ...Object.keys(resource.where ?? {})]);
    declared.set(resource.table, seen);
    for (const [name, field] of Object.entries(resource.fields)) {
      if (field.kind === "computed") continue;
      const column = columns.get(field.column ?? name);
      expect({ resource: resource.name, name, type: column?.type }).toEqual({
        resource: resource.name,
        name,
        type: types[field.kind] ?? "INTEGER",
      });
      seen.add(column!.name);
      if (field.folded) expect(columns.get(field.folded)?.type).toBe("TEXT");
      if (field.folded) seen.add(field.folded);
      if (field.trigrams) expect(columnsOf(`${resource.table}_fts`).has(field.trigrams)).toBe(true);
      if (field.column !== "rid")
        expect({ resource: resource.name, name, notnull: column!.notnull === 1 }).toEqual({
          resource: resource.name,
          name,
          notnull: !(field.nullable || name === "deleted_by" || name === "deleted_date"),
        });
    }
  }
  for (const [table, seen] of declared) {
    // Of accounts, only what records show is declared.
    if (!isGuarded([...DECLARED.values()].find((resource) => resource.table === table)!)) continue;
    expect([...columnsOf(table).keys()].filter((name) => !seen.has(name))).toEqual([]);
  }
});

test("only id, username and full name of an account can be reached over a reference", () => {
  const user = DECLARED.get("user")!;
  const reached = Object.keys(user.fields).filter((name) => fieldAt(DECLARED, user, [name]));
  expect(reached).toEqual(["id", "username", "full_name"]);
  const group = DECLARED.get("group")!;
  expect(Object.keys(group.fields).filter((name) => fieldAt(DECLARED, group, [name]))).toEqual([
    "id",
    "name",
    "description",
  ]);
});

describe("records have exactly the fields of the specification:", () => {
  const common = ["id", "created_by", "modified_by", "created", "modified"];
  const typeFields =
    "name choice_label description public permissions unit_choices_api type label help_text default has_default multiple is_protocol_parameter autocomplete searchable readonly sortable cv_category mandatory validations visibility edit_visibility list_visibility value_choices choices_value choices_label choices_api preferred_view_widget preferred_edit_widget preferred_list_widget field_meta".split(
      " ",
    );
  test.each([
    ["location", [...common, "label", "equipment", "place"]],
    ["place", [...common, "building", "room", "address"]],
    ["annotation_type", ["url", ...common, ...typeFields, "owner", "owned_by"]],
    [
      "custom_property_type",
      ["url", ...common, ...typeFields, "model_name", "model_type", "owner", "owned_by"],
    ],
  ])("%s", (name, fields) => {
    expect(shownFields(DECLARED.get(name)!)).toEqual(fields);
  });
});

test("an explanation lists fields, parameters and the SQL of a list", () => {
  for (const resource of RESOURCES) {
    const text = explain(resource);
    for (const name of Object.keys(resource.fields)) expect(text).toContain(`\n  ${name} `);
    expect(text).toContain("query_expression");
    expect(text).toContain(`SELECT count(*) AS total FROM ${resource.table} AS t`);
  }
});
