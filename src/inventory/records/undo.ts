import type { Actor } from "../model/access.ts";
import type { Resource } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { refusal } from "./bulk.ts";
import type { Change, History } from "./history.ts";
import { Problem } from "../../problem.ts";
import type { RecordWriter } from "./record-writer.ts";

/** Earlier states brought back, each within a batch that the caller opens. All throw a Problem. */
export interface Undo {
  /**
   * Takes a batch back: what it made is deleted, what it deleted lives again, what it changed is as it was before. All
   * or nothing. Where later changes would be lost the record is refused, unless `force`.
   * @throws Problem with a verdict on every record that is refused
   */
  undo(row: number, force: boolean, actor: Actor): void;
  /** Gives a record the values that it had in a version, and life again where it is deleted. */
  restore(resource: Resource, rid: number, version: number | undefined, actor: Actor): void;
}

/** The life of a record is put back by `mark` and `put`, never as a value. */
const LIFE = new Set(["deleted", "deleted_date", "deleted_by"]);

export function openUndo(writing: RecordWriter, history: History): Undo {
  /** Names of fields whose later values would be lost by putting back what the batch changed; empty where none. */
  const lost = (changes: readonly Change[], row: number): string[] => {
    const [{ resource, rid }] = changes;
    const later = history.later(resource, rid, row);
    if (later.length === 0) return [];
    const lives = (change: Change) => change.op !== "update";
    const mine = new Set(changes.flatMap((change) => Object.keys(change.before ?? {})));
    const theirs = new Set(later.flatMap((change) => Object.keys(change.before ?? {})));
    // To delete what the batch made loses every later change; to bring back what it deleted, none of other fields.
    if (changes[0].op === "create") return theirs.size > 0 ? [...theirs] : ["deleted"];
    if (later.some(lives)) theirs.add("deleted");
    return [...theirs].filter((name) => mine.has(name) || name === "deleted");
  };

  const takeBack = (changes: readonly Change[], actor: Actor): void => {
    const [first] = changes;
    const { resource, rid } = first;
    const before = earlier(changes);
    const now = writing.current(resource, rid);
    const lived = (first.before?.deleted ?? first.after.deleted) === 0;
    const differs = Object.entries(before).some(([name, value]) => now[name] !== value);
    if (first.op === "create" || !lived) {
      if (first.op !== "create" && differs) writing.restoreValues(resource, rid, before, actor);
      if (now.deleted === 0) writing.markDeleted(resource, rid, actor);
      return;
    }
    if (now.deleted === 1 || differs) writing.restoreValues(resource, rid, before, actor);
  };

  return {
    undo(row, force, actor) {
      const records = byRecord(history.changes(row));
      const refusals: { index: number; problem: Problem }[] = [];
      const attempt = (index: number, work: () => void): void => {
        try {
          work();
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          if (!refusals.some((refused) => refused.index === index)) refusals.push({ index, problem: error });
        }
      };
      // Backwards, so that names that went from one record to another go back the same way.
      for (const [index, changes] of [...records.entries()].reverse())
        attempt(index, () => {
          const names = force ? [] : lost(changes, row);
          if (names.length > 0)
            throw new Problem(
              "conflict",
              `${changes[0].resource.name} ${changes[0].after.id} was changed later (${names.join(", ")}).`,
            );
          takeBack(changes, actor);
        });
      if (refusals.length === 0)
        for (const [index, [{ resource, rid }]] of records.entries())
          attempt(index, () => writing.verify(resource, rid));
      refusals.sort((a, b) => a.index - b.index);
      if (refusals.length > 0) throw refusal(refusals, (index) => String(records[index][0].after.id));
    },
    restore(resource, rid, version, actor) {
      const then = version === undefined ? {} : history.version(resource, rid, version);
      if (!then) throw new Problem("not_found", `There is no version ${version} of this record.`);
      writing.restoreValues(resource, rid, then, actor);
      writing.verify(resource, rid);
    },
  };
}

/** The changes of a batch, those of one record together, in the order in which records first occur. */
function byRecord(changes: readonly Change[]): Change[][] {
  const found = new Map<string, Change[]>();
  for (const change of changes) {
    const key = `${change.resource.name} ${change.rid}`;
    const mine = found.get(key);
    if (mine) mine.push(change);
    else found.set(key, [change]);
  }
  return [...found.values()];
}

/** The values before the first of the changes, of all fields that they changed. */
function earlier(changes: readonly Change[]): StoredRecord {
  const values: StoredRecord = {};
  for (const { before } of changes.toReversed())
    for (const [name, value] of Object.entries(before ?? {})) if (!LIFE.has(name)) values[name] = value;
  return values;
}
