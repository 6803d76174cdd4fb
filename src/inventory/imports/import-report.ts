import { Type } from "typebox";
import { CHANGED_ROW } from "./import-changes.ts";
import { CELL_ERROR, COLUMN } from "./import-mapping.ts";
import { DAY_ORDERS, type DayOrder } from "./read-cells.ts";
import type { Json } from "../model/field.ts";
import { nullable } from "../../platform/schema.ts";
import type { Mapping } from "../resources/saved-view.ts";

/** Values that match rows without an id to existing records. */
export const MATCHES = ["none", "name", "barcode"] as const;
export type Match = (typeof MATCHES)[number];

export interface ImportOptions {
  dryRun: boolean;
  /** With "none", each row without an id creates a record. */
  matching: Match;
  /** True to list the changes of all records as a table. */
  listsChanges: boolean;
  /** Other names for headers; null ignores a column. Undefined if nobody gave it: then a remembered one holds. */
  mapping: Mapping | undefined;
  /** True to import the rows without errors, and leave the others. */
  partial: boolean;
  /** Order of day and month, and unit of amounts without one; by default as most cells of the file say. */
  dates: DayOrder | undefined;
  unit: string | undefined;
  /** Sheet of a workbook; by default the first one with several columns. */
  sheet?: string | undefined;
  /** Decisions about rows, by their numbers. */
  rows: ReadonlyMap<number, RowDecision>;
  /** True to make the table of rows that wait, instead of that of changes. */
  listsWaiting: boolean;
}

/** A decision about a row: corrected cells by header, the id of the record that it changes, or that it is left out. */
export const ROW_DECISION = Type.Object(
  {
    cells: Type.Optional(Type.Record(Type.String(), Type.String())),
    change: Type.Optional(Type.String()),
    skip: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export type RowDecision = Type.Static<typeof ROW_DECISION>;

const EFFECT = Type.Enum(["created", "updated", "unchanged"]);
export type Effect = Type.Static<typeof EFFECT>;

const OUTCOMES = ["created", "updated", "unchanged", "waiting", "skipped"] as const;

/** A row of a table, as it was read and written. */
const PREVIEWED_ROW = Type.Object(
  {
    row: Type.Integer(),
    outcome: Type.Enum(OUTCOMES),
    cells: Type.Array(Type.String(), { description: "Texts of the file, by column." }),
    values: Type.Record(Type.String(), Type.Unsafe<Json>({}), {
      description: "Meaning of the cells, by field.",
    }),
    similar: nullable(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        same: Type.Array(Type.String(), { description: "Fields with equal values." }),
        place: Type.String(),
        owner: Type.String(),
      }),
      { description: "An existing record that the row may be about." },
    ),
  },
  { $id: "PreviewedRow" },
);
export type PreviewedRow = Type.Static<typeof PREVIEWED_ROW>;

/** The outcome of an imported archive, or of its preview, besides values. */
const ARCHIVE = Type.Object(
  {
    source: Type.String({ description: "Program that wrote the archive." }),
    list: nullable(Type.String({ description: "List of the records, if labd wrote the archive." })),
    files: Type.Integer(),
    notes: Type.Integer(),
    records: Type.Array(
      Type.Object({
        row: Type.Integer(),
        name: Type.String(),
        effect: EFFECT,
        files: Type.Integer(),
        notes: Type.Integer(),
      }),
      { description: "The first 100 records." },
    ),
    left_out: Type.Array(
      Type.Object({
        row: nullable(Type.Integer()),
        column: nullable(Type.String()),
        message: Type.String(),
      }),
      { description: "Data that are left out, or kept in a note instead of a field." },
    ),
  },
  { $id: "ImportedArchive" },
);
export type ArchiveReport = Type.Static<typeof ARCHIVE>;

/** The outcome of an import or of its preview. A refusal has a message and a code, too. */
export const REPORT = Type.Object(
  {
    dry_run: Type.Boolean(),
    rows: Type.Integer(),
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    waiting: Type.Integer(),
    skipped: Type.Integer(),
    locations_made: Type.Integer({ description: "Locations created for paths." }),
    units_made: Type.Integer({ description: "Units created." }),
    columns: Type.Array(COLUMN),
    remembered: Type.Optional(
      Type.Object(
        { id: Type.String(), name: Type.String(), mine: Type.Boolean(), same: Type.Boolean() },
        { description: "A view with the mapping of these headers; `same` if it was used." },
      ),
    ),
    sheet: Type.Optional(Type.String({ description: "The sheet of a workbook that was read." })),
    sheets: Type.Optional(Type.Array(Type.String())),
    dates: Type.Object(
      { order: Type.Enum(DAY_ORDERS), example: nullable(Type.String()) },
      { description: "Order of day and month, and a date that it decides." },
    ),
    unit: nullable(Type.String({ description: "Unit of amounts without one; null if there are none." })),
    match: Type.Enum(MATCHES),
    existing: Type.Partial(Type.Object({ name: Type.Integer(), barcode: Type.Integer() }), {
      description: "In a dry run: rows without an id that have the name or barcode of an existing record.",
    }),
    changes: Type.Array(CHANGED_ROW, {
      examples: [[]],
      description: "The first 100 existing records that are changed.",
    }),
    boxes: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          slots: Type.Record(Type.String(), Type.Enum(OUTCOMES)),
        }),
        { description: "Of a dry run: boxes, and the outcomes of rows by the positions that they name." },
      ),
    ),
    preview: Type.Array(PREVIEWED_ROW, {
      examples: [[]],
      description: "The first rows of each outcome, those to look at first; not of archives.",
    }),
    errors: Type.Array(CELL_ERROR),
    more_errors: Type.Boolean({ description: "Whether there are more errors." }),
    archive: { ...nullable(ARCHIVE), examples: [null] },
    batch: nullable(Type.String({ description: "Id of the batch; null if nothing was written." })),
    message: Type.Optional(Type.String()),
    code: Type.Optional(Type.String()),
  },
  { $id: "ImportReport" },
);
export type ImportReport = Type.Static<typeof REPORT>;
