import type { BatchAudit, RecordWrite } from "./journal.ts";
import type { Actor } from "../model/access.ts";
import type { Statements } from "./statements.ts";
import type { AuditLog, AuditDetail } from "../../accounts/audit.ts";
import { DECLARED } from "../resources/index.ts";

/** Changes that an entry tells one by one; the history of the batch has them all. */
const TOLD = 20;

interface Gathered {
  count: number;
  /** How many, by the name of their resource. */
  records: Record<string, number>;
  changes: AuditDetail[];
  only: { kind: string; id: string | null };
}

/** Notes rights, memberships, deletions and imports, with every batch in its transaction. */
export function openBatchAudit(statements: Statements, audit: AuditLog): BatchAudit {
  const gathered = new Map<string, Gathered>();
  let by: Actor | undefined;
  let writes = 0;

  const textOf = (table: string, column: string, rid: unknown): string | null => {
    if (typeof rid !== "number") return null;
    const row = statements.get({ text: `SELECT ${column} AS text FROM ${table} WHERE rid = ?`, args: [rid] });
    return row === null ? null : String(row.text);
  };
  const groupName = (rid: unknown) => textOf("user_group", "name", rid);
  const userName = (rid: unknown) => textOf("user_account", "username", rid);

  const add = (action: string, kind: string, idOf: () => string | null, change?: () => AuditDetail): void => {
    let found = gathered.get(action);
    if (!found)
      gathered.set(action, (found = { count: 0, records: {}, changes: [], only: { kind, id: idOf() } }));
    found.count++;
    found.records[kind] = (found.records[kind] ?? 0) + 1;
    if (change && found.changes.length < TOLD) found.changes.push(change());
  };

  const seePart = ({ resource, op, before, after }: RecordWrite): void => {
    const now = after ?? before!;
    const isTaken = after === undefined || after.deleted === 1;
    if (resource.name === "membership")
      add(
        "membership.change",
        "group",
        () => textOf("user_group", "id", now.group),
        () => ({ group: groupName(now.group), user: userName(now.user), member: !isTaken }),
      );
    else if (resource.name === "grant") {
      const kind = String(now.object_kind);
      const object = DECLARED.get(kind);
      const idOf = () => (object ? textOf(object.table, "id", now.object_rid) : null);
      const rights = (flags: Readonly<Record<string, unknown>> | undefined): string[] =>
        flags === undefined || flags.deleted === 1
          ? []
          : ["view", "change", "delete"].filter((right) => flags[right] === 1);
      add("permission.change", kind, idOf, () => ({
        id: idOf(),
        ...(now.user === null ? { group: groupName(now.group) } : { user: userName(now.user) }),
        before: rights(before),
        after: isTaken ? [] : rights(after),
      }));
    } else if (op === "delete" || op === "restore" || op === "purge")
      add(`record.${op}`, resource.name, () => String(now.id));
  };

  return {
    see(written, actor) {
      writes++;
      by = actor;
      const { resource, op, before, after } = written;
      if (op !== "create" && op !== "update") return seePart(written);
      if (resource.name === "grant" || resource.name === "membership") return seePart(written);
      if (op === "create" || !before || !after) return;
      // Who owns a record, and whether everybody may read it, are rights too.
      if (
        before.public === after.public &&
        before.owner === after.owner &&
        before.owned_by === after.owned_by
      )
        return;
      add(
        "permission.change",
        resource.name,
        () => String(after.id),
        () => ({
          id: String(after.id),
          ...(before.public === after.public ? {} : { public: after.public === 1 }),
          ...(before.owner === after.owner ? {} : { owner: userName(after.owner) }),
          ...(before.owned_by === after.owned_by ? {} : { owned_by: groupName(after.owned_by) }),
        }),
      );
    },
    finish(batch, kind) {
      try {
        if (!by) return;
        const who = { actor: by.username, token: by.token ?? null };
        if (kind === "import")
          audit.record(
            {
              action: "record.import",
              subject: { kind: "batch", id: batch },
              detail: { writes },
            },
            who,
          );
        for (const [action, { count, records, changes, only }] of gathered)
          audit.record(
            {
              action,
              subject: count === 1 ? only : { kind: "batch", id: batch },
              detail: {
                batch,
                asked: kind,
                count,
                ...(count === 1 ? {} : { records }),
                ...(changes.length === 0 ? {} : { changes }),
              },
            },
            who,
          );
      } finally {
        this.forget();
      }
    },
    forget() {
      gathered.clear();
      by = undefined;
      writes = 0;
    },
  };
}
