import type { Actor } from "../model/access.ts";
import { exceeded } from "../../platform/limits.ts";
import type { BulkChange } from "../model/bulk-body.ts";
import { ALIVE } from "../model/condition.ts";
import { isObject, type Json, KINDS, quoted, shownName } from "../model/field.ts";
import { LIMITS } from "../model/limits.ts";
import { invalidField, type WriteMode } from "../model/parse-body.ts";
import type { Resource } from "../model/resource.ts";
import { Problem, PROBLEMS } from "../../problem.ts";
import { hasPosition } from "../resources/position.ts";
import { CODE } from "./codes.ts";
import type { RecordReader } from "./record-reader.ts";
import type { RecordWriter } from "./record-writer.ts";

/** Writes of several records: all of them or, if one is refused, none. Row numbers are in the order of the request. */
export class Bulk {
  constructor(
    private readonly reader: RecordReader,
    private readonly writer: RecordWriter,
  ) {}

  /** @throws Problem with a list of errors, one entry for each body, as in Django REST framework */
  create(resource: Resource, bodies: Json[], actor: Actor): number[] {
    const codes = bodies.map((body) => (isObject(body) ? String(body[CODE] ?? "") : ""));
    const { done, refusals } = this.writer.codes.reserving(codes, () =>
      each(bodies, (body) => this.writer.create(resource, body, actor)),
    );
    if (refusals.length === 0) return done;
    const [{ index, problem }] = refusals;
    const errors = new Map(refusals.map((refusal) => [refusal.index, refusal.problem]));
    const list = bodies.map((_, i) => {
      const refused = errors.get(i);
      return refused ? (refused.fields ?? { non_field_errors: [refused.message] }) : {};
    });
    throw new Problem(problem.code, `[${index}].${problem.message}`, { cause: problem, list });
  }

  /** @throws Problem with a verdict on every record that is refused */
  update(resource: Resource, changes: readonly BulkChange[], mode: WriteMode, actor: Actor): number[] {
    const named = new Set<Json>();
    const write = ({ id, body, tests }: BulkChange): number => {
      const parsed = KINDS[resource.fields.id.kind as "uuid"].parse(id) ?? id;
      if (named.has(parsed))
        throw invalidField("id", `${shownName(id)} occurs more than once. Name each record once.`);
      named.add(parsed);
      const rid = this.#find(resource, id, actor);
      if (tests.length > 0) this.#test(resource, { rid, id }, tests, actor);
      // A record that was only tested is not written.
      if (Object.keys(body).length > 0) this.writer.update(resource, rid, body, mode, actor);
      return rid;
    };
    return this.writer.rearrange(this.#moved(resource, changes, actor), () => {
      const { done, refusals } = each(changes, write);
      if (refusals.length > 0) throw refusal(refusals, (i) => changes[i].id);
      return done;
    });
  }

  /** The records that change their positions, which they may exchange. */
  #moved(resource: Resource, changes: readonly BulkChange[], actor: Actor): (readonly [Resource, number])[] {
    if (!hasPosition(resource) || changes.length > LIMITS.records.max) return [];
    return changes
      .filter(({ body }) => "position" in body)
      .flatMap(({ id }) => this.reader.find(resource, id, ALIVE, actor) ?? [])
      .map((rid) => [resource, rid] as const);
  }

  /** Returns the deleted ids. @throws Problem with a verdict on every record that is refused */
  remove(resource: Resource, ids: readonly string[], actor: Actor): string[] {
    if (ids.length === 0) throw invalidField("id", "Name the records: /bulk_delete/?id=<id>&id=<id>.");
    const marked = each(ids, (id) => {
      const rid = this.#find(resource, id, actor);
      this.#markDeleted(resource, rid, actor);
      return rid;
    });
    if (marked.refusals.length > 0) throw refusal(marked.refusals, (i) => ids[i]);
    return this.verifyDeleted(resource, marked.done, ids, actor);
  }

  /** Checks deleted records together, as they may refer to each other. @throws Problem with a verdict on every record that is refused */
  verifyDeleted(resource: Resource, rids: readonly number[], ids: readonly string[], actor: Actor): string[] {
    if (!this.writer.isAnyReferenced(resource, rids)) return [...ids];
    const { refusals } = each(rids, (rid) => {
      this.writer.verify(resource, rid, actor);
      return rid;
    });
    if (refusals.length > 0) throw refusal(refusals, (i) => ids[i]);
    return [...ids];
  }

  #markDeleted(resource: Resource, rid: number, actor: Actor): void {
    try {
      this.writer.markDeleted(resource, rid, actor);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "forbidden") throw error;
      throw new Problem("forbidden", "You do not have permission to delete this record.", { cause: error });
    }
  }

  #find(resource: Resource, id: string, actor: Actor): number {
    const rid = this.reader.find(resource, id, ALIVE, actor);
    if (rid === undefined) throw new Problem("not_found", `Not found: ${shownName(id)}.`);
    return rid;
  }

  /** @throws Problem conflict if a field does not have the expected value */
  #test(
    resource: Resource,
    { rid, id }: { rid: number; id: string },
    tests: BulkChange["tests"],
    actor: Actor,
  ): void {
    const known = (field: string): boolean =>
      Object.hasOwn(resource.fields, field) && resource.fields[field].shown !== "internal";
    const fields = [...new Set(tests.map(([field]) => field).filter(known))];
    const [record] = this.reader.values(resource, fields, actor, [rid]);
    for (const [field, value] of tests) {
      if (!known(field) || !Bun.deepEquals(record[field], value))
        throw new Problem("conflict", `${quoted(field)} of ${quoted(id)} is not the tested value.`);
    }
  }
}

/** Why one item, numbered from 0, was refused. */
interface Refusal {
  index: number;
  problem: Problem;
}

/** Does `work` for every item, and collects refusals until there are too many to describe. @throws Problem too_large */
export function each<T>(
  items: readonly T[],
  work: (item: T, i: number) => number,
): { done: number[]; refusals: Refusal[] } {
  if (items.length > LIMITS.records.max) throw new Problem("too_large", exceeded(LIMITS.records));
  const refusals: Refusal[] = [];
  const done: number[] = [];
  for (const [index, item] of items.entries()) {
    try {
      done.push(work(item, index));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusals.push({ index, problem: error });
      if (refusals.length === LIMITS.refusals.max) break;
    }
  }
  return { done, refusals };
}

/** One problem for all refused records: that of the first, with a verdict on each. */
export function refusal(refusals: readonly Refusal[], readId: (index: number) => string): Problem {
  const [{ index, problem }] = refusals;
  const fields = refusals.flatMap(({ index, problem }) =>
    Object.entries(problem.fields ?? {}).map(([name, texts]) => [`[${index}].${name}`, texts] as const),
  );
  const named = problem.fields !== undefined && fields.length > 0;
  const rows = refusals
    .slice(0, LIMITS.refusals.max)
    .map(({ index, problem: { code, message, fields: errors } }) => {
      const verdict = { row: index, id: readId(index), status: PROBLEMS[code].status, code, message };
      return errors ? Object.assign(verdict, { errors }) : verdict;
    });
  return new Problem(problem.code, named ? `[${index}].${problem.message}` : problem.message, {
    cause: problem,
    ...(named ? { fields: Object.fromEntries(fields.slice(0, LIMITS.refusals.max)) } : {}),
    more: { refused: refusals.length, rows },
  });
}
