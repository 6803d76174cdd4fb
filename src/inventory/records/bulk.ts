import { fieldProblem } from "../model/parse-body.ts";
import type { Actor } from "../model/access.ts";
import { compare } from "../model/condition.ts";
import { type Json, quoted } from "../model/field.ts";
import type { BulkChange } from "../model/bulk-body.ts";
import type { WriteMode } from "../model/parse-body.ts";
import type { Resource } from "../model/resource.ts";
import { type Code, Problem, PROBLEMS } from "../../problem.ts";
import type { RecordReader } from "./record-reader.ts";
import type { Statements } from "./statements.ts";
import { forbidden, type RecordWriter } from "./record-writer.ts";

/** Records in one bulk operation. */
const BULK_LIMIT = 100_000;
/** Refused records that an answer lists. */
const VERDICTS = 1000;

/** Several records at once: all of them or, where one is refused, none. Returns row numbers in the order asked. */
export interface Bulk {
  /** @throws Problem with a list: for every body what is wrong with it, as Django REST framework tells it */
  create(resource: Resource, bodies: Json[], actor: Actor): number[];
  /** @throws Problem with a verdict on every record that is refused */
  update(resource: Resource, changes: readonly BulkChange[], mode: WriteMode, actor: Actor): number[];
  /** Returns the ids that were deleted. @throws Problem with a verdict on every record that is refused */
  remove(resource: Resource, ids: readonly string[], actor: Actor): string[];
}

export const ALIVE = compare(["deleted"], "==", 0);

export function openBulk(statements: Statements, reading: RecordReader, writing: RecordWriter): Bulk {
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
    create(resource, bodies, actor) {
      const { done, refusals } = each(bodies, (body) => writing.create(resource, body, actor));
      if (refusals.length === 0) return done;
      const [{ index, problem }] = refusals;
      const errors = new Map(refusals.map((refusal) => [refusal.index, refusal.problem]));
      throw new Problem(problem.code, `[${index}].${problem.message}`, {
        cause: problem,
        list: bodies.map((_, i) => errorsOf(errors.get(i))),
      });
    },
    update(resource, changes, mode, actor) {
      const { done, refusals } = each(changes, ({ id, body, tests }) => {
        const rid = find(resource, id, actor);
        for (const [field, value] of tests) expectValue(resource, rid, id, field, value, actor);
        // What was only tested is not written.
        if (Object.keys(body).length > 0) writing.update(resource, rid, body, mode, actor);
        return rid;
      });
      if (refusals.length > 0) throw refusal(refusals, (i) => changes[i].id);
      return done;
    },
    remove(resource, ids, actor) {
      if (ids.length === 0)
        throw fieldProblem(new Map([["id", ["Name the records: /bulk_delete/?id=<id>&id=<id>."]]]));
      const first = each(ids, (id) => {
        const rid = find(resource, id, actor);
        if (!writing.allows(resource, rid, "delete", actor))
          throw new Problem("forbidden", `You do not have permission to delete ${quoted(id)}.`, {
            cause: forbidden(),
          });
        writing.markDeleted(resource, rid, actor);
        return rid;
      });
      if (first.refusals.length > 0) throw refusal(first.refusals, (i) => ids[i]);
      // Together, for they may refer to each other.
      const { refusals } = each(first.done, (rid) => {
        writing.verify(resource, rid);
        return rid;
      });
      if (refusals.length > 0) throw refusal(refusals, (i) => ids[i]);
      return [...ids];
    },
  };
}

interface Refusal {
  /** Number of the item, from 0. */
  index: number;
  problem: Problem;
}

/** Does `work` for every item and gathers why it was refused. @throws Problem too_large */
export function each<T>(
  items: readonly T[],
  work: (item: T) => number,
): { done: number[]; refusals: Refusal[] } {
  if (items.length > BULK_LIMIT)
    throw new Problem("too_large", `${items.length} records; at most ${BULK_LIMIT} can be written at once.`);
  const refusals: Refusal[] = [];
  const done = items.map((item, index) => {
    try {
      return work(item);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusals.push({ index, problem: error });
      return -1;
    }
  });
  return { done, refusals };
}

const errorsOf = (problem: Problem | undefined): Record<string, string[]> =>
  problem ? (problem.fields ?? { non_field_errors: [problem.message] }) : {};

/** One answer for all refused records: that of the first, with a verdict on each. */
export function refusal(refusals: readonly Refusal[], idOf: (index: number) => string): Problem {
  const [{ index, problem }] = refusals;
  const fields = refusals.flatMap(({ index, problem }) =>
    Object.entries(problem.fields ?? {}).map(([name, texts]) => [`[${index}].${name}`, texts] as const),
  );
  const code: Code = problem.code;
  const named = problem.fields !== undefined && fields.length > 0;
  return new Problem(code, named ? `[${index}].${problem.message}` : problem.message, {
    cause: problem,
    ...(named ? { fields: Object.fromEntries(fields.slice(0, VERDICTS)) } : {}),
    more: {
      refused: refusals.length,
      rows: refusals.slice(0, VERDICTS).map(({ index, problem: { code, message, fields: errors } }) => {
        const verdict = { row: index, id: idOf(index), status: PROBLEMS[code].status, code, message };
        return errors ? Object.assign(verdict, { errors }) : verdict;
      }),
    },
  });
}
