import { SubResourceRecords } from "./sub-resources.ts";
import { and, compare } from "../model/condition.ts";
import type { Actor } from "../model/access.ts";
import type { Json } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import { DECLARED, SUB_RESOURCES } from "../resources/index.ts";
import type { InventorySample } from "./sample-format.ts";
import { openStore, type Store } from "./store.ts";
import type { RecordWriter } from "./record-writer.ts";
import { Problem } from "../../problem.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

/** The lists of a sample in the order in which their records refer to each other, and what tells equal names apart. */
const LISTS: readonly {
  list: Exclude<keyof InventorySample, "annotations" | "notes">;
  resource: string;
  within: readonly string[];
}[] = [
  { list: "addresses", resource: "address", within: [] },
  { list: "places", resource: "place", within: ["building", "room"] },
  { list: "equipment", resource: "equipment", within: ["place"] },
  { list: "locations", resource: "location", within: ["place", "equipment", "parent"] },
  { list: "categories", resource: "category", within: [] },
  { list: "terms", resource: "term", within: ["category"] },
  { list: "field_metas", resource: "field_meta", within: [] },
  { list: "annotation_types", resource: "annotation_type", within: [] },
  { list: "custom_property_types", resource: "custom_property_type", within: ["model_name", "model_type"] },
  { list: "projects", resource: "project", within: [] },
  { list: "experiments", resource: "experiment", within: [] },
  { list: "assays", resource: "assay", within: ["experiment"] },
  { list: "consumables", resource: "consumable", within: ["model_type"] },
  { list: "specimens", resource: "specimen", within: ["model_type"] },
  { list: "views", resource: "saved_view", within: ["list"] },
  { list: "stocktakes", resource: "stocktake", within: ["location"] },
];

/** Namespace of the ids of records that a sample gives none (RFC 9562, section 5.5). */
const NAMESPACE = "5d0b4f0e-6f5c-4a55-9d0c-6b1f3a2e7c11";

/** The account that owns what the program brings along; the migrations make it. */
export const SYSTEM_USER = "system";

type Entry = Record<string, Json | undefined>;

/**
 * Adds the records of a sample, in one transaction, on behalf of the user `owner` (a username), who owns them. What is
 * there already, by its id or (addresses) its name, is left as it is, so that doing it twice changes nothing.
 * @returns how many records were added
 * @throws Problem not_found for the owner; invalid_request for a record that breaks a rule, which is named
 */
export function loadInventory(
  database: Database,
  clock: Clock,
  records: InventorySample,
  owner: string,
): number {
  const store = openStore(database, clock);
  const account = store.statements.get({
    text: "SELECT rid, primary_group FROM user_account WHERE username = ?",
    args: [owner],
  });
  if (!account) throw new Problem("not_found", `There is no user ${owner}.`);
  const actor: Actor = {
    user: Number(account.rid),
    username: owner,
    superuser: true,
    groups: [],
    primaryGroup: Number(account.primary_group),
  };
  const load = (writing: RecordWriter): number => {
    let added = 0;
    for (const { list, resource: name, within } of LISTS) {
      const resource = DECLARED.get(name)!;
      const known = new Set<string>();
      for (const [i, record] of ((records[list] ?? []) as unknown as Entry[]).entries()) {
        const { id: given, ...fields } = record;
        const path = [list, ...within.map((field) => record[field] ?? ""), record[resource.key] ?? ""].join(
          "/",
        );
        const id = typeof given === "string" ? given : Bun.randomUUIDv5(path, NAMESPACE);
        if (known.has(id))
          throw new Problem(
            "invalid_request",
            `${list}[${i}]: another record has the same names; give it an id.`,
          );
        known.add(id);
        if (isThere(store, name, id, record)) continue;
        const group = fields.owned_by ?? "SYSTEM_GROUP";
        addGroup(store, clock, String(group));
        const body = { public: true, ...fields, owned_by: group } as Json;
        try {
          writing.create(resource, body, actor, id);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          throw new Problem(error.code, `${list}[${i}]: ${error.message}`, { cause: error });
        }
        added++;
      }
    }
    return added + addParts(store, writing, records, actor);
  };
  return store.write(load, { kind: "sample" });
}

/** What the sample says about its records; of a record that is gone, or has a value of this type already, nothing. */
function addParts(store: Store, writing: RecordWriter, records: InventorySample, actor: Actor): number {
  const attached = new SubResourceRecords(store);
  let added = 0;
  for (const what of ["annotations", "notes"] as const)
    for (const [i, part] of (records[what] ?? []).entries()) {
      const resource = DECLARED.get(LISTS.find(({ list }) => list === part.list)!.resource)!;
      const named = compare([resource.key], "==", part.of);
      const listing = { condition: and(named, compare(["deleted"], "==", 0)), order: [], page: 1, size: 2 };
      const { rids } = store.reader.list(resource, { ...ANY_FORM, ignored: [], ...listing }, actor);
      const body: Json =
        "content" in part ? { content: part.content } : { annotation_type_id: part.type, value: part.value };
      const said = "content" in part ? part.content : part.type;
      const id = Bun.randomUUIDv5([what, part.list, part.of, said].join("/"), NAMESPACE);
      if (rids.length !== 1 || isThere(store, what, id, {})) continue;
      if ("type" in part && hasValue(store, resource, rids[0], part.type)) continue;
      try {
        const sub = what === "notes" ? SUB_RESOURCES.note : SUB_RESOURCES.annotation;
        attached.create(writing, sub, { resource, rid: rids[0] }, body, { actor, id });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        throw new Problem(error.code, `${what}[${i}]: ${error.message}`, { cause: error });
      }
      added++;
    }
  return added;
}

const hasValue = (store: Store, resource: Resource, rid: number, type: string): boolean =>
  store.statements.get({
    text:
      "SELECT 1 FROM annotation AS a JOIN field_type AS f ON f.rid = a.annotation_type WHERE a.object_kind = ?" +
      " AND a.object_rid = ? AND f.name = ? AND a.deleted = 0",
    args: [resource.name, rid, type],
  }) !== null;

const ANY_FORM = { format: undefined, shape: "flat", fields: ["id"] } as const;

function isThere(store: Store, name: string, id: string, record: Entry): boolean {
  const { table } =
    name === "annotations"
      ? SUB_RESOURCES.annotation
      : name === "notes"
        ? SUB_RESOURCES.note
        : DECLARED.get(name)!;
  const [column, value] = name === "address" ? ["name", String(record.name)] : ["id", id];
  return store.statements.get({ text: `SELECT 1 FROM ${table} WHERE ${column} = ?`, args: [value] }) !== null;
}

function addGroup(store: Store, clock: Clock, name: string): void {
  store.statements.run({
    text: "INSERT INTO user_group (id, name) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
    args: [clock.newId(), name],
  });
}
