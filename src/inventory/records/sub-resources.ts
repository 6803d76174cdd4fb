import {
  type AnnotationValues,
  type Checked,
  openAnnotationValues,
  type ValueType,
} from "./annotation-value.ts";
import type { Actor } from "../model/access.ts";
import { compare } from "../model/condition.ts";
import { type Attachment, STAMPS } from "./sub-resource-description.ts";
import { type Json, KINDS, parseUuid, prose, quoted } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";
import {
  type DeletedFilter,
  ofParent,
  type SubResourceRow,
  selectSubResources,
  stampsOf,
} from "./sub-resource-row.ts";
import { Problem } from "../../problem.ts";
import { SUB_RESOURCES } from "../resources/index.ts";
import type { RecordReader } from "./record-reader.ts";
import type { Statements } from "./statements.ts";
import type { Store } from "./store.ts";
import { fieldProblem, type RecordWriter } from "./record-writer.ts";

/** What is read: the present, or the past as `Past` gives it with its own statements, reading and actor. */
export interface RecordSource {
  statements: Statements;
  reader: RecordReader;
  actor: Actor;
}

/**
 * Annotations and notes of records. Who may view the record may read them, who may change the record may write them:
 * the caller finds the record and asks for the rights, so that nothing is told of one that may not be seen. Writes are
 * made by the `writing` of a batch.
 */
export interface SubResourceRecords {
  list(what: Attachment, resource: Resource, rid: number, life: DeletedFilter, source: RecordSource): Json[];
  /** One by its row, as `list` shows it; undefined where it was not there. */
  show(what: Attachment, part: number, source: RecordSource): { [name: string]: Json } | undefined;
  /** The row of one of a record, deleted or not. @throws Problem not_found */
  find(what: Attachment, resource: Resource, rid: number, id: string): number;
  /** Returns its row. @throws Problem invalid_request */
  add(
    writing: RecordWriter,
    what: Attachment,
    resource: Resource,
    rid: number,
    body: Json,
    actor: Actor,
    id?: string,
  ): number;
  change(writing: RecordWriter, what: Attachment, part: number, body: Json, actor: Actor): void;
}

type Members = { [key: string]: Json };

const KIND: Record<Attachment, Resource> = {
  annotations: SUB_RESOURCES.annotation,
  notes: SUB_RESOURCES.note,
};
const NOTE = prose("", { blank: false });

export function openSubResourceRecords(store: Store): SubResourceRecords {
  const { statements, reader, resources } = store;
  const values: AnnotationValues = openAnnotationValues(statements, resources);
  const kinds = ["annotation_type", "custom_property_type"].map((name) => resources.get(name)!);

  const rowsOf = (
    from: Statements,
    what: Attachment,
    where: string,
    ...args: (string | number)[]
  ): SubResourceRow[] =>
    from.all({
      text: `${selectSubResources(KIND[what].table)} WHERE ${where} ORDER BY a.rid`,
      args,
    });

  const print = (what: Attachment, row: SubResourceRow, source: RecordSource): { [name: string]: Json } => {
    const about = stampsOf(row);
    if (what === "notes") return { id: row.id, content: row.content, ...about };
    // By the rows of today, for a type that is deleted or not to be seen has no row in the past; its id never changes.
    const type = statements.get({
      text: "SELECT id FROM field_type WHERE rid = ?",
      args: [row.annotation_type],
    })!;
    // What a type is called is told to those who may view it; its id is not secret.
    const seen = kinds.some(
      (kind) => source.reader.find(kind, String(type.id), ANY, source.actor) !== undefined,
    );
    const named = seen
      ? source.statements.get({
          text: "SELECT name, type FROM field_type WHERE rid = ?",
          args: [row.annotation_type],
        })
      : null;
    const shown =
      source.statements === statements ? values : openAnnotationValues(source.statements, resources);
    return {
      id: row.id,
      name: named?.name ?? null,
      value: shown.show(JSON.parse(String(row.value)) as Json, source.actor),
      annotation_type_id: type.id,
      type: named?.type ?? null,
      ...about,
    };
  };

  /** @throws Problem invalid_request */
  const typeFor = (resource: Resource, rid: number, body: Members, actor: Actor): SubResourceRow => {
    const given = body.annotation_type_id ?? body.annotation_type ?? null;
    const word =
      given !== null && typeof given === "object" && !Array.isArray(given) ? (given.id ?? given.name) : given;
    if (typeof word !== "string" || word.trim() === "")
      throw refused("annotation_type_id", "This field is required.");
    const id = KINDS.uuid.parse(word) ?? idOfName(word, actor);
    const found = kinds
      .map((kind) => (id === undefined ? undefined : reader.find(kind, String(id), ALIVE, actor)))
      .find((candidate) => candidate !== undefined);
    if (found === undefined) throw refused("annotation_type_id", "There is no such annotation type.");
    const type = statements.get({ text: "SELECT * FROM field_type WHERE rid = ?", args: [found] })!;
    if (type.model_name !== "" && type.model_name !== resource.model)
      throw refused("annotation_type_id", `It is for records of ${String(type.model_name)}.`);
    if (type.readonly === 1 && !actor.superuser)
      throw refused("annotation_type_id", "Values of this type can only be read.");
    const there = statements.get({
      text: "SELECT 1 FROM annotation WHERE object_kind = ? AND object_rid = ? AND annotation_type = ? AND deleted = 0",
      args: [resource.name, rid, found],
    });
    if (there && type.multiple !== 1)
      throw refused("annotation_type_id", "The record has a value of this type already; change that one.");
    return type;
  };

  const idOfName = (name: string, actor: Actor): string | undefined => {
    const named = statements.all({
      text: "SELECT id FROM field_type WHERE name = ? AND deleted = 0 ORDER BY kind LIMIT 100",
      args: [name.trim()],
    });
    const seen = named.filter(({ id }) =>
      kinds.some((kind) => reader.find(kind, String(id), ALIVE, actor) !== undefined),
    );
    return seen.length === 0 ? undefined : String(seen[0].id);
  };

  const valueOf = (type: SubResourceRow, body: Members, actor: Actor): string => {
    const described: ValueType = {
      type: String(type.type),
      multiple: type.multiple === 1,
      validations: JSON.parse(String(type.validations)) as ValueType["validations"],
      value_choices:
        type.value_choices === null ? null : (JSON.parse(String(type.value_choices)) as Json[][]),
      cv_category: type.cv_category as number | null,
      unit_category: type.unit_category as number | null,
      choices_target: String(type.choices_target),
    };
    const given = body.value ?? (type.has_default === 1 ? type.default_value : null);
    const checked: Checked = values.check(described, given, actor);
    if ("error" in checked) throw refused("value", checked.error);
    return JSON.stringify(checked.value);
  };

  const contentOf = (body: Members): string => {
    if (body.content === undefined || body.content === "")
      throw refused("content", "This field is required.");
    const decoded = KINDS.text.decode(body.content, NOTE);
    if ("error" in decoded) throw refused("content", decoded.error);
    return String(decoded.value);
  };

  return {
    list: (what, resource, rid, life, source) =>
      rowsOf(source.statements, what, ofParent(life), resource.name, rid).map((row) =>
        print(what, row, source),
      ),
    show(what, part, source) {
      const [row] = rowsOf(source.statements, what, "a.rid = ?", part);
      return row && print(what, row, source);
    },
    find(what, resource, rid, id) {
      const row = statements.get({
        text: `SELECT rid FROM ${KIND[what].table} WHERE object_kind = ? AND object_rid = ? AND id = ?`,
        args: [resource.name, rid, parseUuid(id) ?? ""],
      });
      if (!row) throw new Problem("not_found", "Not found.");
      return Number(row.rid);
    },
    add(writing, what, resource, rid, body, actor, id) {
      const members = membersOf(what, body);
      const object = { object_kind: resource.name, object_rid: rid };
      if (what === "notes")
        return writing.insert(KIND[what], { ...object, content: contentOf(members) }, actor, id);
      const type = typeFor(resource, rid, members, actor);
      const value = valueOf(type, members, actor);
      return writing.insert(KIND[what], { ...object, annotation_type: type.rid, value }, actor, id);
    },
    change(writing, what, part, body, actor) {
      const members = membersOf(what, body);
      if (what === "notes")
        return writing.setValues(KIND[what], part, { content: contentOf(members) }, actor);
      const { annotation_type: kind } = writing.current(KIND[what], part);
      const type = statements.get({ text: "SELECT * FROM field_type WHERE rid = ?", args: [kind] })!;
      if (type.readonly === 1 && !actor.superuser)
        throw refused("value", "Values of this type can only be read.");
      writing.setValues(KIND[what], part, { value: valueOf(type, members, actor) }, actor);
    },
  };
}

const ALIVE = compare(["deleted"], "==", 0);
const ANY = compare(["version"], ">=", 0);

const refused = (field: string, text: string): Problem => fieldProblem(new Map([[field, [text]]]));

/** What can be written, besides what is shown, which is left out: what was read can be sent back. */
const WRITABLE: Record<Attachment, readonly string[]> = {
  annotations: ["annotation_type_id", "annotation_type", "value"],
  notes: ["content"],
};
const SHOWN_ONLY = new Set(["id", "name", "type", ...Object.keys(STAMPS)]);

function membersOf(what: Attachment, body: Json): Members {
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw refused("non_field_errors", "Invalid data. Expected a dictionary.");
  for (const name of Object.keys(body))
    if (!WRITABLE[what].includes(name) && !SHOWN_ONLY.has(name))
      throw refused(
        /^\w{1,60}$/.test(name) ? name : "non_field_errors",
        `${quoted(name)} is not a field of ${what}. Choices: ${WRITABLE[what].join(", ")}.`,
      );
  return body;
}
