import type { Actor } from "../model/access.ts";
import type { Json, JsonObject } from "../model/field.ts";
import { isGuarded } from "../model/resource.ts";
import { Problem } from "../../problem.ts";
import type { SubResource } from "../resources/sub-resource.ts";
import type { RecordWrite } from "./batch-audit.ts";
import type { RecordReader } from "./record-reader.ts";
import type { Statements } from "./statements.ts";

/** Records that a write shows to more people, which is confirmed first. */

/** Whether an existing record becomes public, or belongs to a group whose members could not view it as such. */
export function isExposure({ resource, before, after }: RecordWrite): boolean {
  if (!isGuarded(resource) || !before || !after || after.deleted === 1) return false;
  if (after.public === 1) return before.public !== 1;
  return !resource.privateToOwner && before.owned_by !== after.owned_by;
}

/** What becomes visible of a record, and to whom; and what stays hidden, as it is from before. */
export type Exposure = {
  resource: string;
  id: Json;
  name: Json;
  /** Whether everyone could view it; otherwise `group` could. */
  public: boolean;
  group: Json;
  /** Numbers of sub-resources, by segment. */
  visible: Record<string, number>;
  hidden: Record<string, number>;
};

export function describeExposure(
  { statements, reader }: { statements: Statements; reader: RecordReader },
  subResources: readonly SubResource[],
  { resource, rid, before, after }: RecordWrite,
  actor: Actor,
): Exposure {
  const [record] = reader.values(resource, ["id", resource.key, "owned_by"], actor, [rid]);
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
    public: after!.public === 1,
    group: after!.public === 1 ? null : record.owned_by,
    visible: counts(0),
    hidden: { versions: Number(before!.version), ...counts(1) },
  };
}

/** 409 with the preview of the same request, whose `confirm` confirms it. */
export const unconfirmed = (preview: JsonObject): Problem =>
  new Problem(
    "sharing_unconfirmed",
    "This would show existing records to more people. `exposes` lists them. Repeat the request with `confirm`.",
    { more: preview },
  );
