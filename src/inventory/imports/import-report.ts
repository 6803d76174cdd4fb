import { Type } from "typebox";
import { CHANGED_ROW } from "./import-changes.ts";
import { CELL_ERROR, COLUMN } from "./import-mapping.ts";
import { nullable } from "../../platform/schema.ts";

/** Values that match rows without an id to existing records. */
export const MATCHES = ["none", "name", "barcode"] as const;
export type Match = (typeof MATCHES)[number];

export interface ImportOptions {
  dryRun: boolean;
  /** With "none", each row without an id creates a record. */
  matching: Match;
  /** True to list the changes of all records as a table. */
  listsChanges: boolean;
  /** Other names for headers; null ignores a column. */
  mapping: ReadonlyMap<string, string | null>;
}

const EFFECT = Type.Enum(["created", "updated", "unchanged"]);
export type Effect = Type.Static<typeof EFFECT>;

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
    locations_made: Type.Integer({ description: "Locations created for paths." }),
    units_made: Type.Integer({ description: "Units created." }),
    columns: Type.Array(COLUMN),
    match: Type.Enum(MATCHES),
    existing: Type.Partial(Type.Object({ name: Type.Integer(), barcode: Type.Integer() }), {
      description: "In a dry run: rows without an id that have the name or barcode of an existing record.",
    }),
    changes: Type.Array(CHANGED_ROW, { description: "The first 100 existing records that are changed." }),
    errors: Type.Array(CELL_ERROR),
    more_errors: Type.Boolean({ description: "Whether there are more errors." }),
    archive: nullable(ARCHIVE),
    batch: nullable(Type.String({ description: "Id of the batch; null if nothing was written." })),
    message: Type.Optional(Type.String()),
    code: Type.Optional(Type.String()),
  },
  { $id: "ImportReport" },
);
export type ImportReport = Type.Static<typeof REPORT>;
