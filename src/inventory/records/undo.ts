import { type Actor, hasStock } from "../model/access.ts";
import { ALIVE } from "../model/condition.ts";
import { selectVisible } from "../model/plan.ts";
import { isGuarded, type Resource, type Resources } from "../model/resource.ts";
import { changedFields, storedStatement, type StoredRecord } from "../model/stored-record.ts";
import { refusal } from "./bulk.ts";
import type { Batch, Change, History } from "./history.ts";
import { findLastChange, type PastVersion, readPartsAfter } from "./past-version.ts";
import { Problem } from "../../problem.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Right } from "./rights.ts";
import type { Statements } from "./statements.ts";
import type { UniformAnnotations } from "./uniform-annotations.ts";
import type { UniformUpdates } from "./uniform-update.ts";
import { SUB_RESOURCES } from "../resources/index.ts";
import { ORDERED_FIELDS } from "../resources/order.ts";
import { isSubResource } from "../resources/sub-resource.ts";
import { hasPosition, isFree } from "../resources/position.ts";
import { USED_FIELDS } from "../resources/stock.ts";

/** Deletion is undone by `markDeleted` and `restoreValues`, never as a value. Who deleted a record when is lost. */
const DELETION = new Set(["deleted", "deleted_date", "deleted_by"]);

/** Changes of a batch that are examined to tell whether it can be undone. */
const CHECK_SIZE = 50;

/** Resources of the types of metadata. */
const TYPES = ["annotation_type", "custom_property_type"];

/** Restores earlier states, each within a batch that the caller opens. All throw a Problem. */
export class Undo {
  constructor(
    private readonly writer: RecordWriter,
    private readonly history: History,
    private readonly updates: UniformUpdates,
    private readonly annotations: UniformAnnotations,
    private readonly read: { statements: Statements; resources: Resources },
  ) {}

  get #statements(): Statements {
    return this.read.statements;
  }

  /**
   * Undoes a batch completely or not at all: deletes created records, restores deleted ones, and sets former values. A
   * record is refused if a value that the batch set is no longer the one that it left, unless `force`: later changes
   * that were undone do not matter.
   * @throws Problem with a verdict on every record that is refused
   */
  undo(row: number, force: boolean, actor: Actor): void {
    const all = this.history.changes(row);
    if (this.updates.revert(all, actor) || this.annotations.revert(all, actor)) return;
    const records = [...Map.groupBy(all, ({ resource, rid }) => `${resource.name} ${rid}`).values()];
    const moved = records.map(([{ resource, rid }]) => [resource, rid] as const);
    const isOwn = this.#isAuthor(row, actor);
    this.writer.rearrange(moved, () => this.#undoRecords(records, force, isOwn, actor));
  }

  #isAuthor(row: number, actor: Actor): boolean {
    const text = "SELECT 1 FROM record_batch WHERE rid = ? AND user_rid = ?";
    return this.#statements.get({ text, args: [row, actor.user] }) !== null;
  }

  #undoRecords(records: readonly Change[][], force: boolean, isOwn: boolean, actor: Actor): void {
    const refusals = new Map<number, Problem>();
    const attempt = (index: number, work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refusals.set(index, error);
      }
    };
    // Backwards, so that names that moved from one record to another move back.
    for (const [index, changes] of [...records.entries()].reverse())
      attempt(index, () => {
        const [{ resource, rid }] = changes;
        const now = this.writer.current(resource, rid);
        const lost = force ? [] : changedSince(changes, now);
        if (lost.length > 0)
          throw new Problem("conflict", `${resource.name} ${now.id} was changed later (${lost.join(", ")}).`);
        this.#takeBack(changes, now, isOwn ? rightToUndo(changes, now) : "change", actor);
      });
    if (refusals.size === 0)
      for (const [index, [{ resource, rid }]] of records.entries())
        attempt(index, () => this.writer.verify(resource, rid, actor));
    const sorted = [...refusals].map(([index, problem]) => ({ index, problem }));
    sorted.sort((a, b) => a.index - b.index);
    if (sorted.length > 0) throw refusal(sorted, (index) => String(records[index][0].after.id));
  }

  /** Why the actor cannot undo a batch, as far as its first changes tell; null if nothing is known against it. */
  refusal({ row, isPartlyVisible, undoneBy }: Batch, actor: Actor): string | null {
    if (undoneBy !== null) return "The batch has been undone.";
    const changes = this.history.changes(row, CHECK_SIZE);
    if (changes.length === 0) return "The records no longer exist.";
    const records = [...Map.groupBy(changes, ({ resource, rid }) => `${resource.name} ${rid}`).values()];
    const isOwn = this.#isAuthor(row, actor);
    // Not revealed: whether there are records that the actor may not view.
    if (isPartlyVisible || !records.every((each) => this.#mayUndo(each, isOwn, actor)))
      return "You do not have permission to undo this batch.";
    const changed = records.filter((each) => changedSince(each, this.#stored(each)).length > 0);
    if (changed.length === 0) return null;
    const [{ resource, after }] = changed[0];
    return isSubResource(resource)
      ? "The values have been changed since."
      : `${String(after[resource.key] || after.id)} has been changed since.`;
  }

  #mayUndo(changes: readonly Change[], isOwn: boolean, actor: Actor): boolean {
    const [{ resource, rid, op, before }] = changes;
    const change = isOwn ? rightToUndo(changes, this.#stored(changes)) : "change";
    const right = op === "create" || "deleted" in (before ?? {}) ? "delete" : change;
    return this.#stored(changes).id !== undefined && this.writer.allows(resource, rid, right, actor);
  }

  /** The stored record; empty if it no longer exists, such as a right whose group was deleted. */
  #stored([{ resource, rid }]: readonly Change[]): StoredRecord {
    return this.#statements.get({ text: storedStatement(resource), args: [rid] }) ?? {};
  }

  /**
   * Gives a record the values and the metadata of a version, and restores it if it is deleted; without a version also
   * if its slot is no longer free, or if the actor may no longer use its location: then it has none.
   */
  restore(resource: Resource, rid: number, version: PastVersion | undefined, actor: Actor): void {
    const last = version === undefined ? undefined : findLastChange(this.#statements, resource, rid, version);
    const values =
      version === undefined
        ? this.#withoutSlot(resource, rid, actor)
        : last && this.history.after(last, resource, rid, actor);
    if (!values) throw new Problem("not_found", `There is no version ${version} of this record.`);
    this.writer.restoreValues(resource, rid, values, actor);
    this.writer.verify(resource, rid, actor);
    if (last !== undefined && isGuarded(resource)) this.#restoreMetadata(last, resource, rid, actor);
  }

  /** Metadata of types that the actor may not view stays. */
  #restoreMetadata(last: number, resource: Resource, rid: number, actor: Actor): void {
    const { annotation } = SUB_RESOURCES;
    const viewed = new Set(TYPES.flatMap((name) => this.#visibleTypes(name, actor)));
    const then = readPartsAfter(this.#statements, last, annotation, [resource, rid]);
    const text =
      "SELECT rid, deleted, annotation_type, value FROM annotation WHERE object_kind = ? AND object_rid = ?";
    const differing = this.#statements.all({ text, args: [resource.name, rid] }).filter((now) => {
      const was = then.get(Number(now.rid));
      const isSame =
        was && was.deleted === 0 ? now.deleted === 0 && was.value === now.value : now.deleted === 1;
      return !isSame && viewed.has(Number(now.annotation_type));
    });
    const isLive = (part: number): boolean => then.get(part)?.deleted === 0;
    // First, as a type may have one value only.
    for (const { rid: part } of differing)
      if (!isLive(Number(part))) this.writer.markDeleted(annotation, Number(part), actor);
    for (const { rid: part } of differing) {
      if (!isLive(Number(part))) continue;
      this.writer.restoreValues(annotation, Number(part), then.get(Number(part))!, actor);
      this.writer.verify(annotation, Number(part), actor);
    }
  }

  #visibleTypes(name: string, actor: Actor): number[] {
    const viewer = { resources: this.read.resources, actor };
    return [
      ...this.#statements.numbers(
        selectVisible(viewer, this.read.resources.get(name)!, "t.rid AS rid", ALIVE),
      ),
    ];
  }

  #withoutSlot(resource: Resource, rid: number, actor: Actor): StoredRecord {
    const record = this.writer.current(resource, rid);
    if (record.deleted === 0) return {};
    const lost = this.writer.misplaced(resource, record, actor);
    const values: StoredRecord = Object.fromEntries(lost.map((name) => [name, null]));
    if (!hasPosition(resource) || record.position === "") return values;
    const keepsLocation =
      lost.length === 0 && isFree(this.#statements, Number(record.location), String(record.position));
    return keepsLocation ? values : { ...values, position: "" };
  }

  #takeBack(changes: readonly Change[], now: StoredRecord, right: Right, actor: Actor): void {
    const [{ resource, rid, op, before, after }] = changes;
    const wasLive = op !== "create" && (before?.deleted ?? after.deleted) === 0;
    const values = op === "create" ? {} : valuesBefore(changes);
    const differs = Object.entries(values).some(([name, value]) => now[name] !== value);
    // A record that is deleted again gets its values with that: its former slot may be another's now.
    if (!wasLive && now.deleted === 0) this.writer.markDeleted(resource, rid, actor, values);
    else if (wasLive && (differs || now.deleted === 1))
      this.writer.restoreValues(resource, rid, values, actor, right);
  }
}

/** Those who may use stock, or order, take back what they did themselves, unless the record was changed later. */
function rightToUndo(changes: readonly Change[], now: StoredRecord): Right {
  const [{ resource }] = changes;
  const names = changes.flatMap(({ before }) => Object.keys(before ?? {}));
  const isOrder = resource.name === "order";
  const fields = isOrder ? ORDERED_FIELDS : USED_FIELDS;
  // Read-only fields follow the others.
  const isOwnAct =
    (isOrder || hasStock(resource)) &&
    changes.every(({ op }) => op === "update") &&
    names.every((name) => fields.has(name) || resource.fields[name].write === "never");
  if (!isOwnAct || changedSince(changes, now).length > 0) return "change";
  return isOrder ? "order" : "use";
}

/** The place of a record: the position means nothing without the location. */
const PLACE = ["location", "position"];

/** Names of the fields that changes of one record set, and that no longer have the values that these left. */
function changedSince(changes: readonly Change[], now: Readonly<StoredRecord>): string[] {
  const [{ op, resource }] = changes;
  const { after: left } = changes.at(-1)!;
  const set = new Set(changes.flatMap(({ before }) => Object.keys(before ?? {})));
  if (hasPosition(resource) && PLACE.some((name) => set.has(name))) for (const name of PLACE) set.add(name);
  // Deleting what the changes created loses every later value.
  return changedFields(left, now).filter(
    (name) =>
      name === "deleted" || (!DELETION.has(name) && name in left && (op === "create" || set.has(name))),
  );
}

/** The values before the first of the changes, of all fields that they changed. */
function valuesBefore(changes: readonly Change[]): StoredRecord {
  const values = Object.assign({}, ...changes.toReversed().map(({ before }) => before)) as StoredRecord;
  return Object.fromEntries(Object.entries(values).filter(([name]) => !DELETION.has(name)));
}
