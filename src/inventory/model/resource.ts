import type { Actor } from "../../platform/actor.ts";
import {
  computed,
  type Field,
  type FieldForm,
  flag,
  instant,
  integer,
  isComparable,
  type Json,
  reference,
  type Stored,
  text,
  uuid,
} from "./field.ts";
import type { Condition } from "./condition.ts";
import type { Query } from "./operator.ts";
import { Type } from "typebox";
import { nullable } from "../../platform/schema.ts";

/** Path of the REST API, below which the segments of resources are. */
export const API_ROOT = "/api/v2/";

/**
 * A resource, declared once. Its routes, parameters, SQL, validation, reference and metadata follow from the
 * declaration. Peculiarities of one resource are computed fields or `rules`, not new members.
 */
export interface Resource {
  /** Singular noun, by which references name it. */
  name: string;
  /** Path below `API_ROOT`, such as vocabularies/terms; null if it is only reached through references. */
  segment: string | null;
  /** Further paths of the list, which clients expect. */
  aliases?: readonly string[];
  /** True if the resource serves clients of LabID and nothing else of labd: pages link its list only from saved views. */
  forClients?: true;
  /** Application and model, such as stocks.place, as nested answers show them. */
  model: string;
  /** One sentence for the reference. */
  summary: string;
  table: string;
  /** Column values that select the rows of this resource in a shared table. */
  where?: Readonly<Record<string, string>>;
  /** Field by which people name a record: references in bodies and filters may use it instead of the id. */
  key: string;
  /** The field that a referring record shows. */
  shownAs: "id" | "key";
  /** Differences of the rights on its records from those on other records with owners. */
  access?: Access;
  /** For a sub-resource, such as a note: the resource and the row of the parent record. */
  parent?: (record: Readonly<Record<string, Stored>>) => { kind: string; rid: number };
  /** Fields in the order in which a record shows them. */
  fields: Readonly<Record<string, Field>>;
  /** Fields (or spans) that the filters `name` and `query` search. */
  nameFields: readonly string[];
  /** Fields (or spans) that the filter `search` searches, which clients of sub-resources use. */
  searchFields?: readonly string[];
  /** Fields (or spans) that the filter `description` searches. */
  descriptionFields: readonly string[];
  /** Further names of filters, and the paths that they compare. */
  filters?: Readonly<Record<string, string>>;
  /** Default ordering, followed by the id. */
  defaultOrder: readonly string[];
  /**
   * Rules on write. Receives the record to be stored, which it may change, the names of the given fields, and the
   * record before (undefined for a new one). Returns errors by field.
   */
  rules?: (
    record: Record<string, Stored>,
    given: ReadonlySet<string>,
    previous: Readonly<Record<string, Stored>> | undefined,
    context: ReadContext,
  ) => Record<string, string>;
  /** Rules that depend on other records. `previous`: undefined for a new or restored record. Returns errors by field. */
  check?: (
    record: Readonly<Record<string, Stored>>,
    previous: Readonly<Record<string, Stored>> | undefined,
    context: ReadContext,
  ) => Record<string, string>;
  /** Annotation types that a list request of this caller may name. */
  annotations?: OwnAnnotationTypes;
  /** Prints one value for one caller, in answers and in the history. */
  printValue?(name: string, value: Json, context: ReadContext): Json;
}

export interface Access {
  /** Records that a signed-in caller may change where nobody owns records. */
  changeable?: (user: number) => Condition;
  /** True if a caller may neither view a field nor compare or order by it. */
  isHidden?: (field: string, actor: Actor) => boolean;
  /** Members of the owning group may view a record only if they were granted the right. */
  isPrivate?: true;
}

/** An annotation type or custom property type: a column of the lists whose records have values of it. */
export interface AnnotationType {
  rid: number;
  id: string;
  name: string;
  label: string;
  help_text: string;
  /** Kind of value, such as NUMBERUNIT. */
  type: string;
  multiple: boolean;
  readonly: boolean;
  searchable: boolean;
  sortable: boolean;
  list_visibility: string;
  value_choices: string | null;
  choices_target: string;
  cv_category: string | null;
  unit_category: string | null;
  /** Row of `field_type` is one of custom properties. */
  kind: string;
  model_name: string;
  model_type: string;
  /** True if records of the list have values of it. */
  used: boolean;
  /** True if no other type that applies has the name. */
  unique: boolean;
}

/** Finds the types that a caller may view. */
export interface AnnotationTypes {
  /** Types of this id or name that apply to records of the resource. */
  find(resource: Resource, actor: Actor, word: string): readonly AnnotationType[];
  /** Types of which records of the resource have values, by name. */
  used(resource: Resource, actor: Actor): readonly AnnotationType[];
  /** Types that lists of the resource offer as columns: types in use, and others that apply to the resource. */
  offered(resource: Resource, actor: Actor): readonly AnnotationType[];
}

/** The types of one resource that one caller may view. */
export interface OwnAnnotationTypes {
  /** Types of which records of the list have values. */
  used(): readonly AnnotationType[];
  find(word: string): readonly AnnotationType[];
  offered(): readonly AnnotationType[];
}

/** Caller on whose behalf records are read. */
export interface Viewer {
  resources: Resources;
  actor: Actor;
}

/** A viewer with the query that reads the records. */
export interface ReadContext extends Viewer {
  query: Query;
}

/** All resources by name. */
export type Resources = ReadonlyMap<string, Resource> & {
  /** The values of annotations, which conditions and orders of all lists reach. */
  readonly annotationValue?: Resource;
  /** The annotation types in the database. */
  readonly annotationTypes?: AnnotationTypes;
};

/** The resource that a reference field points to. */
export function findTarget(resources: Resources, field: Field): Resource {
  const found = resources.get(field.to ?? "");
  if (!found) throw new Error(`no resource ${field.to}`);
  return found;
}

/** Column to which the columns of references refer: values of annotations contain ids, other rows row numbers. */
export const referenceKey = (resources: Resources, resource: Resource): "id" | "rid" =>
  resource === resources.annotationValue ? "id" : "rid";

/** Column of a field, without alias. */
export const columnName = (resource: Resource, name: string): string => resource.fields[name].column ?? name;

/** To-many relation from a record to its notes. */
export const NOTES = "notes";

/** To-many relation from a record to the values of its annotations; the first word of paths to them. */
export const ANNOTATIONS = "annotations";

/** To-many relation from a record to the members of its owning group. */
export const MEMBERS = "members";

/** A list of names in a record, which filters treat as a relation. */
export const MANDATORY_OWNED_BY = "mandatory_owned_by";

/** The field of a to-many relation that filters compare. */
export const RELATED_TEXT: Readonly<Record<string, Field>> = {
  [NOTES]: text("Text of a note.", { shown: "extra" }),
  [MEMBERS]: text("Username of a member.", { shown: "extra" }),
  [MANDATORY_OWNED_BY]: text("Name of a group.", { shown: "extra" }),
};

/** True if a path leads to texts of a to-many relation. */
export const isRelatedPath = (resource: Resource, path: readonly string[]): boolean =>
  path.length === 2 &&
  ((isGuarded(resource) && path[0] === NOTES && path[1] === "content") ||
    (isGuarded(resource) && path[0] === MEMBERS && path[1] === "username") ||
    (MANDATORY_OWNED_BY in resource.fields && path[0] === MANDATORY_OWNED_BY && path[1] === "name"));

/** True if records have owners and rights, unlike users and groups. */
export const isGuarded = (resource: Resource): boolean => "owned_by" in resource.fields;

/** Names of the fields that a record shows by default. */
export const shownFields = (resource: Resource): string[] =>
  Object.keys(resource.fields).filter((name) => resource.fields[name].shown === "always");

/** Names in a path. Locations refer to locations, so paths could be endless. */
const PATH_LIMIT = 6;

/** The field at the end of a path of references; undefined if a name is unknown or internal. */
export function fieldAt(
  resources: Resources,
  resource: Resource,
  path: readonly string[],
): Field | undefined {
  if (path[0] === ANNOTATIONS && resources.annotationValue && isGuarded(resource))
    return fieldAt(resources, resources.annotationValue, path.slice(2));
  if (path.length > PATH_LIMIT) return undefined;
  let here = resource;
  for (const [i, name] of path.entries()) {
    const field = Object.hasOwn(here.fields, name) ? here.fields[name] : undefined;
    if (!field || !isComparable(field)) return undefined;
    if (i === path.length - 1) return field;
    if (field.kind !== "reference") return undefined;
    here = findTarget(resources, field);
  }
  return undefined;
}

/** Computed: the name of a record among all that the caller may view; shown only where it is named, as it takes time. */
export const UNIQUE_PATH = "unique_path";

/** Computed fields that are shown only where they are named. */
export const SHOWN_IF_NAMED: ReadonlySet<string> = new Set([UNIQUE_PATH, "free_slots"]);

/** The resource whose unique path a name ends with, such as `location__unique_path`; undefined for other names. */
export function findUniquePath(
  resources: Resources,
  resource: Resource,
  path: readonly string[],
): Resource | undefined {
  const end = path[path.length - 1];
  if (end !== UNIQUE_PATH) return undefined;
  const before = path.slice(0, -1);
  const last = before.length === 0 ? undefined : fieldAt(resources, resource, before);
  const far =
    before.length === 0 ? resource : last?.kind === "reference" ? findTarget(resources, last) : undefined;
  return far && end in far.fields ? far : undefined;
}

/** A path that leads to a list of records in a record, and on from there. */
export interface ListPath {
  /** References that lead to the record with the list. */
  at: readonly string[];
  relation: string;
  field: Field;
  target: Resource;
  rest: readonly string[];
}

/** A path that leads over references to a list of records, and on to a field of them; by default to their ids. */
export function listPath(
  resources: Resources,
  resource: Resource,
  path: readonly string[],
): ListPath | undefined {
  let here = resource;
  for (const [i, name] of path.entries()) {
    const field = Object.hasOwn(here.fields, name) ? here.fields[name] : undefined;
    if (field?.listOf !== undefined) {
      const target = resources.get(field.listOf)!;
      const rest = path.slice(i + 1);
      const known =
        rest.length === 0 || fieldAt(resources, target, rest) || listPath(resources, target, rest);
      return known ? { at: path.slice(0, i), relation: name, field, target, rest } : undefined;
    }
    if (field?.kind !== "reference") return undefined;
    here = findTarget(resources, field);
  }
  return undefined;
}

/**
 * The shortest path over references and lists to records of a model such as `study`, by which LabID's client filters;
 * undefined if there is none or several are as short.
 */
export function pathToModel(
  resources: Resources,
  resource: Resource,
  model: string,
): readonly string[] | undefined {
  const isMeant = (of: Resource): boolean => of.model.endsWith(`.${model}`);
  if (isMeant(resource)) return ["id"];
  const seen = new Set([resource]);
  let nearest: { at: Resource; path: readonly string[] }[] = [{ at: resource, path: [] }];
  while (nearest.length > 0 && nearest[0].path.length < PATH_LIMIT - 1) {
    const next = nearest.flatMap(({ at, path }) =>
      Object.entries(at.fields).flatMap(([name, { to, listOf }]) => {
        const target = resources.get(to ?? listOf ?? "");
        return target && isGuarded(target) ? [{ at: target, path: [...path, name] }] : [];
      }),
    );
    const found = next.filter(({ at }) => isMeant(at));
    if (found.length > 0) return found.length === 1 ? found[0].path : undefined;
    nearest = next.filter(({ at }) => !seen.has(at));
    for (const { at } of nearest) seen.add(at);
  }
  return undefined;
}

/** Names for filters and orderings, including spans over one reference. */
export function pathNames(resources: Resources, resource: Resource): string[] {
  const usable = (of: Resource) => Object.entries(of.fields).filter(([, field]) => isComparable(field));
  const names: string[] = [];
  for (const [name, field] of usable(resource)) {
    names.push(name);
    if (field.kind !== "reference") continue;
    for (const [inner] of usable(findTarget(resources, field))) names.push(`${name}__${inner}`);
  }
  return names;
}

/** The row number, by which rows refer to each other; internal. */
export const rowNumber = (): Field =>
  integer("Row number", { column: "rid", shown: "internal", write: "never" });

/** Fields that pages show among the details of a record, or that they do not show with its other fields. */
export const DETAILS_FORM: { form: FieldForm } = { form: { shownIn: "details" } };
const HIDDEN_FORM: { form: FieldForm } = { form: { shownIn: "none" } };

/** The first fields of every resource. */
export const commonFields = (): Record<string, Field> => ({
  rid: rowNumber(),
  id: uuid("UUID of the record.", DETAILS_FORM),
  created_by: reference("user", "Username of the creator.", {
    write: "never",
    nullable: false,
    ...DETAILS_FORM,
  }),
  modified_by: reference("user", "Username of the last modifier.", {
    write: "never",
    nullable: false,
    ...DETAILS_FORM,
  }),
  created: instant("When the record was created.", DETAILS_FORM),
  modified: instant("When the record was last changed.", DETAILS_FORM),
});

type Shown = { shown: "always" | "extra" };

/** The unique name of a place of storage; null in the past. */
export const uniquePathField = (): Record<string, Field> => ({
  [UNIQUE_PATH]: computed(
    "The shortest path that no other record that the caller may view has, such as `Rack A › Box 1`; shown if it is named in `fields`, also of references (`location__unique_path`).",
    { shown: "extra", shape: nullable(Type.String()), compute: () => null },
  ),
});

/** The number of free slots of a location, by an expression of SQL. */
export const freeSlotsField = (select: string): Record<string, Field> => ({
  free_slots: computed("Free slots, without those of locations inside; shown if it is named in `fields`.", {
    shown: "extra",
    shape: nullable(Type.Integer()),
    select,
    compute: ({ free_slots }) => free_slots as number | null,
  }),
});

/** The field that makes a record visible to everyone. */
export const publicField = (options: Shown): Field =>
  flag("Whether everyone may view the record.", false, {
    form: {
      label: "Public",
      hint: "Everyone can view the record, also without signing in.",
      shownIn: "access",
    },
    ...options,
  });

/** The owners of a record. */
export const ownerFields = (options: Shown): Record<string, Field> => ({
  owner: reference("user", "Username of the owner; by default the creator.", {
    nullable: false,
    synonyms: "responsible,responsible person,belongs to,contact,person,user",
    form: { shownIn: "access", administrators: true, copied: false, summary: true },
    ...options,
  }),
  owned_by: reference(
    "group",
    "Name of the owning group, whose members may view the record; by default the creator's primary group.",
    {
      nullable: false,
      form: {
        label: "Group",
        hint: "Group whose members can view the record; by default your primary group.",
        shownIn: "access",
        copied: false,
      },
      ...options,
    },
  ),
});

/** Deletion and version; shown on request. */
export const deletionFields = (): Record<string, Field> => ({
  deleted: flag("Whether the record is deleted.", false, { shown: "extra", write: "never", ...HIDDEN_FORM }),
  deleted_date: instant("When the record was deleted.", { shown: "extra", nullable: true, ...HIDDEN_FORM }),
  deleted_by: reference("user", "Username of the user who deleted the record.", {
    shown: "extra",
    write: "never",
    ...HIDDEN_FORM,
  }),
  version: integer("Version of the record; increases with every write.", {
    shown: "extra",
    write: "never",
    initial: 1,
    ...DETAILS_FORM,
  }),
});

/** The address of a record, with the format of the request or else `otherwise`. */
export const urlField = (segment: string, otherwise = ""): Field =>
  computed("Address of the record.", {
    ...HIDDEN_FORM,
    from: ["id"],
    shape: Type.String(),
    compute({ id }, { base, format = otherwise }) {
      return `${base}${segment}/${String(id)}/${format === "" ? "" : `?format=${format}`}`;
    },
  });

/** Names of the fields that all records with owners have. */
export const COMMON: ReadonlySet<string> = new Set([
  ...Object.keys({ ...commonFields(), ...ownerFields({ shown: "always" }), ...deletionFields() }),
  "public",
]);

/** The rights of the caller on a record. */
export const permissionsField = (options: Shown): Field =>
  computed("Whether the record is public, and whether the caller may change or delete it, or use stock.", {
    ...HIDDEN_FORM,
    ...options,
    needsRights: true,
    from: ["public"],
    shape: Type.Object({
      public: Type.Boolean(),
      actions: Type.Partial(
        Type.Object({ change: Type.Boolean(), delete: Type.Boolean(), use: Type.Boolean() }),
      ),
    }),
    compute: (record, { rights }) => ({
      public: record.public === 1,
      actions: rights.change || rights.delete || rights.use ? rights : {},
    }),
  });

/** The name of a record, which every record must have. */
export const nameField = (doc: string, options: Partial<Field> = {}): Field =>
  text(doc, { write: "required", blank: false, folded: "name_fold", synonyms: NAME_SYNONYMS, ...options });

const DESCRIPTION_SYNONYMS = "what is it,what,details,info,information";
const NAME_SYNONYMS =
  "tube label,tube name,label,title,item name,item,product name,reagent name,reagent,sample name,sample,specimen,antibody,primer,oligo,tube,sample id";

type Declared = Pick<Resource, "name" | "segment" | "model" | "summary" | "table" | "fields"> &
  Partial<Resource> & {
    /** Visibility of owner, group and `public` in records. */
    showsAccess?: "always" | "extra";
  };

/** Pages show the description of a record below its name, and lists only if there is room. */
export const SHOWN_IN_HEAD: { form: FieldForm } = { form: { shownIn: "head" } };

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
    ...(fields.description
      ? { description: { ...fields.description, synonyms: DESCRIPTION_SYNONYMS, ...SHOWN_IN_HEAD } }
      : {}),
    public: publicField({ shown: showsAccess }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: showsAccess }),
    ...deletionFields(),
  },
});
