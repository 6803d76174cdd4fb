import type { Stored } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import { type Clause, clause } from "../model/sql.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import type { Statements } from "./statements.ts";

/** The number of a version, or the id of a batch, which may have changed nothing but metadata. */
export type PastVersion = number | string;

/** The last change that belongs to a version of a record, or to a batch; undefined if there is none. */
export function findLastChange(
  statements: Statements,
  { name }: Resource,
  rid: number,
  state: PastVersion,
): number | undefined {
  const own = "object_kind = ? AND object_rid = ?";
  const found = statements.get(
    typeof state === "string"
      ? {
          text: "SELECT max(seq) AS seq FROM record_change WHERE batch = (SELECT rid FROM record_batch WHERE id = ?)",
          args: [state],
        }
      : {
          // Its sub-resources change until the record has another version.
          text:
            `SELECT coalesce((SELECT min(seq) - 1 FROM record_change WHERE ${own} AND version > ?), (SELECT max(seq) FROM record_change)) AS seq` +
            ` FROM record_change WHERE ${own} AND version = ?`,
          args: [name, rid, state, name, rid, state],
        },
  );
  return found?.seq == null ? undefined : Number(found.seq);
}

/** The sub-resources of a record, also deleted ones, as a change left them; without those that are newer. */
export function readPartsAfter(
  statements: Statements,
  seq: number,
  sub: Resource,
  [parent, rid]: readonly [Resource, number],
): Map<number, StoredRecord> {
  const text =
    "SELECT c.object_rid AS rid, c.after AS after FROM record_change AS c WHERE c.seq IN (SELECT max(seq) FROM record_change" +
    " WHERE object_kind = ? AND host_kind = ? AND host_rid = ? AND seq <= ? GROUP BY object_rid)";
  const found = statements.all({ text, args: [sub.name, parent.name, rid, seq] });
  return new Map(found.map(({ rid, after }) => [Number(rid), JSON.parse(String(after)) as StoredRecord]));
}

/** Id of the batch that undid this one, unless that was undone, too. */
export function findUndo(statements: Statements, batch: Stored): Stored {
  const last = "(SELECT max(rid) FROM record_batch WHERE undoes = chain.rid)";
  // This batch, the one that undid it last, the one that undid that last, and so on, ends with null.
  const text =
    `WITH RECURSIVE chain (rid, undos) AS (SELECT ?1, 0 UNION ALL SELECT ${last}, undos + 1 FROM chain WHERE rid IS NOT NULL)` +
    " SELECT max(undos) - 1 AS undos, (SELECT id FROM record_batch WHERE undoes = ?1 ORDER BY rid DESC LIMIT 1) AS id FROM chain";
  const { undos, id } = statements.get({ text, args: [batch] })!;
  return Number(undos) % 2 === 1 ? id : null;
}

/** The condition that the batch `b` changed a record or a sub-resource of it. */
export const batchesOf = ({ kind, rid }: { kind: string; rid: number }): Clause =>
  clause(
    "b.rid IN (SELECT batch FROM record_change WHERE object_kind = ? AND object_rid = ?" +
      " UNION SELECT batch FROM record_change WHERE host_kind = ? AND host_rid = ?)",
    [kind, rid, kind, rid],
  );
