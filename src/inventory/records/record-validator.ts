import type { Actor } from "../model/access.ts";
import { ALIVE, ALWAYS, and, compare, not } from "../model/condition.ts";
import type { Json, Stored } from "../model/field.ts";
import { LIMITS } from "../model/limits.ts";
import {
  fieldProblem,
  missingReference,
  parseBody,
  type ParsedBody,
  parseReference,
  type UnresolvedReference,
  type WriteMode,
} from "../model/parse-body.ts";
import { mayUse, selectVisible } from "../model/plan.ts";
import {
  columnName,
  type ReadContext,
  type Resource,
  type Resources,
  findTarget,
} from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { findUnit } from "../model/unit.ts";
import { Problem } from "../../problem.ts";
import { exceeded } from "../../platform/limits.ts";
import type { Statements } from "./statements.ts";
import { listUnitTerms } from "./unit-terms.ts";

type Errors = ParsedBody["errors"];

/** A record that is to be written. */
export interface Draft {
  /** Row number; -1 for a new record. */
  rid: number;
  /** The stored record; undefined for a new record. */
  before: StoredRecord | undefined;
  /** Values of a new record that no body has: references to its parent. */
  parent?: StoredRecord | undefined;
}

/** Checks records against their declarations, and against the other records of the database. */
export class RecordValidator {
  constructor(
    private readonly statements: Statements,
    private readonly resources: Resources,
  ) {}

  /** The record to store, with all rules applied. @throws Problem invalid_request with an entry per field */
  validate(resource: Resource, body: Json, mode: WriteMode, draft: Draft, actor: Actor): StoredRecord {
    const { rid, before, parent } = draft;
    const parsed = parseBody(this.resources, resource, body, mode);
    this.#resolveReferences(resource, parsed, before, actor);
    this.#resolveRecords(resource, parsed, before, actor);
    checkOwners(parsed, before, actor);
    const { errors } = parsed;
    const record = {
      ...(before ?? { ...blank(resource, actor), ...parent }),
      ...Object.fromEntries(parsed.values),
    };
    // Rules concern a whole record. They are skipped while fields are missing or invalid.
    if (errors.size === 0) {
      const context = this.#makeContext(actor);
      for (const [name, error] of Object.entries(
        resource.rules?.(record, parsed.given, before, context) ?? {},
      ))
        errors.set(name, [error]);
      for (const name of this.#takenNames(resource, record, rid, actor))
        errors.set(name, [`${resource.name} with this ${name} already exists.`]);
      this.#checkNesting(resource, record, draft, errors);
    }
    // Rules that depend on other records are about a record that is valid in itself.
    if (errors.size === 0) this.#checkOthers(resource, record, before, actor, errors);
    if (errors.size > 0) throw fieldProblem(errors);
    return record;
  }

  /** Checks a stored record after an earlier state was restored. @throws Problem invalid_request */
  verify(resource: Resource, record: StoredRecord, actor: Actor): void {
    const rid = Number(record.rid);
    const errors: Errors = new Map();
    for (const [name, field] of Object.entries(resource.fields)) {
      if (field.kind !== "reference" || field.write === "never" || record[name] === null) continue;
      if (field.outlived) continue;
      const far = findTarget(this.resources, field);
      const alive = "deleted" in far.fields ? " AND deleted = 0" : "";
      if (!this.exists(`SELECT 1 FROM ${far.table} WHERE rid = ?${alive}`, record[name]))
        errors.set(name, [`The ${far.name} that it refers to is deleted.`]);
    }
    if (this.#takenNames(resource, record, rid, actor).length > 0)
      throw new Problem("conflict", "Another record now has the former name of this record.");
    this.#checkNesting(resource, record, { rid, before: undefined }, errors);
    this.#checkOthers(resource, record, undefined, actor, errors);
    if (errors.size > 0) throw fieldProblem(errors);
  }

  exists(text: string, ...args: Stored[]): boolean {
    return this.statements.get({ text: `SELECT 1 AS found WHERE EXISTS (${text})`, args }) !== null;
  }

  /** Row numbers of at most two records that a reference may mean. */
  #candidates(far: Resource, { by, value }: UnresolvedReference, actor: Actor): number[] {
    const condition = and(compare([by], "==", value), "deleted" in far.fields ? ALIVE : ALWAYS);
    const viewer = { resources: this.resources, actor };
    const found = this.statements.all(selectVisible(viewer, far, "t.rid AS rid", condition, " LIMIT 2"));
    return found.map(({ rid }) => Number(rid));
  }

  /** The oldest unit that a symbol or alias such as µl means, as in imports; none if it is no common unit. */
  #findUnitTerm(text: string, actor: Actor): number[] {
    const unit = findUnit(text);
    if (!unit) return [];
    const terms = listUnitTerms(this.statements, this.resources, actor);
    return terms
      .filter(({ symbol }) => symbol === unit.symbol)
      .map(({ rid }) => rid)
      .slice(0, 1);
  }

  /** Puts row numbers in place of references. An unchanged reference needs no right to view its target. */
  #resolveReferences(
    resource: Resource,
    parsed: ParsedBody,
    before: StoredRecord | undefined,
    actor: Actor,
  ): void {
    for (const reference of parsed.pending) {
      const { field, by, value } = reference;
      const far = findTarget(this.resources, resource.fields[field]);
      const was = before?.[field] ?? null;
      const sameTarget = `SELECT 1 FROM ${far.table} WHERE rid = ? AND ${columnName(far, by)} = ?`;
      if (was !== null && this.exists(sameTarget, was, value)) {
        parsed.values.set(field, was);
        continue;
      }
      const named = this.#candidates(far, reference, actor);
      const isUnit = resource.fields[field].imports === "unit" && by !== "id";
      const [rid, another] = named.length === 0 && isUnit ? this.#findUnitTerm(String(value), actor) : named;
      if (rid === undefined) parsed.errors.set(field, [missingReference(reference)]);
      else if (another !== undefined)
        parsed.errors.set(field, [`Several objects have this ${by}; give the id of one.`]);
      else if (resource.fields[field].places && !mayUse(this.#makeContext(actor), far, rid))
        parsed.errors.set(field, [notUsableMessage(far)]);
      else parsed.values.set(field, rid);
    }
  }

  /**
   * Names and targets of the fields by which a record is put into others that the actor may not use; `before`: where it is
   * already.
   */
  misplaced(
    resource: Resource,
    record: StoredRecord,
    before: StoredRecord | undefined,
    actor: Actor,
  ): [name: string, far: Resource][] {
    return Object.entries(resource.fields).flatMap(([name, field]): [string, Resource][] => {
      if (!field.places || record[name] === null || record[name] === before?.[name]) return [];
      const far = findTarget(this.resources, field);
      return mayUse(this.#makeContext(actor), far, Number(record[name])) ? [] : [[name, far]];
    });
  }

  /**
   * Puts ids, each once, in place of names in lists of records. Records already in the list stay if they are named
   * again; records that the actor may not view always stay.
   */
  #resolveRecords(
    resource: Resource,
    parsed: ParsedBody,
    before: StoredRecord | undefined,
    actor: Actor,
  ): void {
    for (const [name, { listOf }] of Object.entries(resource.fields)) {
      const far = listOf === undefined ? undefined : this.resources.get(listOf);
      if (!far || !parsed.values.has(name)) continue;
      const kept = JSON.parse(String(before?.[name] ?? "[]")) as string[];
      const ids = new Set(kept.filter((id) => !this.#isVisible(far, id, actor)));
      for (const value of JSON.parse(String(parsed.values.get(name))) as Json[]) {
        const found = this.#listed(far, parseReference(far, name, value), kept, actor);
        if ("error" in found) parsed.errors.set(name, [found.error]);
        else ids.add(found.id);
      }
      parsed.values.set(name, JSON.stringify([...ids]));
    }
  }

  /** The id of a record in a list, or the error in its name. */
  #listed(
    far: Resource,
    named: UnresolvedReference | string,
    kept: readonly string[],
    actor: Actor,
  ): { id: string } | { error: string } {
    if (typeof named === "string") return { error: named };
    const { by, value } = named;
    if (by === "id" && kept.includes(String(value))) return { id: String(value) };
    const [rid, another] = this.#candidates(far, named, actor);
    if (rid === undefined) return { error: missingReference(named) };
    if (another !== undefined) return { error: `Several objects have this ${by}; give the id of one.` };
    const text = `SELECT ${columnName(far, "id")} AS id FROM ${far.table} WHERE rid = ?`;
    return { id: String(this.statements.get({ text, args: [rid] })!.id) };
  }

  #isVisible(far: Resource, id: string, actor: Actor): boolean {
    const viewer = { resources: this.resources, actor };
    const { text, args } = selectVisible(viewer, far, "1", compare(["id"], "==", id));
    return this.exists(text, ...args);
  }

  /** Unique fields whose value another visible record has: hidden records are not confirmed. */
  #takenNames(resource: Resource, record: StoredRecord, rid: number, actor: Actor): string[] {
    const unique = Object.entries(resource.fields).filter(
      ([, field]) => field.unique && field.write !== "never",
    );
    return unique.flatMap(([name]) => {
      const others = and(compare([name], "==", record[name]), not(compare(["rid"], "==", rid)));
      const { text, args } = selectVisible({ resources: this.resources, actor }, resource, "1", others);
      return this.exists(text, ...args) ? name : [];
    });
  }

  #makeContext(actor: Actor): ReadContext {
    return { query: this.statements, resources: this.resources, actor };
  }

  #checkOthers(
    resource: Resource,
    record: StoredRecord,
    before: StoredRecord | undefined,
    actor: Actor,
    errors: Errors,
  ): void {
    const context = this.#makeContext(actor);
    for (const [name, error] of Object.entries(resource.check?.(record, before, context) ?? {}))
      errors.set(name, [error]);
  }

  /** A record is not inside itself, however many steps away, and not inside too many others. */
  #checkNesting(resource: Resource, record: StoredRecord, { rid, before }: Draft, errors: Errors): void {
    const { table } = resource;
    for (const [name, field] of Object.entries(resource.fields)) {
      // If the limit was exceeded before it existed, other fields can still be changed.
      if (field.to !== resource.name || record[name] === null || record[name] === before?.[name]) continue;
      const column = columnName(resource, name);
      const outer =
        `WITH RECURSIVE up (rid) AS (SELECT ? UNION SELECT above.${column} FROM up JOIN ${table} AS above` +
        ` ON above.rid = up.rid WHERE above.${column} IS NOT NULL) SELECT rid FROM up`;
      const above = this.statements.all({ text: outer, args: [record[name]] }).map((row) => row.rid);
      const left = LIMITS.depth.max - above.length - 1;
      const inner =
        `WITH RECURSIVE down (rid, level) AS (SELECT ?1, 0 UNION ALL SELECT below.rid, level + 1 FROM down` +
        ` JOIN ${table} AS below ON below.${column} = down.rid AND below.deleted = 0 WHERE level <= ?2)` +
        " SELECT 1 FROM down WHERE level > ?2";
      if (above.includes(rid)) errors.set(name, [`A ${resource.name} cannot be inside itself.`]);
      else if (left < 0 || this.exists(inner, rid, left)) errors.set(name, [exceeded(LIMITS.depth)]);
    }
  }
}

export const notUsableMessage = ({ name }: Resource): string => `You may not put records into this ${name}.`;

/** A new record before its body is read. */
function blank(resource: Resource, actor: Actor): StoredRecord {
  const record: StoredRecord = {};
  for (const [name, field] of Object.entries(resource.fields))
    if (field.kind !== "computed") record[name] = field.initial ?? null;
  return { ...record, owner: actor.user, owned_by: actor.primaryGroup };
}

/** Only administrators change the owner; only they and owners publish records, and owners give them only to their own groups. */
function checkOwners({ values, errors }: ParsedBody, before: StoredRecord | undefined, actor: Actor): void {
  if (actor.superuser) return;
  const isOwner = before === undefined || before.owner === actor.user;
  if (!isOwner && values.get("public") === 1 && before.public === 0)
    errors.set("public", ["Only the owner or an administrator may make a record public."]);
  const owner = values.get("owner");
  if (owner !== undefined && owner !== (before?.owner ?? actor.user))
    errors.set("owner", ["Only an administrator may change the owner."]);
  const group = values.get("owned_by");
  if (group === undefined || group === before?.owned_by) return;
  if (!isOwner)
    errors.set("owned_by", ["Only the owner or an administrator may give a record to another group."]);
  else if (!actor.groups.includes(Number(group)))
    errors.set("owned_by", ["You are not a member of this group."]);
}
