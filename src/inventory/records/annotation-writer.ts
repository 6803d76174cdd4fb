import type { Actor } from "../model/access.ts";
import { findAnnotation, isAnnotationName, withAnnotations } from "../model/annotation-type.ts";
import { type AnnotationType, isGuarded, type Resource, type Resources } from "../model/resource.ts";
import { isObject, type Json, type JsonObject } from "../model/field.ts";
import { fieldProblem } from "../model/parse-body.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { Problem } from "../../problem.ts";
import type { SubResource, SubResourceContext } from "../resources/sub-resource.ts";
import type { Statements } from "./statements.ts";

/** The members of a body: fields of the record, and annotations (`annotations__<type>`). */
export function splitAnnotations(
  resource: Resource,
  body: Json,
): { own: Json; annotations: [string, Json][] } {
  const entries = isObject(body) && isGuarded(resource) ? Object.entries(body) : [];
  const annotations = entries.filter(([name]) => isAnnotationName(name));
  if (annotations.length === 0) return { own: body, annotations };
  return { own: Object.fromEntries(entries.filter(([name]) => !isAnnotationName(name))), annotations };
}

/** Messages by field. */
export type Errors = Map<string, string[]>;

/** Writes of single annotations. */
interface SubResourceWriter {
  current(resource: Resource, rid: number): StoredRecord;
  insert(resource: Resource, values: Readonly<StoredRecord>, actor: Actor): number;
  setValues(resource: Resource, rid: number, values: Readonly<StoredRecord>, actor: Actor): void;
  markDeleted(resource: Resource, rid: number, actor: Actor): void;
  makeContext(resource: SubResource, record: StoredRecord, actor: Actor): SubResourceContext;
}

/** Sets annotations of a record like fields: a value replaces all values of its type, null removes them. */
export class AnnotationWriter {
  constructor(
    private readonly statements: Statements,
    private readonly resources: Resources,
    private readonly annotation: SubResource,
    private readonly writer: SubResourceWriter,
  ) {}

  /** The actor may change the record. @throws Problem invalid_request with an entry for each refused name */
  set(resource: Resource, rid: number, values: readonly [string, Json][], actor: Actor): void {
    const errors = this.#each(resource, values, actor, (type, value) =>
      this.#setOne(resource, rid, type, value, actor),
    );
    if (errors.size > 0) throw fieldProblem(errors);
  }

  /** Errors of values that are not written, by name. @param rid -1 for a new record */
  findErrors(resource: Resource, rid: number, values: readonly [string, Json][], actor: Actor): Errors {
    return this.#each(resource, values, actor, (type, value) => {
      if (!isEmpty(value)) this.#parse(resource, rid, type, value, actor);
    });
  }

  /** Calls `work` with each type and value. @returns the errors by name */
  #each(
    resource: Resource,
    values: readonly [string, Json][],
    actor: Actor,
    work: (type: AnnotationType, value: Json) => void,
  ): Errors {
    const named = withAnnotations(this.resources, resource, actor);
    const errors: Errors = new Map();
    const types = new Set<number>();
    for (const [name, value] of values) {
      const found = findAnnotation(named, name);
      const type = "type" in found && found.rest.length === 0 ? found.type : undefined;
      if (type === undefined)
        errors.set(name, [
          "error" in found ? found.error : "Name an annotation type; its values are set as a whole.",
        ]);
      else if (types.has(type.rid)) errors.set(name, ["Another member names the same annotation type."]);
      else {
        types.add(type.rid);
        const error = catchRefusal(() => work(type, value));
        if (error !== undefined) errors.set(name, [error]);
      }
    }
    return errors;
  }

  #setOne(resource: Resource, rid: number, type: AnnotationType, value: Json, actor: Actor): void {
    const { annotation, writer } = this;
    if (isEmpty(value)) {
      for (const { rid: each } of this.#existing(resource, rid, type))
        writer.markDeleted(annotation, Number(each), actor);
      return;
    }
    const { existing, parsed } = this.#parse(resource, rid, type, value, actor);
    const [first, ...others] = existing;
    const items = existing.flatMap((each) => listItems(each, type));
    if (first && Bun.deepEquals(items, listItems(parsed, type))) return;
    if (first) writer.setValues(annotation, Number(first.rid), parsed, actor);
    else writer.insert(annotation, { ...makeParent(resource, rid), ...parsed }, actor);
    for (const { rid } of others) writer.markDeleted(annotation, Number(rid), actor);
  }

  #parse(resource: Resource, rid: number, type: AnnotationType, value: Json, actor: Actor) {
    const existing = this.#existing(resource, rid, type);
    const context = this.writer.makeContext(this.annotation, makeParent(resource, rid), actor);
    const body: JsonObject = { annotation_type_id: type.id, value };
    return { existing, parsed: this.annotation.parse!(body, context, existing[0]) };
  }

  #existing({ name }: Resource, rid: number, type: AnnotationType): StoredRecord[] {
    const text =
      "SELECT rid FROM annotation WHERE object_kind = ? AND object_rid = ? AND annotation_type = ? AND deleted = 0 ORDER BY rid";
    const found = this.statements.all({ text, args: [name, rid, type.rid] });
    return found.map(({ rid }) => this.writer.current(this.annotation, Number(rid)));
  }
}

const makeParent = ({ name }: Resource, rid: number): StoredRecord => ({
  object_kind: name,
  object_rid: rid,
});

/** The values of an annotation; types with several values hold a list. */
export function listItems({ value }: StoredRecord, { multiple }: AnnotationType): Json[] {
  const stored = JSON.parse(String(value)) as Json;
  return multiple && Array.isArray(stored) ? stored : [stored];
}

export const isEmpty = (value: Json): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** Why a value is refused; undefined if it is written. */
function catchRefusal(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem) || !error.fields) throw error;
    return Object.values(error.fields).flat().join(" ");
  }
}
