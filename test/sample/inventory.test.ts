import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import inventory from "../../src/sample/inventory.json";
import type { InventorySample } from "../../src/inventory/records/sample.ts";

/** The sample inventory is consistent and shows every kind of record. */

const SAMPLE = join(import.meta.dir, "../../src/sample");
const { places, equipment, locations, categories, terms } = inventory;
const annotationTypes = inventory.annotation_types;
const propertyTypes = inventory.custom_property_types;
const types = [...annotationTypes, ...propertyTypes];

const ascending = (values: Iterable<string>): string[] => [...new Set(values)].sort();
/** Values that occur more than once. */
const twice = (values: string[]): string[] => values.filter((value, i) => values.indexOf(value) !== i);
/** Values outside the allowed ones. */
const strangers = (values: (string | undefined)[], allowed: Iterable<string>): string[] => {
  const known = new Set(allowed);
  return values.filter((value) => value !== undefined && !known.has(value)) as string[];
};

describe("records", () => {
  test("records have an identifier in the format of the API", () => {
    // Annotations derive their identifier from their content.
    const { addresses: _, annotations: _annotations, notes: _notes, ...identified } = inventory;
    const ids = Object.values(identified).flatMap((records) => records.map(({ id }) => id!));
    expect(
      ids.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
    ).toEqual([]);
    expect(twice(ids)).toEqual([]);
  });

  test("records have only keys of the format", () => {
    const RECORD = ["id", "public", "owned_by"];
    const TYPE = `name type label choice_label description help_text default has_default
      multiple is_protocol_parameter autocomplete searchable readonly sortable
      cv_category unit_category mandatory validations visibility edit_visibility
      list_visibility value_choices choices_value choices_label choices_target
      preferred_view_widget preferred_edit_widget preferred_list_widget field_meta`.split(/\s+/);
    const KEYS: Record<keyof InventorySample, string[]> = {
      addresses: ["name", "organisation", "street", "postcode", "city", "region", "country"],
      places: ["building", "room", "address", "description"],
      equipment: ["name", "description", "code", "model_type", "barcode", "place"],
      locations: [
        "label",
        "description",
        "barcode",
        "place",
        "equipment",
        "parent",
        "grid_rows",
        "grid_columns",
        "numbering",
        "capacity",
      ],
      categories: ["name", "description", "kind"],
      terms: ["name", "category", "label", "description", "dbxref_id", "position"],
      field_metas: ["name", "description"],
      annotation_types: TYPE,
      custom_property_types: [...TYPE, "model_name", "model_type"],
      projects: ["name", "description"],
      experiments: ["name", "description", "status", "project", "is_frozen", "start_date", "completed_date"],
      assays: ["name", "description", "model_type", "state", "experiment"],
      consumables: [
        "name",
        "description",
        "model_type",
        "status",
        "barcode",
        "location",
        "amount",
        "unit",
        "position",
        "minimum_amount",
        "supplier",
        "catalogue_number",
        "lot",
        "price",
        "currency",
        "received",
        "opened",
        "expiry",
      ],
      specimens: ["name", "description", "model_type", "status", "barcode", "location", "position"],
      stocktakes: ["name", "description", "location"],
      codes: ["list", "pattern"],
      views: ["name", "description", "list", "query"],
      annotations: ["list", "of", "type", "value"],
      notes: ["list", "of", "content"],
    };
    expect(Object.keys(inventory)).toEqual(Object.keys(KEYS));
    for (const [list, records] of Object.entries(inventory)) {
      const keys = records.flatMap((record: object) => Object.keys(record));
      expect(strangers(keys, [...RECORD, ...KEYS[list as keyof InventorySample]])).toEqual([]);
    }
  });

  test("records are annotated with existing types and records", () => {
    const { annotations = [], notes = [] } = inventory;
    expect(annotations.length + notes.length).toBeGreaterThan(20);
    expect(
      strangers(
        annotations.map(({ type }) => type),
        types.map(({ name }) => name),
      ),
    ).toEqual([]);
    for (const { list, of } of [...annotations, ...notes])
      expect(
        (inventory as unknown as Record<string, { label?: string; name?: string }[]>)[list].map((record) =>
          "label" in record ? record.label : record.name,
        ),
      ).toContain(of);
  });

  test("records have unique names and barcodes", () => {
    expect(twice(places.map(({ building, room }) => `${building} ${room}`))).toEqual([]);
    expect(twice(locations.map(({ label }) => label))).toEqual([]);
    for (const list of [inventory.addresses, equipment, categories, inventory.field_metas, annotationTypes]) {
      expect(twice(list.map(({ name }) => name))).toEqual([]);
    }
    expect(twice(terms.map(({ category, name }) => `${category}/${name}`))).toEqual([]);
    expect(twice(terms.flatMap(({ dbxref_id }) => dbxref_id ?? []))).toEqual([]);
    expect(twice(propertyTypes.map(({ model_type, name }) => `${model_type}/${name}`))).toEqual([]);
    const { consumables = [], specimens = [] } = inventory;
    const coded = [...equipment, ...locations, ...consumables, ...specimens];
    expect(twice(coded.flatMap(({ barcode }) => barcode ?? []))).toEqual([]);
  });

  test("record counts match the README", () => {
    const README = readFileSync(join(SAMPLE, "README.md"), "utf8").replaceAll(/\s+/g, " ");
    const types = `${annotationTypes.length} annotation types and ${propertyTypes.length} custom property types`;
    expect(README).toContain(
      `${places.length} rooms, ${equipment.length} pieces of equipment, ${locations.length} locations`,
    );
    expect(README).toContain(`${categories.length} vocabularies with ${terms.length} terms`);
    expect(README).toContain(types);
  });
});

describe("references", () => {
  test("references refer to a record of an earlier list", () => {
    const rooms = places.map(({ building, room }) => `${building} ${room}`.trim());
    expect(
      strangers(
        places.map(({ address }) => address),
        inventory.addresses.map(({ name }) => name),
      ),
    ).toEqual([]);
    expect(
      strangers(
        [...equipment, ...locations].map(({ place }) => place),
        rooms,
      ),
    ).toEqual([]);
    expect(
      strangers(
        locations.map((location) => location.equipment),
        equipment.map(({ name }) => name),
      ),
    ).toEqual([]);
    expect(
      strangers(
        terms.map(({ category }) => category),
        categories.map(({ name }) => name),
      ),
    ).toEqual([]);
    expect(
      strangers(
        types.map(({ field_meta }) => field_meta),
        ["default", ...inventory.field_metas.map(({ name }) => name)],
      ),
    ).toEqual([]);
    expect(
      strangers(
        types.map(({ choices_target }) => choices_target),
        ["locations", "places", "equipment", "stocks/consumables"],
      ),
    ).toEqual([]);
  });

  test("a location refers to an earlier one in the same room and equipment", () => {
    for (const [i, location] of locations.entries()) {
      if (location.parent === undefined) continue;
      const parent = locations.slice(0, i).find(({ label }) => label === location.parent);
      expect({ label: location.label, place: location.place, equipment: location.equipment }).toEqual({
        label: location.label,
        place: parent?.place ?? "no parent before it",
        equipment: parent?.equipment,
      });
    }
    expect(locations.filter(({ parent }) => parent !== undefined).length).toBeGreaterThan(20);
  });

  test("equipment and its locations are in the same room", () => {
    const rooms = new Map(equipment.map(({ name, place }) => [name, place]));
    const elsewhere = locations.filter((one) => one.equipment && rooms.get(one.equipment) !== one.place);
    expect(elsewhere).toEqual([]);
  });

  test("types refer to a category of the right kind with terms", () => {
    const ofKind = (kind: string): string[] =>
      categories.filter((category) => category.kind === kind).map(({ name }) => name);
    expect(
      strangers(
        types.map(({ cv_category }) => cv_category),
        ofKind("term"),
      ),
    ).toEqual([]);
    expect(
      strangers(
        types.map(({ unit_category }) => unit_category),
        ofKind("unit"),
      ),
    ).toEqual([]);
    expect(ascending(terms.map(({ category }) => category))).toEqual(
      ascending(categories.map(({ name }) => name)),
    );
    for (const { name } of categories) {
      const positions = terms.filter(({ category }) => category === name).map(({ position }) => position);
      expect(positions).toEqual(positions.map((_, i) => i));
    }
  });
});

describe("annotation types and custom property types", () => {
  const OBSERVED = ["DMAPPANNOTATION", "JSON", "NUMBERUNIT", "OBJECT", "TEXT", "VOCABULARYTERM"];

  test("annotation and property types cover every data type", () => {
    expect(annotationTypes.length).toBeGreaterThanOrEqual(12);
    expect(propertyTypes.length).toBeGreaterThanOrEqual(8);
    expect(ascending(annotationTypes.map(({ type }) => type))).toEqual(OBSERVED);
    expect(ascending(propertyTypes.map(({ type }) => type))).toEqual(OBSERVED);
  });

  test("custom property types cover every kind of specimen and consumable", () => {
    expect(ascending(propertyTypes.map(({ model_name }) => model_name))).toEqual([
      "stocks.consumable",
      "stocks.specimen",
    ]);
    expect(ascending(propertyTypes.map(({ model_type }) => model_type))).toEqual(
      "ANTIBODY CNIDARIA EMGRID ENZYME FISH OLIGO OTHER PLANARIA SLIDE VIRUS".split(" "),
    );
  });

  test("annotation and property types use every known widget and no other", () => {
    const common = ["JSON", "NUMBERUNIT", "PubmedID", "SELECT"];
    const used = (key: keyof (typeof types)[number]): string[] =>
      ascending(types.map((one) => String(one[key])));
    expect(used("preferred_view_widget")).toEqual(ascending([...common, "TEXT", "CSVLINK", "CVVIEW"]));
    expect(used("preferred_edit_widget")).toEqual(ascending([...common, "TEXTINPUT", "CVEDIT"]));
    expect(used("preferred_list_widget")).toEqual(ascending([...common, "TEXT", "CSVLINK", "CSVTEXT"]));
    expect(used("list_visibility")).toEqual(["ALWAYS", "OPTIONAL"]);
  });

  test("annotation and property types are valid", () => {
    for (const one of types) {
      const required = (one.validations ?? []).filter(({ name }) => name === "required");
      expect(required).toHaveLength(one.mandatory ? 1 : 0);
      for (const { error_message } of required) expect(error_message).toEndWith(".");
      expect(one.default !== undefined).toBe(one.has_default === true);
      expect(one.cv_category !== undefined).toBe(one.type === "VOCABULARYTERM");
      expect(one.unit_category !== undefined).toBe(one.type === "NUMBERUNIT");
      expect(one.choices_target !== undefined).toBe(one.type === "OBJECT");
      expect(one.value_choices !== undefined).toBe(
        one.preferred_edit_widget === "SELECT" && one.type === "TEXT",
      );
      if (one.value_choices && one.has_default) {
        expect(one.value_choices.map(([value]) => value)).toContain(one.default!);
      }
      if (one.type === "NUMBERUNIT") {
        expect(one.preferred_view_widget).toBe("NUMBERUNIT");
        expect(one.preferred_edit_widget).toBe("NUMBERUNIT");
        expect(one.preferred_list_widget).toBe("NUMBERUNIT");
        expect(one.searchable).toBe(false);
      }
    }
  });

  test("annotation and property types include private records", () => {
    const hidden = [...locations, ...annotationTypes].filter((one) => one.public === false);
    expect(hidden.map(({ owned_by }) => owned_by)).toEqual(["safety", "safety"]);
  });
});
