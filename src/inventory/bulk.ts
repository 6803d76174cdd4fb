import type { Actor } from "./model/access.ts";
import { compare } from "./model/condition.ts";
import { type Json, quoted } from "./model/field.ts";
import { rowChanges } from "./model/json-patch.ts";
import type { Mode } from "./model/patch.ts";
import type { Resource } from "./model/resource.ts";
import { Problem } from "../problem.ts";
import type { Reading } from "./reading.ts";
import type { Statements } from "./statements.ts";
import { fieldProblem, type Writing } from "./writing.ts";

/** Records in one bulk operation. */
const BULK_LIMIT = 10_000;

/** Several records at once: all of them or, where one is refused, none. Returns row numbers in the order asked. */
export interface Bulk {
  create(resource: Resource, body: Json[], actor: Actor): number[];
  update(resource: Resource, body: Json, mode: Mode, actor: Actor): number[];
  /** Returns the ids that were deleted. */
  remove(resource: Resource, ids: readonly string[], actor: Actor): string[];
}

const ALIVE = compare(["deleted"], "==", 0);

export function openBulk(statements: Statements, reading: Reading, writing: Writing): Bulk {
  const find = (resource: Resource, id: string, actor: Actor): number => {
    const rid = reading.find(resource, id, ALIVE, actor);
    if (rid === undefined) throw new Problem("not_found", `Not found: ${quoted(id)}.`);
    return rid;
  };
  /** @throws Problem conflict where a field has another value than the writer believes */
  const expectValue = (
    resource: Resource,
    rid: number,
    id: string,
    field: string,
    value: Json,
    actor: Actor,
  ): void => {
    const known = Object.hasOwn(resource.fields, field) && resource.fields[field].shown !== "internal";
    const look = { format: undefined, shape: "flat", fields: known ? [field] : [] } as const;
    const [record] = reading.records(resource, look, actor, [rid], { base: "", format: undefined }).values;
    if (!known || !Bun.deepEquals(record[field], value))
      throw new Problem("conflict", `${quoted(field)} of ${quoted(id)} is not what the test says.`);
  };
  return {
    create: (resource, body, actor) =>
      statements.writing(() => each(body, (item) => writing.create(resource, item, actor))),
    update(resource, body, mode, actor) {
      const changes = rowChanges(body);
      return statements.writing(() =>
        each(changes, ({ id, body, tests }) => {
          const rid = find(resource, id, actor);
          for (const [field, value] of tests) expectValue(resource, rid, id, field, value, actor);
          // What was only tested is not written.
          if (Object.keys(body).length > 0) writing.update(resource, rid, body, mode, actor);
          return rid;
        }),
      );
    },
    remove(resource, ids, actor) {
      limit(ids.length);
      if (ids.length === 0)
        throw fieldProblem(new Map([["id", ["Name the records: /bulk_delete/?id=<id>&id=<id>."]]]));
      return statements.writing(() => {
        const rids = ids.map((id) => find(resource, id, actor));
        const allowed = reading.rights(resource, actor, rids);
        const refused = rids.findIndex((rid) => !allowed.get(rid)?.delete);
        if (refused >= 0)
          throw new Problem("forbidden", `You do not have permission to delete ${quoted(ids[refused])}.`);
        writing.remove(resource, rids, actor);
        return [...ids];
      });
    },
  };
}

function limit(count: number): void {
  if (count > BULK_LIMIT)
    throw new Problem("too_large", `${count} records; at most ${BULK_LIMIT} can be written at once.`);
}

/** Does `work` for every item and gathers what is wrong with fields under the number of the item. */
function each<T>(items: readonly T[], work: (item: T) => number): number[] {
  limit(items.length);
  const errors = new Map<string, string[]>();
  const rids = items.map((item, i) => {
    try {
      return work(item);
    } catch (error) {
      if (!(error instanceof Problem) || !error.fields) throw error;
      for (const [name, texts] of Object.entries(error.fields)) errors.set(`[${i}].${name}`, texts);
      return -1;
    }
  });
  if (errors.size > 0) throw fieldProblem(errors);
  return rids;
}
