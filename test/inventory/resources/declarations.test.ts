import { afterAll, describe, expect, test } from "bun:test";
import type { Field } from "../../../src/inventory/model/field.ts";
import { fieldAt, isGuarded, type Resource, shownFields } from "../../../src/inventory/model/resource.ts";
import { DECLARED, RESOURCES, validateDeclarations } from "../../../src/inventory/resources/index.ts";
import { LISTS } from "../../../src/inventory/resources/lists.ts";
import { openMigrated } from "../../database.ts";
import { INDEXED } from "../text-index.ts";

const database = openMigrated();
afterAll(() => database.close());

test("the declarations are consistent", () => {
  expect(validateDeclarations(DECLARED)).toEqual([]);
});

test("reports errors in a declaration", () => {
  const location = DECLARED.get("location")!;
  const barcode: Field = { ...location.fields.barcode, form: { suffix: "symbol" } };
  const broken = {
    ...location,
    table: "location; --",
    key: "nothing",
    nameFields: ["place__nothing"],
    fields: { ...location.fields, barcode },
  };
  expect(validateDeclarations(new Map([...DECLARED, ["location", broken]]))).toEqual([
    "location: location; -- is not a plain word",
    "location: the form of barcode names the unknown field symbol",
    "location: nothing is not a field",
    "location: place__nothing is not a field",
  ]);
});

test("every list has a title, and its page settings name fields of its records", () => {
  expect(RESOURCES.filter(({ segment }) => !LISTS[segment]).map(({ segment }) => segment)).toEqual([]);
  const wrong = RESOURCES.flatMap((resource) => {
    const { key = "name", context = [], asked = [], inside = {}, model } = LISTS[resource.segment];
    expect([resource.segment, key, model ?? resource.model]).toEqual([
      resource.segment,
      resource.key,
      resource.model,
    ]);
    return [...context, ...asked, ...Object.values(inside)].filter(
      (name) => !fieldAt(DECLARED, resource, name.split("__")),
    );
  });
  expect(wrong).toEqual([]);
});

interface Column {
  name: string;
  type: string;
  notnull: number;
}
const readColumns = (table: string): Map<string, Column> =>
  new Map(
    (database.prepare(`PRAGMA table_xinfo(${table})`).all() as Column[]).map((column) => [
      column.name,
      column,
    ]),
  );

const TYPES: Record<string, string> = { text: "TEXT", uuid: "TEXT", json: "TEXT", number: "REAL" };
/** The columns of a field as the database should have them. */
function columnsOfField(name: string, field: Field): (Omit<Column, "notnull"> & { notnull?: number })[] {
  if (field.kind === "computed") return [];
  const column = field.column ?? name;
  const nullable = field.nullable || name === "deleted_by" || name === "deleted_date";
  return [
    {
      name: column,
      type: TYPES[field.kind] ?? "INTEGER",
      // SQLite declares the row number nullable.
      ...(column === "rid" ? {} : { notnull: nullable ? 0 : 1 }),
    },
    ...(field.folded ? [{ name: field.folded, type: "TEXT" }] : []),
  ];
}

test.each([...DECLARED.values()].map((resource) => [resource.name, resource] as const))(
  "the columns of %s have the declared types",
  (_, resource) => {
    const columns = readColumns(resource.table);
    for (const [name, field] of Object.entries(resource.fields))
      for (const column of columnsOfField(name, field))
        expect(columns.get(column.name)).toMatchObject(column);
  },
);

const searchableNames = ({ fields }: Pick<Resource, "fields">): string[] =>
  Object.keys(fields).filter((name) => fields[name].searchable);

test("resources that share a table have the same searchable fields", () => {
  const byTable = Map.groupBy(INDEXED, ({ table }) => table);
  for (const [table, [first, ...others]] of byTable)
    for (const other of others)
      expect([table, searchableNames(other)]).toEqual([table, searchableNames(first)]);
});

// Of accounts, only what records show is declared.
test.each([...new Set([...DECLARED.values()].filter(isGuarded).map(({ table }) => table))])(
  "every column of %s is declared",
  (table) => {
    const declared = ["rid"];
    for (const { table: its, where = {}, fields } of DECLARED.values()) {
      if (its !== table) continue;
      declared.push(...Object.keys(where));
      for (const [name, field] of Object.entries(fields))
        declared.push(...columnsOfField(name, field).map((column) => column.name));
    }
    expect([...readColumns(table).keys()].filter((name) => !declared.includes(name))).toEqual([]);
  },
);

test("references reach only id, username and full name of an account", () => {
  const user = DECLARED.get("user")!;
  const reached = Object.keys(user.fields).filter((name) => fieldAt(DECLARED, user, [name]));
  expect(reached).toEqual(["id", "username", "full_name"]);
  const group = DECLARED.get("group")!;
  expect(Object.keys(group.fields).filter((name) => fieldAt(DECLARED, group, [name]))).toEqual([
    "id",
    "name",
    "description",
    "members_may",
    "members_order",
    "due_back_days",
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
