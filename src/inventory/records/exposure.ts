import type { Actor } from "../model/access.ts";
import type { Json, JsonObject, Stored } from "../model/field.ts";
import { isGuarded, type Resource } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { Problem } from "../../problem.ts";
import { DECLARED } from "../resources/index.ts";
import type { SubResource } from "../resources/sub-resource.ts";
import type { RecordWrite } from "./batch-audit.ts";
import type { RecordReader } from "./record-reader.ts";
import type { Statements } from "./statements.ts";

/** Records that a write shows to more people, which is confirmed first. */

/** An existing record, and the group that could view it after a write; null for everyone. */
export interface ExposedRecord {
  resource: Resource;
  rid: number;
  /** Versions that stay hidden. */
  versions: number;
  group: Stored;
}

/** The record that becomes public, or visible to a group whose members could not view it as such. */
export function findExposure(write: RecordWrite, statements: Statements): ExposedRecord | undefined {
  const { resource, rid, before, after } = write;
  if (resource.name === "grant") return findGrantExposure(write, statements);
  if (!isGuarded(resource) || !before || !after || after.deleted === 1) return undefined;
  const versions = Number(before.version);
  if (after.public === 1) return before.public === 1 ? undefined : { resource, rid, versions, group: null };
  const isGiven = !resource.access?.isPrivate && before.owned_by !== after.owned_by;
  return isGiven ? { resource, rid, versions, group: after.owned_by } : undefined;
}

function findGrantExposure(
  { before, after }: RecordWrite,
  statements: Statements,
): ExposedRecord | undefined {
  const allows = (grant: Readonly<StoredRecord> | undefined) => grant?.deleted === 0 && grant.view === 1;
  if (!after || after.group === null || !allows(after) || allows(before)) return undefined;
  const resource = DECLARED.get(String(after.object_kind))!;
  const rid = Number(after.object_rid);
  const text = `SELECT version, public, owned_by FROM ${resource.table} WHERE rid = ?`;
  const record = statements.get({ text, args: [rid] })!;
  const isOwners = !resource.access?.isPrivate && record.owned_by === after.group;
  if (record.public === 1 || isOwners) return undefined;
  return { resource, rid, versions: Number(record.version), group: after.group };
}

/** The fields of a record that become visible, and to whom; and those that stay hidden because they are older. */
export type Exposure = {
  resource: string;
  id: Json;
  name: Json;
  /** True if everyone could view it; otherwise `group` could. */
  public: boolean;
  group: Json;
  /** Numbers of sub-resources, by segment. */
  visible: Record<string, number>;
  hidden: Record<string, number>;
};

export function describeExposure(
  { statements, reader }: { statements: Statements; reader: RecordReader },
  subResources: readonly SubResource[],
  { resource, rid, versions, group }: ExposedRecord,
  actor: Actor,
): Exposure {
  const [record] = reader.values(resource, ["id", resource.key], actor, [rid]);
  const named = statements.get({ text: "SELECT name FROM user_group WHERE rid = ?", args: [group] });
  const parts = subResources.filter(({ fields, readers }) => fields.object_rid && readers !== "changers");
  const count = ({ table }: SubResource, deleted: 0 | 1): number => {
    const text = `SELECT count(*) AS total FROM ${table} WHERE object_kind = ? AND object_rid = ? AND deleted = ?`;
    return Number(statements.get({ text, args: [resource.name, rid, deleted] })?.total);
  };
  const counts = (deleted: 0 | 1): Record<string, number> =>
    Object.fromEntries(parts.map((part) => [part.segment, count(part, deleted)]));
  return {
    resource: resource.segment ?? resource.name,
    id: record.id,
    name: record[resource.key],
    public: group === null,
    group: named?.name ?? null,
    visible: counts(0),
    hidden: { versions, ...counts(1) },
  };
}

/** 409 with the preview of the same request, whose `confirm` confirms it. */
export const unconfirmed = (preview: JsonObject): Problem =>
  new Problem(
    "sharing_unconfirmed",
    "This would show existing records to more people. `exposes` lists them. Repeat the request with `confirm`.",
    { more: preview },
  );
