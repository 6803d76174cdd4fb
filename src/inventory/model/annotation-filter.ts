import { and, compare, type Condition, not, or, some } from "./condition.ts";
import {
  annotationPath,
  findAnnotation,
  isAnnotationName,
  isSearchable,
  valuePath,
} from "./annotation-type.ts";
import {
  type AnnotationType,
  ANNOTATIONS,
  fieldAt,
  isGuarded,
  type Resource,
  type Resources,
} from "./resource.ts";
import { KINDS, quoted, shownName } from "./field.ts";
import {
  anyEqual,
  type Budget,
  joined,
  parseComparison,
  type ParsedFilter,
  parseParameter,
  parsePath,
} from "./filter.ts";
import { LOOKUPS, OPERATORS, type OperatorName } from "./operator.ts";
/** Filters, orderings and counts of lists: those of filter.ts, and those of annotations, `annotations__<type>`. */

/** True if a name of a request means annotations. */
export const namesAnnotation = (resource: Resource, name: string): boolean =>
  isAnnotationName(name) && isGuarded(resource);

/** Like `parseParameter`, also for annotations. */
export const parseListParameter: typeof parseParameter = (resources, resource, name, values, budget) =>
  (namesAnnotation(resource, name) ? annotationParameter : parseParameter)(
    resources,
    resource,
    name,
    values,
    budget,
  );

/** Like `parsePath`, also for annotations. */
export const parseListPath = (
  resources: Resources,
  resource: Resource,
  typed: string,
  purpose: "order" | "count",
): ReturnType<typeof parsePath> =>
  namesAnnotation(resource, typed)
    ? annotationValuePath(resources, resource, typed, purpose)
    : parsePath(resources, resource, typed);

/** Parses `annotations__<type>`, with all that may follow a field; undefined if there is no such type. */
function annotationParameter(
  resources: Resources,
  resource: Resource,
  name: string,
  values: readonly string[],
  budget: Budget,
): ParsedFilter | undefined {
  const named = findAnnotation(resource, name);
  if ("error" in named) return named.isUnknown ? undefined : named;
  const { type, rest } = named;
  if (!isSearchable(type)) return { error: NOT_SEARCHABLE_MESSAGE };
  const lookup = rest.join("__");
  if (lookup === "isnull")
    return anyEqual(values, budget, (value) => {
      const wanted = KINDS.flag.parse(value);
      if (wanted === undefined) return { error: `Expected ${KINDS.flag.expected}.` };
      return { condition: wanted === 1 ? not(annotated(type)) : annotated(type) };
    });
  const parse = (values: readonly string[], rest: readonly string[]): ParsedFilter =>
    parseParameter(
      resources,
      resources.annotationValue!,
      valuePath(resources, type, rest).join("__"),
      values,
      budget,
    ) ?? {
      error: unknownLookup(lookup),
    };
  const isExact = lookup === "" || lookup === "exact";
  const parts = values
    .filter((value) => isExact && isAbsent(value))
    .map((): ParsedFilter => ({ condition: not(annotated(type)) }));
  const present = values.filter((value) => !isExact || !isAbsent(value));
  const amounts = rest.length < 2 ? present.map((value) => splitAmount(type, value)) : [];
  if (!amounts.some((amount) => amount)) {
    if (present.length > 0) parts.push(of(type, parse(present, rest)));
    return joined(or, parts);
  }
  for (const [i, amount] of amounts.entries())
    parts.push(
      of(
        type,
        amount
          ? joined(and, [parse([amount.value], rest), unitIs(resources, amount.unit)])
          : parse([present[i]], rest),
      ),
    );
  return joined(or, parts);
}

const NOT_SEARCHABLE_MESSAGE =
  "Values of this annotation type cannot be searched. Set searchable to true in the annotation type.";

const unknownLookup = (typed: string): string =>
  `${quoted(typed)} is neither a lookup nor a field of the value. Lookups: ${[...LOOKUPS.keys()].join(", ")}, in, isnull.`;

const isAbsent = (value: string): boolean => /^(null|none|)$/i.test(value);

/** Records that have an annotation of the type for whose value the condition holds. */
const annotated = ({ rid }: AnnotationType, condition: Condition = and()): Condition =>
  some(ANNOTATIONS, and(compare(["type"], "==", rid), condition));

const of = (type: AnnotationType, parsed: ParsedFilter): ParsedFilter =>
  "error" in parsed ? parsed : { condition: annotated(type, parsed.condition) };

/** `5 milligram`, compared with an amount. */
function splitAmount({ type }: AnnotationType, typed: string): { value: string; unit: string } | undefined {
  const [, value, unit] = type === "NUMBERUNIT" ? (/^\s*(\S+)\s+(\S.*?)\s*$/.exec(typed) ?? []) : [];
  return unit === undefined ? undefined : { value, unit };
}

const unitIs = (resources: Resources, unit: string): ParsedFilter =>
  parseComparison(resources, resources.annotationValue!, ["unit"], "==", unit);

/** The comparison of an advanced filter whose category is `annotations__<type>`. */
export function parseAnnotationComparison(
  resources: Resources,
  resource: Resource,
  category: string,
  operator: OperatorName,
  typed: string,
): ParsedFilter {
  const named = findAnnotation(resource, category);
  if ("error" in named) return named;
  const { type, rest } = named;
  if (!isSearchable(type)) return { error: NOT_SEARCHABLE_MESSAGE };
  const path = valuePath(resources, type, rest);
  if (!fieldAt(resources, resources.annotationValue!, path)) return { error: unknownLookup(rest.join("__")) };
  if (rest.length === 0 && OPERATORS[operator].lookup === "exact" && isAbsent(typed))
    return { condition: not(annotated(type)) };
  const amount = rest.length === 0 ? splitAmount(type, typed) : undefined;
  const parsed = parseComparison(
    resources,
    resources.annotationValue!,
    path,
    operator,
    amount?.value ?? typed,
  );
  return of(type, amount ? joined(and, [parsed, unitIs(resources, amount.unit)]) : parsed);
}

/** The path to the values of `annotations__<type>`, for an ordering or a count of values. */
function annotationValuePath(
  resources: Resources,
  resource: Resource,
  typed: string,
  purpose: "order" | "count",
): readonly string[] | { error: string } {
  const named = findAnnotation(resource, typed);
  if ("error" in named) return named;
  const { type, rest } = named;
  if (purpose === "order" && !type.sortable)
    return {
      error: `Lists cannot be sorted by annotations of the type ${shownName(type.name)}: its sortable is false.`,
    };
  if (purpose === "count" && !isSearchable(type)) return { error: NOT_SEARCHABLE_MESSAGE };
  const path = annotationPath(resources, type, rest);
  return fieldAt(resources, resource, path) ? path : { error: unknownLookup(rest.join("__")) };
}
