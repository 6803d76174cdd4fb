import { beforeAll, expect, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import {
  applies,
  columnTitle,
  type Declaration,
  type FieldInfo,
  defaultColumns,
  inWords,
  isStored,
  machineName,
  type Reference,
  formatChoice,
} from "../../src/web/inventory/declaration.ts";
import {
  formatText,
  parseInput,
  formatInput,
  recordName,
  toRow,
  Value,
} from "../../src/web/inventory/record.tsx";
import {
  formAnnotations,
  groupFields,
  pairFields,
  sentValues,
} from "../../src/web/inventory/record-form.tsx";
import { ValueInput } from "../../src/web/inventory/value-input.tsx";
import { findAnnotation } from "../../src/web/inventory/type-form.tsx";
import { ApiError } from "../../src/web/request.ts";
import { type Lab, openLab } from "../inventory/harness.ts";

/** Forms that pages make from the declarations of the server. */

let lab: Lab;
let of: Declaration;
beforeAll(async () => {
  lab = await openLab();
  const { body } = await lab.ask("OPTIONS", "annotationtypes/", { as: "alice" });
  of = body as unknown as Declaration;
});

const main = (values: Record<string, string>): string[] => groupFields(of, values, false)[0].names;

test.each([
  ["TEXT", "value_choices"],
  ["VOCABULARYTERM", "cv_category"],
  ["NUMBERUNIT", "unit_category"],
  ["OBJECT", "choices_target"],
])("the form for a type of the kind %s asks for %s", (type, asked) => {
  expect(main({ type })).toEqual(["label", "type", asked, "model_name", "mandatory"]);
});

test("the form of annotation types has all other fields under Advanced", () => {
  const [, advanced, ...others] = groupFields(of, { type: "DATE" }, true);
  expect(others).toEqual([]);
  expect(advanced.title).toBe("Advanced");
  expect(advanced.names).toContain("help_text");
  expect(advanced.names).toContain("owned_by");
  expect(advanced.names).not.toContain("has_default");
});

test("the form of consumables has a part for each question, and access last", async () => {
  const { body } = await lab.ask("OPTIONS", "stocks/consumables/", { as: "alice" });
  const consumables = body as unknown as Declaration;
  // Of a type that is not known.
  const groups = groupFields(consumables, { model_type: "Reagent" }, false);
  // Fields may follow.
  expect(groups.map(({ title, names }) => `${title}: ${names.join(" ")}`)).toEqual(
    [
      "Properties: name description model_type status barcode",
      "Location: location position",
      "Stock: amount unit minimum_amount received opened expiry freeze_thaw_count aliquot_of",
      "Supplier: supplier catalogue_number lot price currency",
      "Access: public owned_by",
    ].map((names) => expect.stringMatching(new RegExp(`^${names}`))),
  );
});

test("the type of a record decides which fields its form asks for", async () => {
  const { body } = await lab.ask("OPTIONS", "stocks/consumables/", { as: "alice" });
  const parts = (values: Record<string, string>) =>
    Object.fromEntries(
      groupFields(body as unknown as Declaration, values, false).map(({ title, names }) => [title, names]),
    );
  const untyped = parts({});
  expect(Object.keys(untyped)).toEqual(["Properties", "Location", "Stock", "More fields", "Access"]);
  expect(untyped.Properties[0]).toBe("name");
  expect(untyped.Stock).toEqual(["amount", "unit"]);
  const grid = parts({ model_type: "Emgrid", expiry: "2030-01-01" });
  expect(grid.Supplier).toContain("lot");
  expect(grid["More fields"]).toEqual(["opened", "freeze_thaw_count", "aliquot_of"]);
  // A value is shown, whatever the type.
  expect(grid.Stock).toContain("expiry");
  expect(parts({ model_type: "Enzyme" })["More fields"]).toBeUndefined();
});

test("consumables have slots; terms have a position but no slot", async () => {
  const declared = async (list: string) =>
    (await lab.ask("OPTIONS", list, { as: "alice" })).body as unknown as Declaration;
  expect(isStored(await declared("stocks/consumables/"))).toBe(true);
  const terms = await declared("vocabularies/terms/");
  expect(["position" in terms.fields, isStored(terms)]).toEqual([true, false]);
});

test("a form asks for annotations with a value, and for custom properties of the type", () => {
  const annotation = (model_type: string) => ({
    write: "optional",
    kind: "text",
    annotation: { model_type },
  });
  const annotated = {
    ...of,
    annotations: {
      annotations__host: annotation("ANTIBODY"),
      annotations__sequence: annotation("DNA_OLIGO"),
      annotations__genotype: annotation(""),
    },
  } as unknown as Declaration;
  const asked = (model_type: string, before = {}) => formAnnotations(annotated, before, { model_type });
  expect(asked("Antibody")).toEqual(["annotations__host"]);
  expect(asked("DNA oligo", { annotations__genotype: "wt" })).toEqual([
    "annotations__sequence",
    "annotations__genotype",
  ]);
  expect(asked("")).toEqual([]);
  const groups = groupFields(annotated, { type: "DATE" }, false, ["annotations__host"]);
  expect(groups.map(({ title }) => title)).toEqual(["Properties", "Metadata", "Advanced"]);
});

test.each([
  ["Status, such as AVAILABLE.", { rule: "upper case letters, digits and _" }, "Status, such as Available."],
  [
    '"X" is not a valid choice. Choices: OPEN, DNA_OLIGO.',
    { choices: [] },
    '"X" is not a valid choice. Choices: Open, DNA oligo.',
  ],
  ["Expected a GTIN.", { choices: null }, "Expected a GTIN."],
])("a message %p about a field is shown in words", (message, field, shown) => {
  expect(inWords(message, field as unknown as FieldInfo)).toBe(shown);
});

test("a message about a value of another field shows its label", () => {
  const message = "This field is required if type is VOCABULARYTERM.";
  const { cv_category, ...others } = of.fields;
  expect(inWords(message, cv_category, Object.values(others))).toBe(
    `This field is required if type is ${others.type.form!.words!.VOCABULARYTERM[0]}.`,
  );
});

test("a machine name is proposed from the label, and kept where one was typed", () => {
  expect(machineName("  Höst species (2)")).toBe("ho_st_species_2");
  expect(sentValues(of, { label: "Host species", type: "DATE" }).name).toBe("host_species");
  expect(sentValues(of, { label: "Host species", name: "host", type: "DATE" }).name).toBe("host");
});

test("values of fields that no longer apply are cleared", () => {
  const values = { label: "Tissue", type: "VOCABULARYTERM", cv_category: "1", value_choices: "a\nb" };
  expect(sentValues(of, values)).toMatchObject({ cv_category: "1", value_choices: "" });
  expect(applies(of.fields.value_choices, values)).toBe(false);
});

test("a choice without a vocabulary is rejected at that field", () => {
  expect(() => sentValues(of, { label: "Tissue", type: "VOCABULARYTERM" })).toThrow(ApiError);
  try {
    sentValues(of, { type: "VOCABULARYTERM" });
  } catch (error) {
    expect(Object.keys((error as ApiError).fields)).toEqual(["label", "cv_category"]);
  }
});

test("choices are typed one on each line", () => {
  const field = of.fields.value_choices;
  const pairs = [
    ["rabbit", "rabbit"],
    ["m", "Mouse"],
  ];
  expect(parseInput("rabbit\n\n m =  Mouse ", field)).toEqual(pairs);
  expect(formatInput(pairs, field)).toBe("rabbit\nm = Mouse");
  expect(formatText(pairs, field)).toBe("rabbit, m = Mouse");
  expect(parseInput("", field)).toBeNull();
});

test("amounts are shown with symbols and entered with names of units", () => {
  const amount = { value: 5, unit: { id: "1", name: "milligram" } };
  const field = { annotation: { type: "NUMBERUNIT" } } as FieldInfo;
  expect([formatText(amount), formatInput(amount, field)]).toEqual(["5 mg", "5 milligram"]);
  const several = { annotation: { type: "NUMBERUNIT", multiple: true } } as FieldInfo;
  expect(formatInput([amount, amount], several)).toBe("5 milligram\n5 milligram");
});

test("the form creates a type that the server accepts", async () => {
  const sent = sentValues(of, { label: "Raised in", type: "TEXT", value_choices: "rabbit\nm = Mouse" });
  const body = Object.fromEntries(
    Object.entries(sent)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [name, parseInput(value, of.fields[name])]),
  );
  const added = await lab.send("alice", "POST", "annotationtypes/", body);
  expect(added.body).toMatchObject({
    name: "raised_in",
    label: "Raised in",
    value_choices: [
      ["rabbit", "rabbit"],
      ["m", "Mouse"],
    ],
  });
  const { body: described } = await lab.ask("OPTIONS", "equipment/", { as: "alice" });
  const raisedIn = (described as unknown as Declaration).annotations.annotations__raised_in;
  expect(raisedIn.choices?.map((choice) => formatText(choice, raisedIn))).toEqual(["rabbit", "Mouse"]);
});

test("lists and pages of types show names for people and kinds in words", () => {
  const row = toRow({ id: "1", name: "host_species", label: "Host species" });
  expect(recordName(of, row)).toBe("Host species");
  expect(columnTitle(of, "name")).toBe("Name");
  expect(defaultColumns(of)).not.toContain("label");
  expect(formatChoice("NUMBERUNIT", of.fields.type)).toBe("Amount");
  expect(formatChoice("stocks.specimen", of.fields.model_name)).toBe("Specimens");
});

test("the preview has the input for values of the type", () => {
  const shared = { key: "name", printed: "id" };
  const terms = { ...shared, segment: "vocabularies/terms" };
  const objects = { ...shared, segment: "stocks/consumables" };
  expect(findAnnotation({ type: "VOCABULARYTERM", cv_category: "7" }).reference).toEqual({
    ...terms,
    filter: { category_id: "7" },
  } as Reference);
  expect(
    findAnnotation({ type: "OBJECT", choices_target: "stocks/consumables?type=ANTIBODY" }).reference,
  ).toEqual({
    ...objects,
    filter: { type: "ANTIBODY" },
  } as Reference);
  expect(findAnnotation({ type: "NUMBERUNIT" }).annotation!.units).toEqual({
    ...terms,
    filter: { category__kind: "unit" },
  } as Reference);
  const choice = findAnnotation({ type: "TEXT", value_choices: "m = Mouse" });
  expect([choice.choices, formatText("m", choice)]).toEqual([["m"], "Mouse"]);
});

test("every list and model in words is one of the server's", async () => {
  for (const segment of Object.keys(of.fields.choices_target.form!.words!)) {
    const { body } = await lab.ask("OPTIONS", `${segment}/`, { as: "alice" });
    expect(Object.keys(of.fields.model_name.form!.words!)).toContain(body.model as string);
  }
});

test("hints and choices of forms show neither constants nor names in requests", async () => {
  for (const segment of [
    "stocks/consumables",
    "stocks/specimen",
    "locations",
    "annotationtypes",
    "custompropertytypes",
  ]) {
    const { body } = await lab.ask("OPTIONS", `${segment}/`, { as: "alice" });
    const declared = body as unknown as Declaration;
    for (const group of groupFields(declared, { type: "TEXT" }, true))
      for (const name of group.names) {
        const props = { segment, name, field: declared.fields[name], value: "", onChange: () => {} };
        const html = renderToString(h(ValueInput, props));
        const text = html.replaceAll(/<[^>]*>/g, " ");
        const constant = text.match(/\b[A-Z]{3,}(_[A-Z]+)*\b/)?.[0] ?? "none";
        expect([segment, name, ["none", "JSON", "EUR"].includes(constant) || constant]).toEqual([
          segment,
          name,
          true,
        ]);
        expect([name, /_[a-z]/.test(text)]).toEqual([name, false]);
      }
  }
});

test("units stand beside amounts, and slots beside locations", async () => {
  const { body } = await lab.ask("OPTIONS", "stocks/consumables/", { as: "alice" });
  const names = ["name", "location", "amount", "unit", "minimum_amount", "position", "lot", "currency"];
  expect(pairFields(body as unknown as Declaration, names)).toEqual([
    ["name"],
    ["location", "position"],
    ["amount", "unit"],
    ["minimum_amount"],
    ["lot"],
    ["currency"],
  ]);
});

test("shows a list of records as names on lines, and names the field of invalid JSON", async () => {
  const { body } = await lab.ask("OPTIONS", "stocks/samples/", { as: "alice" });
  const { parents } = (body as unknown as Declaration).fields;
  expect(parseInput("Lysate 1\n Lysate 2 \n", parents)).toEqual(["Lysate 1", "Lysate 2"]);
  const named = ["Lysate 1", "Lysate 2"].map((name) => ({ id: crypto.randomUUID(), name }));
  expect(formatInput(named, parents)).toBe("Lysate 1\nLysate 2");
  expect(formatText(named, parents)).toBe("Lysate 1, Lysate 2");
  const json = { kind: "json", label: "Details", nullable: false } as FieldInfo;
  expect(parseInput('{"a":1}', json)).toEqual({ a: 1 });
  expect(() => parseInput("S1, S2", json)).toThrow("Details: Must be JSON, such as");
});

test("saved views name lists in words, and stocktakes their location by a reference that no path crosses", async () => {
  const described = async (list: string): Promise<Declaration["fields"]> =>
    ((await lab.ask("OPTIONS", list, { as: "alice" })).body as unknown as Declaration).fields;
  const { list, query } = await described("views/");
  expect(formatText("stocks/consumables", list)).toBe("Consumables");
  expect([list.choices?.every((each) => list.form?.words?.[each]), query.form?.omitted]).toEqual([
    true,
    true,
  ]);
  const { location } = await described("stocktakes/");
  expect(location.reference).toEqual({ segment: "locations", key: "label", printed: "plain id" });
  const shown = renderToString(h(Value, { value: crypto.randomUUID(), field: location }));
  expect(shown).toContain('href="/inventory/locations/');
});
