import { expect, test } from "bun:test";
import {
  type AnnotationInfo,
  columnTitle,
  parseConstant,
  type Declaration,
  defaultColumns,
  defaultOrder,
  type FieldInfo,
  formFields,
  isCommon,
  isConstant,
  isEditable,
  listedAnnotations,
  newPagePath,
  makeOrdering,
  pagePath,
  splitPath,
  listSingular,
  listTitle,
  formatConstant,
  writableFields,
} from "../../src/web/inventory/declaration.ts";

const field = (changes: Partial<FieldInfo> = {}): FieldInfo => ({
  kind: "text",
  write: "optional",
  nullable: false,
  label: "Field",
  help_text: "",
  shown: "always",
  max_length: null,
  choices: null,
  rule: null,
  reference: null,
  lookups: [],
  sortable: true,
  for_clients: false,
  ...changes,
});
const declare = (fields: Record<string, FieldInfo>): Declaration => ({
  name: "boxes",
  description: "",
  model: "stocks.box",
  key: "name",
  ordering: ["name"],
  guarded: true,
  fields,
  annotations: {},
});
const FEW = {
  id: field({ form: { shownIn: "details" } }),
  name: field({ write: "required" }),
  description: field({ max_length: 10_000, form: { shownIn: "head" } }),
  size: field({ form: { suffix: "unit" } }),
  unit: field(),
  code: field({ form: { column: false } }),
  hidden: field({ shown: "extra" }),
  meta: field({ kind: "json" }),
  rights: field({ kind: "computed", write: "never" }),
  modified: field({ write: "never", form: { shownIn: "details" } }),
};

test("a list shows the name and up to five other fields by default, the modification time where there is room", () => {
  expect(defaultColumns(declare(FEW))).toEqual(["name", "size", "description", "modified"]);
  const many = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, field()]));
  expect(defaultColumns(declare({ ...FEW, ...many }))).toEqual(["name", "size", "a", "b", "c", "d"]);
  expect(defaultColumns(declare({ name: field() }))).toEqual(["name", "modified"]);
});

test.each([
  ["size", true],
  ["hidden", true],
  ["meta", false],
  ["rights", false],
  ["modified", false],
  ["none", false],
])("tells whether %s is editable: %p", (name, editable) => {
  expect(isEditable((FEW as Record<string, FieldInfo>)[name])).toBe(editable);
});

test("forms have all writable fields except fields that only clients use", () => {
  const names = writableFields(declare(FEW)).map(([name]) => name);
  expect(names).toEqual(["id", "name", "description", "size", "unit", "code", "hidden", "meta"]);
  const declared = declare({ ...FEW, flowcell: field({ for_clients: true }) });
  expect(formFields(declared).map(([name]) => name)).toEqual(names);
  expect(writableFields(declared).map(([name]) => name)).toContain("flowcell");
  expect(defaultColumns(declared)).not.toContain("flowcell");
});

test.each([
  ["stocks/consumables", "/inventory/stocks-consumables", "Consumables", "consumable"],
  ["addresses", "/inventory/addresses", "Addresses", "address"],
  ["vocabularies/categories", "/inventory/vocabularies-categories", "Choice lists", "choice list"],
  ["fieldmeta", "/inventory/fieldmeta", "Meanings of fields", "meaning of a field"],
])("the list %s is at %s, titled %s, of %s records", (segment, path, title, singular) => {
  expect([pagePath(segment), listTitle(segment), listSingular(segment)]).toEqual([path, title, singular]);
  expect(pagePath(segment, "1")).toBe(`${path}/1`);
  expect(newPagePath(segment)).toBe(`${path}/new`);
});

test("stocktakes have a page with a different name", () => {
  expect(newPagePath("stocktakes")).toBe("/inventory/stocktake");
});

test("titles of columns across references contain all names of the path", () => {
  const declared = declare({ size: field({ label: "Size" }) });
  expect(columnTitle(declared, "size")).toBe("Size");
  expect(columnTitle(declared, "place__room_name")).toBe("Place › room name");
});

test.each([
  ["DNA_OLIGO", "DNA oligo"],
  ["ANTIBODY", "Antibody"],
])("the constant %s is recognized in %p", (constant, words) => {
  expect([formatConstant(constant), parseConstant(words, undefined)]).toEqual([words, constant]);
});

test("a status of several words keeps its spaces", () => {
  const status = field({ rule: "upper case letters, digits, _ and spaces" });
  expect([formatConstant("IN PROGRESS"), parseConstant("In progress ", status)]).toEqual([
    "In progress",
    "IN PROGRESS",
  ]);
});

test("constants are fields whose rule asks for upper case", () => {
  expect(parseConstant(" a-b! ", undefined)).toBe("A_B");
  const rules = ["upper case letters and _", "a word", null];
  expect(rules.map((rule) => isConstant(field({ rule })))).toEqual([true, false, false]);
  expect(isConstant(undefined)).toBe(false);
  const owner = field({ form: { shownIn: "access" } });
  expect([isCommon(owner), isCommon(field())]).toEqual([true, false]);
});

const annotation = (label: string, changes: Partial<AnnotationInfo> = {}): FieldInfo =>
  field({
    label,
    shown: "extra",
    annotation: {
      id: label,
      model_type: "",
      type: "TEXT",
      multiple: false,
      used: true,
      list_visibility: "ALWAYS",
      units: null,
      ...changes,
    },
  });
const ANNOTATED: Declaration = {
  ...declare(FEW),
  annotations: {
    annotations__host: annotation("Raised in"),
    annotations__host__strain: annotation("Strain of the host"),
    annotations__unused: annotation("Unused", { used: false }),
    annotations__rare: annotation("Rare", { list_visibility: "OPTIONAL" }),
    annotations__never: annotation("Never", { list_visibility: "NEVER" }),
  },
};

test("a list shows annotations in use with list_visibility ALWAYS, and offers those with OPTIONAL", () => {
  const own = ["name", "size", "description"];
  expect(defaultColumns(ANNOTATED)).toEqual([
    ...own,
    "annotations__host",
    "annotations__host__strain",
    "modified",
  ]);
  expect(listedAnnotations(ANNOTATED).map(([, { label }]) => label)).toEqual([
    "Raised in",
    "Strain of the host",
    "Rare",
  ]);
});

test.each([
  ["annotations__host", ["annotations__host"], "Raised in"],
  ["annotations__host__name", ["annotations__host", "name"], "Raised in › name"],
  [
    "annotations__host__strain__icontains",
    ["annotations__host__strain", "icontains"],
    "Strain of the host › icontains",
  ],
  ["size", ["size"], "Field"],
  ["location__label", ["location", "label"], "Location › label"],
])("the name %s has the parts %j", (name, path, title) => {
  expect(splitPath(ANNOTATED, name)).toEqual(path);
  expect(columnTitle(ANNOTATED, name)).toBe(title);
});

test("lists are ordered by names in natural order, including names of references", () => {
  const reference = { segment: "locations", key: "label", printed: "id" } as const;
  const of = declare({ ...FEW, location: field({ kind: "reference", reference }) });
  expect(defaultOrder(of)).toBe("name__natural");
  expect(makeOrdering(of, "location")).toBe("location__label__natural");
  const stored = declare({ ...FEW, location: field({ kind: "reference", reference }), position: field({}) });
  expect(makeOrdering(stored, "location")).toBe(
    "location__equipment__name,location__parent__label__natural,location__label__natural,position__natural",
  );
  expect(makeOrdering(of, "size")).toBe("size");
});
