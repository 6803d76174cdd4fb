import { type TSchema, Type } from "typebox";
import { type Field } from "./field.ts";
import { searchFilters } from "./filter.ts";
import { LIST_PARAMETERS } from "./listing.ts";
import { LOOKUPS, OPERATORS } from "./operator.ts";
import { COMMON, fieldAt, isGuarded, type Resources } from "./resource.ts";
import { perResource } from "./schema.ts";

/** Parameters of lists for OpenAPI 3.1. */

export interface Parameter {
  /** Name of the component, if operations share it. */
  $id?: string;
  name: string;
  in: "query" | "header" | "path";
  required: boolean;
  description: string;
  schema: TSchema;
  style?: string;
  explode?: boolean;
}

/** An optional parameter in the query. */
export const inQuery = (name: string, description: string, schema: TSchema = Type.String()): Parameter => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

/** A parameter that every list knows. */
export const listParameter = (name: string): Parameter => {
  const { doc, schema } = LIST_PARAMETERS[name];
  return { $id: name, ...inQuery(name, doc, schema) };
};

/** The parameters of a list. */
export const listParameters = perResource<readonly Parameter[]>((resources, resource) => {
  const search = searchFilters(resource);
  const taken = new Set([...Object.keys(LIST_PARAMETERS), ...search.map(({ name }) => name)]);
  const fields = Object.entries(resource.fields).filter(
    ([name, { kind, listOf }]) =>
      !taken.has(name) && (listOf !== undefined || (kind !== "json" && fieldAt(resources, resource, [name]))),
  );
  const isShared = (name: string): boolean =>
    COMMON.has(name) && isGuarded(resource) && !(name === "id" && resource.fields.id.kind !== "uuid");
  const makeListParameter = (name: string, doc: string, schema?: TSchema): Parameter => ({
    $id: isShared(name) ? `filter_${name}` : `${resource.name}.${name}`,
    ...inQuery(name, doc, schema),
  });
  return [
    ...Object.keys(LIST_PARAMETERS).map(listParameter),
    ...search.map(({ name, paths, doc }) =>
      Object.assign(inQuery(name, doc), { $id: ["filter", name, ...paths].join(".") }),
    ),
    ...fields.map(([name, field]) =>
      makeListParameter(name, filterDoc(resources, field), filterSchema(field)),
    ),
    ...Object.entries(resource.filters ?? {})
      .filter(([name]) => !taken.has(name) && !Object.hasOwn(resource.fields, name))
      .map(([name, path]) => makeListParameter(name, `Another name of \`${path}\`.`)),
    OTHER_FILTERS,
  ];
});

/** Values that the exact filter of a field compares with. */
function filterSchema({ kind, listOf }: Field): TSchema {
  if (kind === "reference" || kind === "uuid" || listOf !== undefined) return Type.Array(Type.String());
  if (kind === "flag") return Type.Boolean();
  if (kind === "integer") return Type.Integer();
  return kind === "number" ? Type.Number() : Type.String();
}

/** The description of the exact filter of a field. */
export function filterDoc(resources: Resources, field: Field): string {
  const several = "several are ORed.";
  if (field.kind === "uuid") return `Equals; ${several} ${field.doc}`;
  const to = field.to ?? field.listOf;
  if (to === undefined) return `Equals. ${field.doc}`;
  const far = resources.get(to)!;
  const absent = field.nullable ? " `null` finds records without one." : "";
  return `Equals, by id or ${far.key}; ${several}${absent} ${field.doc}`;
}

/** The suffixes that every filter on one field may have. */
const LOOKUP_NOTE = `Every field filter may span references (\`<reference>__<field>\`) and end in a lookup: ${[
  ...LOOKUPS,
]
  .map(([lookup, name]) => `\`__${lookup}\` ${OPERATORS[name].sentence}`)
  .join(
    "; ",
  )}; \`__in\` equals one of the values, separated by commas; \`__isnull\` true or false. \`<model>_id\`, such as \`project_id\`, follows references to a record of the model. \`annotations__<type>\`, with the name or the id of an annotation type or custom property type, filters by annotations in the same way; bodies and counts of values name annotations so, too.`;

/** Filters whose names are made of fields and lookups. */
export const OTHER_FILTERS: Parameter = {
  $id: "other_filters",
  ...inQuery("other_filters", LOOKUP_NOTE, Type.Object({}, { additionalProperties: Type.String() })),
  style: "form",
  explode: true,
};
