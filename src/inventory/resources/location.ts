import { type Field, type FieldForm, integer, prose, reference, text } from "../model/field.ts";
import { type Grid, MAX_SIDE, type Numbering, NUMBERINGS, slotCount, findSlot } from "../model/grid.ts";
import { freeSlotsField, ownedResource, uniquePathField, type Resource } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { barcodeField } from "./model-type.ts";
import { evictionHint } from "./position.ts";

/** The path to a location shows these. */
const LOCATION_FORM: { form: FieldForm } = { form: { shownIn: "location" } };

/** Selects the free slots of a grid, or the places that are left of a capacity. */
const FREE_SLOTS =
  "max(0, t.capacity - CASE WHEN t.grid_rows IS NOT NULL THEN (SELECT count(*) FROM slot WHERE slot.location = t.rid)" +
  " ELSE (SELECT count(*) FROM consumable AS c WHERE c.location = t.rid AND c.deleted = 0)" +
  " + (SELECT count(*) FROM specimen AS s WHERE s.location = t.rid AND s.deleted = 0)" +
  " + (SELECT count(*) FROM location AS i WHERE i.parent = t.rid AND i.deleted = 0) END)";

const MAX_CAPACITY = 1_000_000;

const count = (doc: string, options: Partial<Field> = {}): Field =>
  integer(doc, { shown: "extra", nullable: true, initial: null, ...options });

export const location = ownedResource({
  name: "location",
  segment: "locations",
  model: "stocks.location",
  summary: "Storage locations: shelves, drawers and boxes, in equipment and in places.",
  showsAccess: "extra",
  table: "location",
  key: "label",
  nameFields: ["label"],
  defaultOrder: ["label"],
  fields: {
    ...uniquePathField(),
    label: text("Name of the location.", {
      example: "Shelf 1",
      write: "required",
      blank: false,
      folded: "label_fold",
      searchable: true,
    }),
    equipment: reference("equipment", "The equipment that the location is, or is part of.", LOCATION_FORM),
    place: reference("place", "Place of the location.", LOCATION_FORM),
    description: prose("Purpose.", { shown: "extra", searchable: true }),
    barcode: barcodeField("Barcode.", { shown: "extra" }),
    parent: reference("location", "The enclosing location.", {
      shown: "extra",
      places: true,
      ...LOCATION_FORM,
    }),
    grid_rows: count(`Rows of slots, such as 9 of a 9 × 9 box; at most ${MAX_SIDE}.`, {
      dependent: true,
      form: { shownIn: "box" },
    }),
    grid_columns: count(`Columns of slots; at most ${MAX_SIDE}.`, {
      dependent: true,
      form: { shownIn: "box", beside: "grid_rows" },
    }),
    numbering: text("Name of the first slot: A1 if rows have letters, 1 if slots are counted row by row.", {
      shown: "extra",
      choices: NUMBERINGS,
      initial: "A1",
      blank: false,
      dependent: true,
      form: { shownIn: "box" },
    }),
    capacity: count("Items and locations that fit in; of a location with a grid, its number of slots.", {
      form: { when: { field: "grid_rows", values: [""] } },
    }),
    box_capacity: count("Boxes that fit in, such as 5 of a rack.", {
      form: { when: { field: "grid_rows", values: [""] } },
    }),
    ...freeSlotsField(FREE_SLOTS),
  },
  rules(record, given, previous) {
    const errors: Record<string, string> = {};
    const limits = {
      grid_rows: MAX_SIDE,
      grid_columns: MAX_SIDE,
      capacity: MAX_CAPACITY,
      box_capacity: MAX_CAPACITY,
    };
    for (const [name, most] of Object.entries(limits))
      if (record[name] !== null && !(Number(record[name]) >= 1 && Number(record[name]) <= most))
        errors[name] = `Expected a whole number from 1 to ${most.toLocaleString("en")}, or null.`;
    const missing = ["grid_rows", "grid_columns"].filter((name) => record[name] === null);
    if (missing.length === 1) errors[missing[0]] = "A grid needs both rows and columns.";
    const grid = toGrid(record);
    if (!grid || Object.keys(errors).length > 0) return errors;
    const slots = slotCount(grid);
    const capacity = record.capacity ?? slots;
    if (given.has("capacity") && capacity !== slots && capacity !== previous?.capacity)
      errors.capacity = `A grid of ${grid.rows} × ${grid.columns} has ${slots} slots. Leave the capacity empty, or give ${slots}.`;
    record.capacity = slots;
    return errors;
  },
  check: checkGrid,
});

function toGrid({ grid_rows: rows, grid_columns: columns, numbering }: StoredRecord): Grid | undefined {
  if (rows === null || columns === null) return undefined;
  return { rows: Number(rows), columns: Number(columns), numbering: numbering as Numbering };
}

/** Occupied positions that an error names. */
const MAX_NAMED = 3;

/** Checks that a changed grid still has every occupied position. */
const GRID_FIELDS = ["grid_rows", "grid_columns", "numbering"];

function checkGrid(...[record, previous, context]: Parameters<NonNullable<Resource["check"]>>) {
  const changed = GRID_FIELDS.filter((name) => previous?.[name] !== record[name]);
  if (changed.length === 0 || Number(record.rid ?? -1) < 0) return {};
  const grid = toGrid(record);
  const text = "SELECT position FROM slot WHERE location = ? ORDER BY length(position), position";
  const lost = context.query
    .all({ text, args: [record.rid] })
    .map(({ position }) => String(position))
    .filter((position) => !grid || findSlot(grid, position) === undefined);
  if (lost.length === 0) return {};
  const more = lost.length > MAX_NAMED ? ` and ${lost.length - MAX_NAMED} more` : "";
  const named = `${lost.slice(0, MAX_NAMED).join(", ")}${more}`;
  return {
    [changed[0]]: `The new grid lacks positions that are occupied: ${named}. Move these items first.${evictionHint(context, Number(record.rid))}`,
  };
}
