import type { TSchema } from "typebox";
import { type Field, integer, text, type JsonObject } from "../model/field.ts";
import type { Query } from "../model/operator.ts";
import { valueSchema } from "../model/schema.ts";
import {
  commonFields,
  deletionFields,
  type ReadContext,
  type Resource,
  type Resources,
} from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";

/**
 * A resource whose records belong to a parent record: notes, annotations, files, grants, memberships. Its records are
 * stored, versioned and audited like any other. The right to view the parent includes reading them, the right to change
 * the parent writing them. Operations, routes, schemas and history follow from the declaration.
 */
export interface SubResource extends Resource {
  /** Last part of the address: `<parent>/<id>/<segment>/`. */
  segment: string;
  parent: (record: Readonly<StoredRecord>) => { kind: string; rid: number };
  /** Only users who may change the parent may read its history. */
  readers?: "changers";
  /** Texts for the reference. Without them, the sub-resource has routes of its own. */
  docs?: { list: string; add: string; body: string };
  /** Members of answers and bodies, where they are not the declared fields; `parse` and `print` convert them. */
  members?: Readonly<Record<string, Member>>;
  /** Values to store from a body; `before`: those stored so far. @throws Problem */
  parse?(body: JsonObject, context: SubResourceContext, before?: StoredRecord): StoredRecord;
  /** Members of an answer that come from declared fields. */
  print?(shown: JsonObject, stored: StoredRecord, context: ReadContext): JsonObject;
  /** Refuses to bring back values that the actor could not write. @throws Problem */
  checkRestore?(before: StoredRecord, after: StoredRecord, context: SubResourceContext): void;
  /** Checks a record against the others of its parent after an undo. @throws Problem conflict */
  verify?(record: StoredRecord, query: Query): void;
}

/** One member of answers and, unless it is never written, of bodies. */
export interface Member {
  schema: TSchema;
  doc: string;
  write: Field["write"];
  /** True if only a new record takes it. */
  fixed?: boolean;
}

/** Context of the rules of a write, within its transaction. */
export interface SubResourceContext extends ReadContext {
  parent: { resource: Resource; rid: number };
  /** True if the actor has a right on the parent. */
  allows(right: "change" | "delete"): boolean;
}

/** Columns that name the parent. */
const parentFields = {
  object_kind: text("Resource of the parent", { shown: "internal" }),
  object_rid: integer("Row of the parent", { shown: "internal" }),
};

type Declared = Pick<SubResource, "name" | "segment" | "summary" | "table" | "fields"> & Partial<SubResource>;

/** Completes the declaration of a sub-resource with the fields that all of them have. */
export const subResource = ({ fields, ...declared }: Declared): SubResource => ({
  model: `core.${declared.name}`,
  key: "id",
  shownAs: "id",
  nameFields: [],
  descriptionFields: [],
  defaultOrder: ["created"],
  parent: ({ object_kind, object_rid }) => ({ kind: String(object_kind), rid: Number(object_rid) }),
  ...declared,
  fields: { ...commonFields(), ...(declared.parent ? {} : parentFields), ...fields, ...deletionFields() },
});

export const isSubResource = (resource: Resource): resource is SubResource => resource.parent !== undefined;

/** Members of every answer after the record's own fields. */
export const RECORD_INFO = [
  "created",
  "created_by",
  "modified",
  "modified_by",
  "deleted",
  "deleted_date",
  "deleted_by",
  "version",
];

/** The members of answers and bodies. */
export const listMembers = (resources: Resources, resource: SubResource): Readonly<Record<string, Member>> =>
  resource.members ??
  Object.fromEntries(
    ownFields(resource).map((name) => {
      const { doc, write } = resource.fields[name];
      return [name, { schema: valueSchema(resources, resource, name, "flat"), doc, write }];
    }),
  );

/** The declared fields that answers show, in order. */
export const ownFields = (resource: SubResource): string[] =>
  Object.keys(resource.fields).filter(
    (name) => name !== "id" && !RECORD_INFO.includes(name) && resource.fields[name].shown !== "internal",
  );
