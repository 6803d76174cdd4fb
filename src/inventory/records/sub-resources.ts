import type { Actor } from "../model/access.ts";
import { type Json, parseUuid, quoted, isObject, type JsonObject } from "../model/field.ts";
import { and, compare } from "../model/condition.ts";
import type { Listing } from "../model/listing.ts";
import type { Query } from "../model/operator.ts";
import { errorKey } from "../../platform/schema.ts";
import { invalidField } from "../model/parse-body.ts";
import type { Resource } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { listMembers, ownFields, RECORD_INFO, type SubResource } from "../resources/sub-resource.ts";
import { Problem } from "../../problem.ts";
import type { RecordReader } from "./record-reader.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Store } from "./store.ts";

/** The source of records: the present, or the past as `Past` gives it with its own statements, reader and actor. */
export interface RecordSource {
  statements: Query;
  reader: RecordReader;
  actor: Actor;
}

/** Selection of the records of a list. */
export type DeletedFilter = "living" | "deleted" | "all";

/** A record whose sub-resources are read, with the state that it is read in. */
export interface ReadableParent extends RecordSource {
  rid: number;
  deletedFilter: DeletedFilter;
}

/**
 * The operations on sub-resources. The caller finds the parent and checks the rights on it; writes go through the
 * writer of the caller's batch.
 */
export class SubResourceRecords {
  constructor(private readonly store: Store) {}

  /** One page of the sub-resources of a parent. @throws Problem not_found past the last page */
  list(
    sub: SubResource,
    { resource, source }: { resource: Resource; source: ReadableParent },
    listing: Listing,
    base: string,
  ): { total: number; current: number; results: JsonObject[] } {
    const own = [compare(["object_kind"], "==", resource.name), compare(["object_rid"], "==", source.rid)];
    const condition = and(...own, listing.condition);
    // Events written at one time follow each other as they were written.
    const last = listing.order.at(-1);
    const descending = last !== undefined && "path" in last && last.descending;
    const order = [...listing.order, { path: ["rid"], descending }];
    const page = source.reader.list(sub, { ...listing, condition, order }, source.actor);
    return { total: page.total, current: page.current, results: this.#print(sub, page.rids, source, base) };
  }

  /** The sub-resource of a row number; undefined if it did not exist. */
  show(sub: SubResource, rid: number, source: RecordSource, base: string): JsonObject | undefined {
    return this.#print(sub, [rid], source, base)[0];
  }

  /** The row number of one, deleted or not. @throws Problem not_found */
  find(sub: SubResource, parent: Resource, parentRid: number, id: string): number {
    const row = this.store.statements.get({
      text: `SELECT rid FROM ${sub.table} WHERE object_kind = ? AND object_rid = ? AND id = ?`,
      args: [parent.name, parentRid, parseUuid(id) ?? ""],
    });
    if (!row) throw new Problem("not_found", "Not found.");
    return Number(row.rid);
  }

  /** Returns the row number of the new record. @throws Problem invalid_request */
  create(
    writer: RecordWriter,
    sub: SubResource,
    parent: { resource: Resource; rid: number },
    body: Json,
    { actor, id }: { actor: Actor; id?: string },
  ): number {
    const named: StoredRecord = { object_kind: parent.resource.name, object_rid: parent.rid };
    if (!sub.parse) return writer.create(sub, body, actor, id, named);
    const context = writer.makeContext(sub, named, actor);
    return writer.insert(sub, { ...named, ...sub.parse(this.#members(sub, body), context) }, actor, id);
  }

  /** @throws Problem invalid_request */
  change(
    writer: RecordWriter,
    sub: SubResource,
    rid: number,
    body: Json,
    { actor, mode }: { actor: Actor; mode: "replace" | "merge" },
  ): void {
    if (!sub.parse) return writer.update(sub, rid, body, mode, actor);
    const before = writer.current(sub, rid);
    const values = sub.parse(this.#members(sub, body), writer.makeContext(sub, before, actor), before);
    writer.setValues(sub, rid, values, actor);
  }

  #print(sub: SubResource, rids: readonly number[], source: RecordSource, base: string): JsonObject[] {
    const { statements, reader, actor } = source;
    const { resources } = this.store;
    const context = { query: statements, resources, actor };
    const own = ownFields(sub);
    const fields = ["id", ...own, ...RECORD_INFO];
    const representation = { format: undefined, shape: "flat", fields } as const;
    const { values } = reader.records(sub, representation, actor, rids, { base, format: undefined });
    return values.map((shown) => {
      if (sub.printValue) for (const name of own) shown[name] = sub.printValue(name, shown[name], context);
      if (!sub.print) return shown;
      const text = `SELECT * FROM ${sub.table} WHERE id = ?`;
      const stored = statements.get({ text, args: [String(shown.id)] })!;
      const printed: JsonObject = Object.assign({ id: shown.id }, sub.print(shown, stored, context));
      for (const name of RECORD_INFO) printed[name] = shown[name];
      return printed;
    });
  }

  /** A body whose members are all known. Read-only ones are ignored, so that an answer can be sent back. */
  #members(sub: SubResource, body: Json): JsonObject {
    if (!isObject(body)) throw invalidField("non_field_errors", "Invalid data. Expected a dictionary.");
    const members = listMembers(this.store.resources, sub);
    const known = new Set(["id", ...RECORD_INFO, ...Object.keys(members), ...Object.keys(sub.fields)]);
    const unknown = Object.keys(body).find((name) => !known.has(name));
    if (unknown === undefined) return body;
    const choices = Object.keys(members).filter((name) => members[name].write !== "never");
    throw invalidField(
      errorKey(unknown),
      `${quoted(unknown)} is not a field of ${sub.segment}. Choices: ${choices.join(", ")}.`,
    );
  }
}
