import type { Actor } from "../model/access.ts";
import { isGuarded, type Resource, type Resources } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { Problem } from "../../problem.ts";
import type { Statements } from "./statements.ts";

/** The rules for parts of records: whoever may change the record may write them, memberships administrators alone. */
export interface SubResourceRules {
  allows(part: Resource, rid: number, actor: Actor): boolean;
  /**
   * Earlier values come back only by who could give them: the right to delete, values that can only be read.
   * @throws Problem forbidden, invalid_request
   */
  refuseBeyondRights(part: Resource, before: StoredRecord, after: StoredRecord, actor: Actor): void;
  /** Whether the part, as it is stored, fits to what it belongs to. @throws Problem conflict */
  verify(part: Resource, record: StoredRecord): void;
  /** SHA-256 of all bytes that versions of the record or of its files name. */
  bytesOf(resource: Resource, rid: number): string[];
  /** Removes those that no version names any more. */
  forgetBytes(digests: readonly string[]): void;
}

interface Rights {
  current(resource: Resource, rid: number): StoredRecord;
  allows(resource: Resource, rid: number, right: "change" | "delete", actor: Actor): boolean;
}

export function openSubResourceRules(
  statements: Statements,
  resources: Resources,
  rights: Rights,
): SubResourceRules {
  const get = (text: string, ...args: (string | number | null)[]) => statements.get({ text, args });

  const hostOf = (part: Resource, record: StoredRecord): { host: Resource; rid: number } => {
    const { kind, rid } = part.parent!(record);
    return { host: resources.get(kind)!, rid };
  };

  return {
    allows(part, rid, actor) {
      const found = hostOf(part, rights.current(part, rid));
      return isGuarded(found.host) ? rights.allows(found.host, found.rid, "change", actor) : actor.superuser;
    },
    refuseBeyondRights(part, before, after, actor) {
      if (actor.superuser) return;
      if (part.name === "grant" && after.deleted === 0 && after.delete === 1) {
        const had = before.deleted === 0 && before.delete === 1;
        const { host, rid } = hostOf(part, after);
        if (!had && !rights.allows(host, rid, "delete", actor))
          throw new Problem("forbidden", "You cannot give the right to delete back, for you do not have it.");
      }
      if (part.name !== "annotation") return;
      const type = get("SELECT readonly FROM field_type WHERE rid = ?", after.annotation_type);
      if (type?.readonly === 1) throw new Problem("forbidden", "Values of this type can only be read.");
    },
    verify(part, record) {
      const ended = record.deleted === 1;
      if (part.name === "membership") {
        const text = "SELECT 1 FROM user_account WHERE rid = ? AND primary_group = ?";
        if (ended && get(text, record.user, record.group))
          throw new Problem("conflict", "Nobody leaves the own primary group.");
        return;
      }
      if (ended) return;
      const { host, rid } = hostOf(part, record);
      if (!get(`SELECT 1 FROM ${host.table} WHERE rid = ? AND deleted = 0`, rid))
        throw new Problem("conflict", `The ${host.name} that it belongs to is deleted.`);
      if (part.name !== "annotation") return;
      const others = get(
        "SELECT count(*) AS total FROM annotation AS a JOIN field_type AS f ON f.rid = a.annotation_type WHERE object_kind = ?" +
          " AND object_rid = ? AND annotation_type = ? AND f.multiple = 0 AND a.deleted = 0",
        record.object_kind,
        record.object_rid,
        record.annotation_type,
      );
      if (Number(others?.total) > 1)
        throw new Problem("conflict", "The record has another value of this type by now.");
    },
    bytesOf(resource, rid) {
      const [of, also] =
        resource.name === "attachment" ? ["object", ""] : ["host", " AND object_kind = 'attachment'"];
      const found = statements.all({
        text:
          "SELECT DISTINCT json_extract(after, '$.sha256') AS sha256 FROM record_change" +
          ` WHERE ${of}_kind = ? AND ${of}_rid = ? AND after IS NOT NULL${also}`,
        args: [resource.name, rid],
      });
      return found.map(({ sha256 }) => String(sha256));
    },
    forgetBytes(digests) {
      for (const digest of digests)
        statements.run({
          text:
            "DELETE FROM attachment_content WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM attachment WHERE sha256 = ?1) AND NOT EXISTS" +
            " (SELECT 1 FROM record_change WHERE object_kind = 'attachment' AND json_extract(after, '$.sha256') = ?1)",
          args: [digest],
        });
    },
  };
}
