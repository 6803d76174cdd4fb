import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import type { Json } from "../model/field.ts";
import { selectVisible } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import { DECLARED, SUB_RESOURCES } from "../resources/index.ts";
import type { RecordWriter } from "./record-writer.ts";
import { openStore, type Store } from "./store.ts";
import { SubResourceRecords } from "./sub-resources.ts";
import { Problem } from "../../problem.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

/**
 * The lists of a sample, in an order in which records refer only to earlier ones, and the fields that distinguish
 * records of the same name.
 */
const LISTS = {
  addresses: { resource: "address", within: [] },
  places: { resource: "place", within: ["building", "room"] },
  equipment: { resource: "equipment", within: ["place"] },
  locations: { resource: "location", within: ["place", "equipment", "parent"] },
  categories: { resource: "category", within: [] },
  terms: { resource: "term", within: ["category"] },
  field_metas: { resource: "field_meta", within: [] },
  annotation_types: { resource: "annotation_type", within: [] },
  custom_property_types: { resource: "custom_property_type", within: ["model_name", "model_type"] },
  projects: { resource: "project", within: [] },
  experiments: { resource: "experiment", within: [] },
  assays: { resource: "assay", within: ["experiment"] },
  consumables: { resource: "consumable", within: ["model_type"] },
  specimens: { resource: "specimen", within: ["model_type"] },
  codes: { resource: "code_pattern", within: ["list", "model_type"] },
  views: { resource: "saved_view", within: ["list"] },
  stocktakes: { resource: "stocktake", within: ["location"] },
} as const;
type List = keyof typeof LISTS;

/**
 * A record by the field names of the REST API; references name records. Without `id`, a UUID, the record gets one that
 * follows from its names. By default it is public and owned by SYSTEM_GROUP; a missing group is added.
 */
export interface RecordSample {
  [field: string]: Json;
}

/** An annotation or a note, and the record that it belongs to: its list and its name. */
interface SubResourceSample {
  list: List;
  of: string;
}

export type InventorySample = { [list in List]?: RecordSample[] } & {
  annotations?: (SubResourceSample & { type: string; value: Json })[];
  notes?: (SubResourceSample & { content: string })[];
};

/** Namespace of the ids of records that a sample gives none (RFC 9562, section 5.5). */
const NAMESPACE = "5d0b4f0e-6f5c-4a55-9d0c-6b1f3a2e7c11";

/** The account that owns records of the program; the migrations create it. */
export const SYSTEM_USER = "system";

/**
 * Adds the records of a sample, in one transaction, on behalf of the user `owner`, who owns them. Existing records, by
 * id or (addresses) by name, are left as they are.
 * @returns how many records were added
 * @throws Problem not_found for the owner; invalid_request for a record that breaks a rule, which is named
 */
export function loadInventory(
  database: Database,
  clock: Clock,
  sample: InventorySample,
  owner: string,
): number {
  const store = openStore(database, clock);
  const text = "SELECT rid, primary_group FROM user_account WHERE username = ?";
  const account = store.statements.get({ text, args: [owner] });
  if (!account) throw new Problem("not_found", `There is no user ${owner}.`);
  const actor: Actor = {
    user: Number(account.rid),
    username: owner,
    superuser: true,
    groups: [],
    primaryGroup: Number(account.primary_group),
  };
  return store.write((writer) => addSample(store, writer, sample, { actor }), { kind: "sample" });
}

/**
 * Adds the sample within a batch that the caller opens. With `restores`, deleted records of the sample are restored.
 */
export function addSample(
  store: Store,
  writer: RecordWriter,
  sample: InventorySample,
  { actor, restores = false }: { actor: Actor; restores?: boolean },
): number {
  let added = 0;
  const add = (where: string, work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new Problem(error.code, `${where}: ${error.message}`, { cause: error });
    }
    added++;
  };
  for (const { where, resource, id, deleted, body } of missingRecords(store, sample, restores))
    add(where, () => {
      if (deleted !== undefined) {
        writer.restoreValues(resource, deleted, {}, actor);
        return;
      }
      store.statements.run({
        text: "INSERT INTO user_group (id, name, members_may, due_back_days) SELECT ?, ?, members_may, due_back_days FROM user_group WHERE rid = 1 ON CONFLICT (name) DO NOTHING",
        args: [store.clock.newId(), body.owned_by as string],
      });
      writer.create(resource, body, actor, id);
    });
  const children = new SubResourceRecords(store);
  for (const { where, sub, parent, id, deleted, body } of missingChildren(store, sample, { actor, restores }))
    add(where, () => {
      if (deleted === undefined) children.create(writer, sub, parent, body, { actor, id });
      else writer.restoreValues(sub, deleted, {}, actor);
    });
  return added;
}

/** Lists whose records show that an inventory is in use. */
const USED_LISTS: readonly List[] = ["places", "equipment", "locations", "consumables", "specimens"];

/** @throws Problem conflict for an inventory that is in use: the sample would be mixed with its records */
export function requireEmpty(store: Store): void {
  const used = USED_LISTS.find((list) => {
    const { table } = DECLARED.get(LISTS[list].resource)!;
    return store.statements.get({ text: `SELECT 1 FROM ${table} WHERE deleted = 0 LIMIT 1`, args: [] });
  });
  if (used !== undefined)
    throw new Problem(
      "conflict",
      `The inventory has ${used}, which would be mixed with the sample. Try the sample in another installation.`,
    );
}

function* missingRecords(store: Store, sample: InventorySample, restores: boolean) {
  for (const [list, { resource: name, within }] of Object.entries(LISTS)) {
    const resource = DECLARED.get(name)!;
    const seen = new Set<string>();
    for (const [i, record] of (sample[list as List] ?? []).entries()) {
      const { id: given, ...fields } = record;
      const where = `${list}[${i}]`;
      const path = [list, ...within.map((field) => record[field] ?? ""), record[resource.key] ?? ""];
      const id = typeof given === "string" ? given : Bun.randomUUIDv5(path.join("/"), NAMESPACE);
      if (seen.has(id))
        throw new Problem("invalid_request", `${where}: another record has the same names; give it an id.`);
      seen.add(id);
      const [column, value] = name === "address" ? ["name", String(record.name)] : ["id", id];
      const found = find(store, resource, column, value);
      if (found && !(restores && found.deleted === 1)) continue;
      yield {
        where,
        resource,
        id,
        deleted: found && Number(found.rid),
        body: { public: true, owned_by: "SYSTEM_GROUP", ...fields } as RecordSample,
      };
    }
  }
}

/** Annotations and notes, except for missing or ambiguous records, and for types of which the record has a value. */
function* missingChildren(
  store: Store,
  sample: InventorySample,
  { actor, restores }: { actor: Actor; restores: boolean },
) {
  const children = [
    ...(sample.annotations ?? []).map(({ list, of, type, value }, i) => {
      const body = { annotation_type_id: type, value };
      return { where: `annotations[${i}]`, sub: SUB_RESOURCES.annotation, list, of, type, key: type, body };
    }),
    ...(sample.notes ?? []).map(({ list, of, content }, i) => {
      const body = { content };
      return { where: `notes[${i}]`, sub: SUB_RESOURCES.note, list, of, type: "", key: content, body };
    }),
  ];
  for (const { where, sub, list, of, type, key, body } of children) {
    const resource = DECLARED.get(LISTS[list].resource)!;
    const named = and(compare([resource.key], "==", of), ALIVE);
    const viewer = { resources: DECLARED, actor };
    const [parent, another] = store.statements.all(selectVisible(viewer, resource, "t.rid AS rid", named));
    const id = Bun.randomUUIDv5([sub.segment, list, of, key].join("/"), NAMESPACE);
    const found = find(store, sub, "id", id);
    if (!parent || another || (found && !(restores && found.deleted === 1))) continue;
    const rid = Number(parent.rid);
    const text =
      "SELECT 1 FROM annotation AS a JOIN field_type AS f ON f.rid = a.annotation_type WHERE a.object_kind = ?" +
      " AND a.object_rid = ? AND f.name = ? AND a.deleted = 0";
    if (store.statements.get({ text, args: [resource.name, rid, type] })) continue;
    yield { where, sub, parent: { resource, rid }, id, deleted: found && Number(found.rid), body };
  }
}

/** The record with this value, whether or not it is deleted; one that is not comes first. */
const find = (store: Store, { table }: Resource, column: string, value: string) =>
  store.statements.get({
    text: `SELECT rid, deleted FROM ${table} WHERE ${column} = ? ORDER BY deleted LIMIT 1`,
    args: [value],
  }) ?? undefined;
