import { nearest } from "../../problem.ts";
import type { Actor } from "../../platform/actor.ts";
import {
  ANNOTATIONS,
  type AnnotationType,
  type OwnAnnotationTypes,
  type Resource,
  type Resources,
} from "./resource.ts";
import { quoted, shownName, type Stored } from "./field.ts";

/** The resource with the annotation types that the actor may view, by which parameters name annotations. */
export function withAnnotations(
  { annotationTypes: types }: Resources,
  resource: Resource,
  actor: Actor,
): Resource {
  if (!types || !("owned_by" in resource.fields)) return resource;
  const annotations: OwnAnnotationTypes = {
    find: (word) => types.find(resource, actor, word),
    used: () => types.used(resource, actor),
    offered: () => types.offered(resource, actor),
  };
  return { ...resource, annotations };
}

const PREFIX = `${ANNOTATIONS}__`;

/** All annotations in use, in `fields`. */
export const ALL_ANNOTATIONS = `${PREFIX}*`;

/** True if a name is `annotations__<type>`, optionally followed by further underscores and a lookup. */
export const isAnnotationName = (name: string): boolean => name.startsWith(PREFIX);

/** The name by which requests address the annotations of a type: its id if its name is no plain text, or that of several. */
export const annotationName = ({ id, name, unique }: AnnotationType): string =>
  PREFIX + (unique && !/,|^[-+]|__|^\s|\s$/.test(name) ? name : id);

export type NamedAnnotation =
  { type: AnnotationType; rest: string[] } | { error: string; isUnknown: boolean };

/** The type with the longest name that begins a path, and the rest of the path; or the error. */
export function findAnnotation(resource: Resource, name: string): NamedAnnotation {
  if (!resource.annotations) return { error: "Annotations cannot be used here.", isUnknown: false };
  const words = name.slice(PREFIX.length).split("__");
  for (let n = words.length; n > 0; n--) {
    const found = resource.annotations.find(words.slice(0, n).join("__"));
    if (found.length > 1) return { error: ambiguousTypes(found), isUnknown: false };
    if (found.length === 1) return { type: found[0], rest: words.slice(n) };
  }
  return { error: unknownAnnotation(resource, words), isUnknown: true };
}

/** The error for a name that no type has, with similar names. */
function unknownAnnotation(resource: Resource, words: readonly string[]): string {
  const names = [...new Set(resource.annotations?.offered().map(({ name }) => name))];
  const near = [...new Set([...nearest(words.join("__"), names), ...nearest(words[0], names)])].slice(0, 3);
  const hint = near.length > 0 ? ` Did you mean ${near.map((each) => PREFIX + each).join(" or ")}?` : "";
  const typed = words.join("__");
  return `${quoted(typed) === "The given text" ? shownName(typed) : quoted(typed)} is not an annotation of ${resource.name} records.${hint}`;
}

const ambiguousTypes = (types: readonly AnnotationType[]): string =>
  `Several types have this name. Give the id of one: ${types.map(candidate).join("; ")}.`;

type Candidate = Readonly<Record<"id" | "kind" | "label" | "model_name" | "model_type", Stored>>;

/** A type, told from others of the same name. */
export const candidate = ({ id, kind, label, model_name, model_type }: Candidate): string => {
  const what = kind === "annotation" ? "annotation type" : "custom property type";
  const records = model_name === "" ? "" : ` of ${[model_name, model_type].filter(Boolean).join(" ")}`;
  return `${String(id)} (${what}${records}, labelled ${shownName(String(label))})`;
};

/**
 * Fields of annotation values by kinds of values; fields of references are named by the resource that they refer to.
 */
const FIELDS: Readonly<Record<string, string>> = {
  NUMBER: "number",
  NUMBERUNIT: "number",
  DATE: "day",
  BOOLEAN: "flag",
  JSON: "json",
  DMAPPANNOTATION: "json",
  VOCABULARYTERM: "term",
  USER: "user",
};

/** The field of annotation values that holds the values of a type. */
export function valueField(
  resources: Resources,
  { type, choices_target = "" }: Pick<AnnotationType, "type"> & Partial<AnnotationType>,
): string {
  if (type !== "OBJECT") return FIELDS[type] ?? "text";
  const [target] = choices_target.split("?");
  const found = [...resources.values()].find(
    ({ segment, aliases }) => segment !== null && (segment === target || aliases?.includes(target)),
  );
  return found && found.name in resources.annotationValue!.fields ? found.name : "record";
}

/** True if filters reach the values. By default, texts of amounts cannot be searched; their numbers are compared. */
export const isSearchable = ({ searchable, type }: AnnotationType): boolean =>
  searchable || type === "NUMBERUNIT";

/** The path from a value to what follows the type in a name; an amount has a unit, too. */
export const valuePath = (resources: Resources, type: AnnotationType, rest: readonly string[]): string[] =>
  type.type === "NUMBERUNIT" && rest[0] === "unit" ? [...rest] : [valueField(resources, type), ...rest];

/** The path from a record, for orders and counts; its second word is the row number of the type. */
export const annotationPath = (
  resources: Resources,
  type: AnnotationType,
  rest: readonly string[],
): string[] => [ANNOTATIONS, String(type.rid), ...valuePath(resources, type, rest)];
