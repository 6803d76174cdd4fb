import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import { shownName } from "../model/field.ts";
import { invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { termUnit } from "../model/unit.ts";
import { Problem } from "../../problem.ts";
import { annotation } from "../resources/annotation.ts";
import { DECLARED } from "../resources/index.ts";
import { each, refusal } from "./bulk.ts";
import type { RecordWriter } from "./record-writer.ts";
import { fieldsReferringTo } from "./references.ts";
import type { Store } from "./store.ts";

export const TERM = DECLARED.get("term")!;
const TYPES = ["annotation_type", "custom_property_type"].map((name) => DECLARED.get(name)!);

/** Two units of one meaning; both are rows of terms. */
interface Merge {
  store: Store;
  writer: RecordWriter;
  from: StoredRecord;
  into: StoredRecord;
  actor: Actor;
}

/**
 * Moves all references of live records from a unit to another one of the same meaning, and deletes the first. Amounts
 * stay as they are.
 * @param rids of the unit and of the other one; the actor may view both
 * @throws Problem invalid_request if the units differ; forbidden or conflict if the actor may not change a referring record
 */
export function mergeUnits(
  store: Store,
  writer: RecordWriter,
  rids: readonly [from: number, into: number],
  actor: Actor,
): void {
  // First, so that others learn nothing about references.
  writer.require(TERM, rids[0], "delete", actor);
  const [from, into] = rids.map((rid) => writer.current(TERM, rid));
  const merge = { store, writer, from, into, actor };
  checkUnits(merge);
  moveFields(merge);
  moveDefaults(merge);
  moveAnnotations(merge);
  if (writer.isAnyReferenced(TERM, [rids[0]])) throw hiddenReferences();
  writer.remove(TERM, [rids[0]], actor);
}

const hiddenReferences = (): Problem =>
  new Problem(
    "conflict",
    "The units cannot be merged: other records refer to this one. Ask an administrator to merge them.",
  );

const readMeaning = ({ name, label }: StoredRecord): string => termUnit(String(name), String(label)).symbol;

/** @throws Problem invalid_request unless both are units of one meaning, and whoever may view the first may view the other */
function checkUnits({ store, from, into }: Merge): void {
  const isUnit = "SELECT 1 FROM cv_category WHERE rid = ? AND kind = 'unit'";
  for (const { name, category } of [from, into])
    if (store.statements.get({ text: isUnit, args: [category] }) === null)
      throw invalidField("into", `${shownName(String(name))} is not a unit.`);
  if (from.rid === into.rid) throw invalidField("into", "Give another unit.");
  const [of, to] = [readMeaning(from), readMeaning(into)];
  if (of !== to)
    throw invalidField("into", `Only units of the same meaning can be merged, not ${of} into ${to}.`);
  const hasSameOwners = from.public === 0 && from.owner === into.owner && from.owned_by === into.owned_by;
  if (into.public === 0 && !hasSameOwners)
    throw invalidField("into", "The other unit must be public, as not all may view it.");
}

/** Moves the units of stock and products. */
function moveFields({ store, from, into, actor }: Merge): void {
  for (const { resource, field } of fieldsReferringTo(DECLARED, TERM)) {
    const referring = and(ALIVE, compare([field, "rid"], "==", from.rid));
    const rows = store.statements.all(
      selectVisible({ resources: DECLARED, actor }, resource, "t.id AS id", referring),
    );
    const changes = rows.map(({ id }) => ({ id: String(id), body: { [field]: into.id }, tests: [] }));
    store.bulk.update(resource, changes, "merge", actor);
  }
}

/** Moves the units that default values of annotations name. */
function moveDefaults({ store, from, into, actor }: Merge): void {
  for (const types of TYPES) {
    const columns = "t.id AS id, t.default_value AS amount, t.unit_category AS category";
    const amounts = and(ALIVE, compare(["type"], "==", "NUMBERUNIT"), compare(["has_default"], "==", 1));
    const rows = store.statements.all(selectVisible({ resources: DECLARED, actor }, types, columns, amounts));
    const changes = rows.flatMap(({ id, amount, category }) => {
      const [, value, unit] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(String(amount)) ?? [];
      const isNamed = unit === from.id || unit === from.name;
      if (!isNamed || (category !== null && category !== from.category)) return [];
      return [{ id: String(id), body: { default: `${value} ${String(into.id)}` }, tests: [] }];
    });
    store.bulk.update(types, changes, "merge", actor);
  }
}

/** Moves the units of annotations. @throws Problem conflict if the actor may not view a record that has one */
function moveAnnotations(merge: Merge): void {
  const { store, from } = merge;
  const reference = storedReference(from);
  const kinds = store.statements.all({
    text: "SELECT DISTINCT object_kind AS kind FROM annotation WHERE deleted = 0 AND instr(value, ?) > 0",
    args: [reference],
  });
  for (const { kind } of kinds) moveAnnotationsOf(merge, DECLARED.get(String(kind))!);
}

/** A reference to a term in the values of annotations. */
const storedReference = ({ id }: StoredRecord): string => JSON.stringify({ resource: TERM.name, id });

function moveAnnotationsOf({ store, writer, from, into, actor }: Merge, of: Resource): void {
  const [old, next] = [storedReference(from), storedReference(into)];
  const all = store.statements.all({
    text:
      `SELECT a.rid AS rid, t.rid AS parent, t.id AS id FROM annotation AS a JOIN ${of.table} AS t` +
      " ON t.rid = a.object_rid AND t.deleted = 0 WHERE a.object_kind = ? AND a.deleted = 0 AND instr(a.value, ?) > 0",
    args: [of.name, old],
  });
  const among = " AND t.rid IN (SELECT value FROM json_each(?))";
  const { text, args } = selectVisible({ resources: DECLARED, actor }, of, "t.rid AS rid", ALIVE, among);
  const parents = JSON.stringify(all.map(({ parent }) => parent));
  const visible = new Set(store.statements.numbers({ text, args: [...args, parents] }));
  if (!all.every(({ parent }) => visible.has(Number(parent)))) throw hiddenReferences();
  const { refusals } = each(all, ({ rid, parent }) => {
    writer.require(of, Number(parent), "change", actor);
    const record = writer.current(annotation, Number(rid));
    const value = JSON.parse(String(record.value).replaceAll(old, next));
    const parsed = annotation.parse!({ value }, writer.makeContext(annotation, record, actor), record);
    writer.setValues(annotation, Number(rid), parsed, actor);
    return Number(rid);
  });
  if (refusals.length > 0) throw refusal(refusals, (i) => String(all[i].id));
}
