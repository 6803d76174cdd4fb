import { type Json, printInstant } from "../model/field.ts";

/** Rows of what belongs to records, as annotations, notes and files have them. */

export type SubResourceRow = Record<string, string | number | null>;

/** Which are read: those that live, those that are deleted, or both. */
export type DeletedFilter = "living" | "deleted" | "all";

/** Reads them as `a`, with the names of who wrote and deleted them. */
export const selectSubResources = (table: string): string =>
  `SELECT a.*, c.username AS creator, m.username AS modifier, d.username AS remover FROM ${table} AS a` +
  " JOIN user_account AS c ON c.rid = a.created_by JOIN user_account AS m ON m.rid = a.modified_by" +
  " LEFT JOIN user_account AS d ON d.rid = a.deleted_by";

const LIVES: Record<DeletedFilter, string> = {
  living: " AND a.deleted = 0",
  deleted: " AND a.deleted = 1",
  all: "",
};

/** The condition that they belong to a record, by the name of its resource and its row. */
export const ofParent = (life: DeletedFilter): string =>
  `a.object_kind = ? AND a.object_rid = ?${LIVES[life]}`;

/** Who wrote it when, as it is shown. */
export const stampsOf = (row: SubResourceRow): { [name: string]: Json } => ({
  created: printInstant(Number(row.created)),
  created_by: row.creator,
  modified: printInstant(Number(row.modified)),
  modified_by: row.modifier,
  deleted: row.deleted === 1,
  deleted_date: row.deleted_date === null ? null : printInstant(Number(row.deleted_date)),
  deleted_by: row.remover,
  version: row.version,
});
