import { computed, type Field, flag, instant, integer, reference, type Stored, text, uuid } from "./field.ts";
import { Type } from "typebox";

/**
 * A resource, declared once. Its address, parameters, SQL, validation, reference pages and metadata are made from this
 * by the other files of this folder. These are all the words there are; what is odd about one resource is a computed
 * field or `before`, not a new word.
 */
export interface Resource {
  /** Singular noun: what other resources' references name. */
  name: string;
  /** Address below /api/v2/, such as vocabularies/terms; null where it is only reached through references. */
  segment: string | null;
  /** Further addresses at which clients expect it. */
  aliases?: readonly string[];
  /** Application and model, such as stocks.place, as references in nested answers tell them. */
  model: string;
  /** One sentence for the reference. */
  summary: string;
  table: string;
  /** Column values that tell the rows of this resource from others in the same table. */
  where?: Readonly<Record<string, string>>;
  /** Field by which people name a record: references in bodies and filters may use it instead of the id. */
  key: string;
  /** What stands in a record that refers to this one. */
  shownAs: "id" | "key";
  /** Whether its records are accounts, each of which may change its own. */
  selfEditable?: true;
  /** Whether a record is its owner's own: the owning group sees it only where it was given the right. */
  privateToOwner?: true;
  /** Of a part of another record, such as a note: the resource and the row of that record. */
  parent?: (record: Readonly<Record<string, Stored>>) => { kind: string; rid: number };
  /** In the order in which a record shows them. */
  fields: Readonly<Record<string, Field>>;
  /** Fields (or spans) that the filters `name` and `query` search. */
  nameFields: readonly string[];
  /** Fields (or spans) that the filter `description` searches. */
  descriptionFields: readonly string[];
  /** Ordering where none is asked for. The id follows by itself. */
  defaultOrder: readonly string[];
  /**
   * The rules on write. Gets the whole record as it would be stored, the names of the fields that the body gave, and
   * the record as it was (undefined for a new one); may change the record; returns what is wrong, by field.
   */
  rules?: (
    record: Record<string, Stored>,
    given: ReadonlySet<string>,
    previous: Readonly<Record<string, Stored>> | undefined,
  ) => Record<string, string>;
}

/** All resources by name. */
export type Resources = ReadonlyMap<string, Resource>;

/** The resource that a reference field points to. */
export function targetOf(resources: Resources, field: Field): Resource {
  const found = resources.get(field.to ?? "");
  if (!found) throw new Error(`no resource ${field.to}`);
  return found;
}

/** Column of a field, without alias. */
export const columnOf = (resource: Resource, name: string): string => resource.fields[name].column ?? name;

/** To-many relation from a record to the notes on it. */
export const NOTES = "notes";

/** Names in a list that a record holds, which filters reach as a relation. */
export const MANDATORY_OWNED_BY = "mandatory_owned_by";

/** What a filter names of a to-many relation. */
export const RELATED_TEXT: Readonly<Record<string, Field>> = {
  [NOTES]: text("Text of a note.", { shown: "extra" }),
  [MANDATORY_OWNED_BY]: text("Name of a group.", { shown: "extra" }),
};

/** Whether a path of names leads to texts of a to-many relation: notes on a record, names in a list of it. */
export const isRelatedPath = (resource: Resource, path: readonly string[]): boolean =>
  path.length === 2 &&
  ((isGuarded(resource) && path[0] === NOTES && path[1] === "content") ||
    (MANDATORY_OWNED_BY in resource.fields && path[0] === MANDATORY_OWNED_BY && path[1] === "name"));

/** Whether records have owners and rights; users and groups have not. */
export const isGuarded = (resource: Resource): boolean => "owned_by" in resource.fields;

/** Names of the fields that a record shows when none are asked for. */
export const shownFields = (resource: Resource): string[] =>
  Object.keys(resource.fields).filter((name) => resource.fields[name].shown === "always");

/** Names in a path. Locations lie in locations, so that paths have no end of their own. */
const PATH_LIMIT = 6;

/** The field at the end of a path of names over references; undefined where a name is unknown or internal. */
export function fieldAt(
  resources: Resources,
  resource: Resource,
  path: readonly string[],
): Field | undefined {
  if (path.length > PATH_LIMIT) return undefined;
  let here = resource;
  for (const [i, name] of path.entries()) {
    const field = Object.hasOwn(here.fields, name) ? here.fields[name] : undefined;
    if (!field || field.shown === "internal" || field.kind === "computed") return undefined;
    if (i === path.length - 1) return field;
    if (field.kind !== "reference") return undefined;
    here = targetOf(resources, field);
  }
  return undefined;
}

/** Names that a client may use in a filter or an ordering, spans over one reference among them. */
export function pathNames(resources: Resources, resource: Resource): string[] {
  const usable = (of: Resource) =>
    Object.entries(of.fields).filter(([, field]) => field.shown !== "internal" && field.kind !== "computed");
  const names: string[] = [];
  for (const [name, field] of usable(resource)) {
    names.push(name);
    if (field.kind !== "reference") continue;
    for (const [inner] of usable(targetOf(resources, field))) names.push(`${name}__${inner}`);
  }
  return names;
}

/** The row number, by which rows refer to each other. Never shown. */
export const rowNumber = (): Field =>
  integer("Row number", { column: "rid", shown: "internal", write: "never" });

/** The fields that records of every resource begin with. */
export const commonFields = (): Record<string, Field> => ({
  rid: rowNumber(),
  id: uuid("Identifier of the record, a UUID."),
  created_by: reference("user", "Username of the creator.", { write: "never", nullable: false }),
  modified_by: reference("user", "Username of the last modifier.", { write: "never", nullable: false }),
  created: instant("When the record was created."),
  modified: instant("When the record was last changed."),
});

type Shown = { shown: "always" | "extra" };

/** Whether everyone may view a record. */
export const publicField = (options: Shown): Field =>
  flag("Whether everyone may view the record.", false, options);

/** The owners of a record. */
export const ownerFields = (options: Shown): Record<string, Field> => ({
  owner: reference("user", "Username of the owner; by default the creator.", { nullable: false, ...options }),
  owned_by: reference(
    "group",
    "Name of the owning group, whose members may view the record; by default the creator's primary group.",
    { nullable: false, ...options },
  ),
});

/** The life of a record. Given only where asked for. */
export const deletionFields = (): Record<string, Field> => ({
  deleted: flag("Whether the record is deleted.", false, { shown: "extra", write: "never" }),
  deleted_date: instant("When the record was deleted.", { shown: "extra", nullable: true }),
  deleted_by: reference("user", "Username of the user who deleted it.", { shown: "extra", write: "never" }),
  version: integer("Version of the record; increases with every write.", {
    shown: "extra",
    write: "never",
    initial: 1,
  }),
});

/** What the caller may do with a record. */
export const permissionsField = (options: Shown): Field =>
  computed("Whether the record is public, and whether the caller may change or delete it.", {
    ...options,
    from: ["public"],
    shape: Type.Object({
      public: Type.Boolean(),
      actions: Type.Object({ change: Type.Optional(Type.Boolean()), delete: Type.Optional(Type.Boolean()) }),
    }),
    compute: (record, { rights }) => ({
      public: record.public === 1,
      actions: rights.change || rights.delete ? { change: rights.change, delete: rights.delete } : {},
    }),
  });

/** The name of a record, which every record must have. */
export const nameField = (doc: string, options: Partial<Field> = {}): Field =>
  text(doc, { write: "required", blank: false, folded: "name_fold", ...options });

type Declared = Pick<Resource, "name" | "segment" | "model" | "summary" | "table" | "fields"> &
  Partial<Resource> & {
    /** Whether records show who owns them and whether they are public. */
    showsAccess?: "always" | "extra";
  };

/** Completes the declaration of a resource whose records have a name, owners and a life cycle. */
export const ownedResource = ({ fields, showsAccess = "always", ...declared }: Declared): Resource => ({
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  ...declared,
  fields: {
    ...commonFields(),
    ...fields,
    public: publicField({ shown: showsAccess }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: showsAccess }),
    ...deletionFields(),
  },
});
