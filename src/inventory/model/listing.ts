import { type TSchema, Type } from "typebox";
import { Problem } from "../../problem.ts";
import { type Actor, changeable, deletable, ownedBy, shared, usable } from "./access.ts";
import { ALWAYS, and, compare, type Condition, mentions, not } from "./condition.ts";
import { ALL_ANNOTATIONS, annotationName, findAnnotation, withAnnotations } from "./annotation-type.ts";
import {
  type AnnotationType,
  ANNOTATIONS,
  fieldAt,
  listPath,
  findUniquePath,
  pathNames,
  type Resource,
  type Resources,
  findTarget,
  SHOWN_IF_NAMED,
} from "./resource.ts";
import { parseExpression } from "./expression.ts";
import { namesAnnotation, parseListParameter, parseListPath } from "./annotation-filter.ts";
import { unknownParameter } from "../../platform/declared-input.ts";
import { exceeded, type Limit } from "../../platform/limits.ts";
import { type Field, KINDS } from "./field.ts";
import { type Budget, parameterProblem, searchFilters, unknownName } from "./filter.ts";
import { LIMITS } from "./limits.ts";
import type { OrderTerm } from "./sql.ts";

/** spec: as the specification shows records; flat: all values plain; nested: every property an object. */
const SHAPES = ["spec", "flat", "nested"] as const;
/** plain: as flat, without objects around texts, for files and bodies. */
export type Shape = (typeof SHAPES)[number] | "plain";
/** True if a value is an object with name, value and category. The specification shows points in time so, and nothing else. */
export const isProperty = ({ kind, day }: Field, shape: Shape): boolean =>
  shape === "nested" || (shape === "spec" && kind === "instant" && !day);

/** api is HTML. */
const FORMATS = ["json", "api", "csv", "xlsx", "eln"] as const;
/** Formats of files, which have all pages of a list. */
export const FILE_FORMATS = ["csv", "xlsx", "eln"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];
export const isFileFormat = (format: string | undefined): format is FileFormat =>
  FILE_FORMATS.includes(format as FileFormat);

/** The representation of records in an answer. */
export interface Representation {
  /** Format; undefined leaves the choice to the Accept header. */
  format: (typeof FORMATS)[number] | undefined;
  shape: Shape;
  /** Names of the shown fields or spans; undefined means the default fields. */
  fields: readonly string[] | undefined;
  /** The annotation types of the fields that are annotations. */
  annotations?: ReadonlyMap<string, AnnotationType>;
}

/** A parsed request for a list. */
export interface Listing extends Representation {
  condition: Condition;
  order: readonly OrderTerm[];
  page: number | "last";
  size: number | "max";
  /** Unknown parameters and ordering terms that were ignored on request. */
  ignored: string[];
}

/** The first page of a list in the order of ids. */
export const FIRST_PAGE: Omit<Listing, "condition" | "size"> = {
  format: undefined,
  shape: "flat",
  fields: undefined,
  order: [],
  page: 1,
  ignored: [],
};

/** Default number of records on a page. */
export const DEFAULT_PAGE_SIZE = 50;

const NAMES = Type.Array(Type.String());
const FLAG = Type.Boolean();

/** Parameters that every list knows besides filters. */
export const LIST_PARAMETERS: Readonly<Record<string, { doc: string; schema: TSchema }>> = {
  format: {
    doc: "json, api (HTML), csv, xlsx or eln (an archive with notes, annotations, history and files); the last three return all pages, unless page or page_size is given. By default as `Accept` prefers.",
    schema: Type.Enum([...FORMATS]),
  },
  response_format: {
    doc: "flat: all values plain; nested: every property as {name, value, category}.",
    schema: Type.Enum(["flat", "nested"]),
  },
  fields: {
    doc: "Comma-separated names of the fields to return; `*` returns all, including hidden ones. `annotations__<type>` returns annotations, `annotations__*` those in use.",
    schema: NAMES,
  },
  page: {
    doc: "Page number from 1, or last.",
    schema: Type.Union([Type.Integer({ minimum: 1 }), Type.Enum(["last"])], { examples: [1] }),
  },
  page_size: {
    doc: `Records per page: ${DEFAULT_PAGE_SIZE} by default, at most ${LIMITS.rows.max}; max or all returns everything in one page.`,
    schema: Type.Union([Type.Integer({ minimum: 1, maximum: LIMITS.rows.max }), Type.Enum(["max", "all"])], {
      examples: [DEFAULT_PAGE_SIZE],
    }),
  },
  ordering: {
    doc: "Comma-separated fields to order by; a minus sign reverses, two underscores span a reference; `__natural` after a text, such as `name__natural`, puts 2 before 10; `annotations__<type>` orders by annotations.",
    schema: NAMES,
  },
  query_expression: {
    doc: 'Comma-separated objects {"category", "operator", "value"}, all of which must hold.',
    schema: Type.String(),
  },
  deleted: {
    doc: "true: deleted records only; false (default): others only; all: both.",
    schema: Type.Union([FLAG, Type.Enum(["all"])], { examples: [false] }),
  },
  can_change: { doc: "true: records that the caller may change; false: others.", schema: FLAG },
  can_delete: { doc: "true: records that the caller may delete; false: others.", schema: FLAG },
  can_use: {
    doc: "true: stock that the caller may use, or locations to put records into: all that are not only public; false: the remaining records.",
    schema: FLAG,
  },
  mine: { doc: "true: records that the caller owns; false: others.", schema: FLAG },
  shared_with_me: {
    doc: "true: records of others that the caller may view as a member of their group, or by a permission; false: others.",
    schema: FLAG,
  },
  as_of: {
    doc: "A time, or the id of a batch: the records at that time, limited to those that the caller may view today.",
    schema: Type.String(),
  },
  strict: {
    doc: "false: unknown parameters and ordering terms are ignored, and named in a Warning header; true (default): they are rejected.",
    schema: FLAG,
  },
  explain: {
    doc: "1: returns the parsed parameters, the SQL and its plan instead of records; requires credentials.",
    schema: Type.String(),
  },
};

/** List parameters whose values add up. */
const REPEATABLE = new Set(["fields", "ordering", "query_expression"]);

const CAN_VIEW = "can_view cannot be used as a filter: it is true for every record in a response.";

/** Fields about deletion: a request that mentions one does not mean living records only. */
const DELETION = ["deleted_by", "deleted_date"];

/**
 * Parses the parameters of a list, whose pages have at most `rows` records.
 * @throws Problem invalid_request (names the parameter), not_found (format, page), not_acceptable (can_view)
 */
export function parseListing(
  resources: Resources,
  declared: Resource,
  parameters: URLSearchParams,
  actor: Actor,
  rows: Limit = LIMITS.rows,
): Listing {
  const resource = withAnnotations(resources, declared, actor);
  const budget: Budget = { conditions: LIMITS.conditions.max };
  const conditions: Condition[] = [];
  const ignored: string[] = [];
  const lenient = flagParameter(parameters, "strict") === false;
  const representation = parseRepresentation(resources, resource, parameters);
  const expression = and(
    ...parameters
      .getAll("query_expression")
      .map((text) => parseExpression(resources, resource, text, budget)),
  );
  const names = [...new Set(parameters.keys())];
  for (const name of names) {
    if (Object.hasOwn(LIST_PARAMETERS, name)) continue;
    if (name === "can_view") throw new Problem("not_acceptable", CAN_VIEW);
    const parsed = parseListParameter(resources, resource, name, parameters.getAll(name), budget);
    if (parsed && "error" in parsed) throw parameterProblem(name, parsed.error);
    if (parsed) conditions.push(parsed.condition);
    else if (lenient) ignored.push(name);
    else throw unknownListParameter(resources, resource, name);
  }
  const mentionsDeletion =
    names.some((name) => DELETION.some((field) => name === field || name.startsWith(`${field}_`))) ||
    ["deleted", ...DELETION].some((field) => mentions(expression, field));
  const deleted = parseDeletedFilter(resource, parameters, mentionsDeletion);
  const rights = parseRights(resource, parameters, actor);
  return {
    ...representation,
    condition: and(deleted, ...conditions, rights, expression),
    order: parseOrder(resources, resource, parameters, lenient ? ignored : undefined),
    page: parsePage(parameters.get("page")),
    size: parseSize(parameters.get("page_size"), rows),
    ignored,
  };
}

/** Parses `format`, `response_format` and `fields`. @throws Problem not_found, invalid_request */
export function parseRepresentation(
  resources: Resources,
  resource: Resource,
  parameters: URLSearchParams,
): Representation {
  for (const name of Object.keys(LIST_PARAMETERS))
    if (!REPEATABLE.has(name)) singleParameter(parameters, name);
  const format = parameters.get("format") ?? undefined;
  if (format !== undefined && !isChoice(FORMATS, format))
    throw new Problem("not_found", `Not found. format is one of ${FORMATS.join(", ")}.`);
  const shape = parameters.get("response_format") || "spec";
  if (!isChoice(SHAPES, shape)) throw parameterProblem("response_format", "Choices: flat, nested.");
  const named = listParameter(parameters, "fields");
  if (named.length === 0) return { format, shape, fields: undefined };
  const lenient = flagParameter(parameters, "strict") === false;
  const annotations = namedAnnotations(resource, named, lenient);
  const fields = [...knownFields(resources, resource, named, lenient), ...annotations.keys()];
  return { format, shape, fields, annotations };
}

/** The annotations among the names, each with its type. @throws Problem invalid_request unless `lenient` */
function namedAnnotations(
  resource: Resource,
  names: readonly string[],
  lenient: boolean,
): Map<string, AnnotationType> {
  const found = new Map<string, AnnotationType>();
  for (const name of names.filter((name) => namesAnnotation(resource, name))) {
    if (name === ALL_ANNOTATIONS) {
      for (const type of resource.annotations?.used() ?? [])
        if (type.list_visibility !== "NEVER") found.set(annotationName(type), type);
      continue;
    }
    const named = findAnnotation(resource, name);
    if ("type" in named && named.rest.length === 0) found.set(name, named.type);
    else if (!lenient)
      throw parameterProblem(
        "fields",
        "error" in named ? named.error : "Name an annotation type; its values are shown as a whole.",
      );
  }
  return found;
}

const isChoice = <T extends string>(choices: readonly T[], value: string): value is T =>
  choices.includes(value as T);

/** The values of a parameter that may be repeated or separated by commas. */
const listParameter = (parameters: URLSearchParams, name: string): string[] =>
  parameters
    .getAll(name)
    .flatMap((list) => list.split(","))
    .map((value) => value.trim())
    .filter((value) => value !== "");

/** True if records can show the target of a path's references: a field, or a list of records. */
const isSpan = (resources: Resources, resource: Resource, path: readonly string[]): boolean =>
  fieldAt(resources, resource, path) !== undefined ||
  listPath(resources, resource, path)?.rest.length === 0 ||
  findUniquePath(resources, resource, path) !== undefined;

/** The known names, in the order of a record, spans last. @throws Problem invalid_request for others, unless `lenient` */
function knownFields(
  resources: Resources,
  resource: Resource,
  given: readonly string[],
  lenient: boolean,
): string[] {
  const names = given.flatMap((name) =>
    name === "*__unique_path"
      ? Object.keys(resource.fields)
          .map((field) => `${field}__unique_path`)
          .filter((path) => findUniquePath(resources, resource, path.split("__")))
      : name,
  );
  const wanted = new Set(names);
  const own = Object.entries(resource.fields)
    .filter(
      ([name, { shown }]) =>
        shown !== "internal" && (wanted.has(name) || (wanted.has("*") && !SHOWN_IF_NAMED.has(name))),
    )
    .map(([name]) => name);
  const spans = [...wanted].filter(
    (name) =>
      name.includes("__") &&
      !namesAnnotation(resource, name) &&
      isSpan(resources, resource, name.split("__")),
  );
  const known = new Set([...own, ...spans, "*"]);
  const unknown = names.find((name) => !known.has(name) && !namesAnnotation(resource, name));
  if (unknown !== undefined && !lenient)
    throw parameterProblem(
      "fields",
      unknownName(unknown, `a field of ${resource.name}`, pathNames(resources, resource)),
    );
  return [...own, ...spans];
}

/** Parameters that URLs of records do not have; only without `strict` are they ignored. @throws Problem invalid_request */
export function unknownItemParameters(parameters: URLSearchParams): string[] {
  const unknown = [...new Set(parameters.keys())].filter((name) => !Object.hasOwn(LIST_PARAMETERS, name));
  if (unknown.length > 0 && flagParameter(parameters, "strict") !== false)
    throw unknownParameter(unknown[0], [
      "format",
      "response_format",
      "fields",
      "deleted",
      "as_of",
      "strict",
      "explain",
    ]);
  return unknown;
}

/**
 * Refuses unknown parameters: with a misspelt `dry_run` a write would change records, and slots have no past.
 * @throws Problem invalid_request
 */
export function checkParameters(
  parameters: URLSearchParams,
  known: readonly string[],
  ignored: readonly string[] = [],
): void {
  if (flagParameter(parameters, "strict") === false) return;
  const unknown = parameters.keys().find((name) => !known.includes(name) && !ignored.includes(name));
  if (unknown === undefined) return;
  throw unknownParameter(unknown, known);
}

/** The value of `explain`; undefined if it is absent or false. */
export function parseExplain(parameters: URLSearchParams): string | undefined {
  const typed = parameters.get("explain");
  return typed === null || KINDS.flag.parse(typed) === 0 ? undefined : typed || "1";
}

/** Parses `deleted`; `mentionsDeletion`: without it, records are not limited to living ones. */
export function parseDeletedFilter(
  resource: Resource,
  parameters: URLSearchParams,
  mentionsDeletion = false,
): Condition {
  const typed = parameters.get("deleted");
  if (!("deleted" in resource.fields) || typed?.toLowerCase() === "all") return ALWAYS;
  if (typed === null && mentionsDeletion) return ALWAYS;
  const deleted = typed === null || typed === "" ? 0 : KINDS.flag.parse(typed);
  if (deleted === undefined) throw parameterProblem("deleted", "Expected true, false or all.");
  return compare(["deleted"], "==", deleted);
}

/** Parameters about the caller's present rights on a record. */
export const RIGHTS_PARAMETERS = ["can_change", "can_delete", "can_use", "mine", "shared_with_me"] as const;

/** Parses these parameters. @throws Problem invalid_request */
export function parseRights(resource: Resource, parameters: URLSearchParams, actor: Actor): Condition {
  const condition = (name: string, right: Condition): Condition => {
    const wanted = flagParameter(parameters, name);
    return wanted === undefined ? ALWAYS : wanted ? right : not(right);
  };
  return and(
    condition("can_change", changeable(resource, actor)),
    condition("can_delete", deletable(resource, actor)),
    condition("can_use", usable(resource, actor)),
    condition("mine", ownedBy(resource, actor)),
    condition("shared_with_me", shared(resource, actor)),
  );
}

/** The value of a parameter that has one; null without it. @throws Problem invalid_request for several values */
export function singleParameter(parameters: URLSearchParams, name: string): string | null {
  const values = new Set(parameters.getAll(name));
  if (values.size > 1) throw parameterProblem(name, "Several values were given; give one.");
  return parameters.get(name);
}

function flagParameter(parameters: URLSearchParams, name: string): boolean | undefined {
  const typed = singleParameter(parameters, name);
  if (typed === null) return undefined;
  const value = KINDS.flag.parse(typed);
  if (value === undefined) throw parameterProblem(name, `Expected ${KINDS.flag.expected}.`);
  return value === 1;
}

/** Suffix of a text field in an ordering: numbers in the text are compared as numbers. */
const NATURAL = /__natural$/;

const isNaturallyOrdered = (resources: Resources, resource: Resource, path: readonly string[]): boolean =>
  path[0] !== ANNOTATIONS && fieldAt(resources, resource, path)?.kind === "text";

/** @param ignored receives the unknown terms; without it they are refused */
function parseOrder(
  resources: Resources,
  resource: Resource,
  parameters: URLSearchParams,
  ignored?: string[],
): OrderTerm[] {
  const named = listParameter(parameters, "ordering");
  if (named.length > LIMITS.terms.max) throw parameterProblem("ordering", exceeded(LIMITS.terms));
  const parseTerm = (term: string) => {
    const path = parseListPath(resources, resource, term.replace(/^[-+]/, "").replace(NATURAL, ""), "order");
    if (!NATURAL.test(term) || "error" in path || isNaturallyOrdered(resources, resource, path)) return path;
    return { error: `${NATURAL.source.slice(0, -1)} orders texts such as names.` };
  };
  const typed = ignored ? named.filter((term) => !("error" in parseTerm(term))) : named;
  ignored?.push(...named.filter((term) => !typed.includes(term)).map((term) => `ordering=${term}`));
  const terms = (typed.length > 0 ? typed : resource.defaultOrder).map((term) => {
    const path = parseTerm(term);
    if ("error" in path) throw parameterProblem("ordering", path.error);
    const ordered = { path: shownPath(resources, resource, path), descending: term.startsWith("-") };
    return NATURAL.test(term) ? Object.assign(ordered, { natural: true as const }) : ordered;
  });
  // Clients look up records with the filter `name`, which matches beginnings, or with `search`: an exact match comes first.
  const name = parameters.get("name") ?? (resource.searchFields ? parameters.get("search") : null);
  if (typed.length > 0 || name === null || KINDS.text.parse(name) === undefined) return terms;
  const path = resource.nameFields[0].split("__");
  // Indexes hold the folded name.
  return [{ first: and(compare(path, "==", name), compare(path, "iexact", name)) }, ...terms];
}

/** A reference is ordered by what a record shows of it: a user by name, a place by its id. */
function shownPath(resources: Resources, resource: Resource, path: readonly string[]): readonly string[] {
  const field = fieldAt(resources, resource, path)!;
  if (field.kind !== "reference") return path;
  const far = findTarget(resources, field);
  if (path[0] === ANNOTATIONS) return [...path, far.key];
  return [...path, far.shownAs === "key" ? far.key : "id"];
}

function parsePage(typed: string | null): number | "last" {
  if (typed === null || typed === "last") return typed ?? 1;
  if (/^[1-9]\d{0,9}$/.test(typed)) return Number(typed);
  throw invalidPage();
}

/** The answer of Django REST framework for a page that does not exist. */
export const invalidPage = (): Problem => new Problem("not_found", "Invalid page.");

/** @throws Problem invalid_request */
export function parseSize(typed: string | null, limit: Limit = LIMITS.rows): number | "max" {
  if (typed === null) return DEFAULT_PAGE_SIZE;
  if (typed === "max" || typed === "all") return "max";
  if (!/^0*[1-9]\d*$/.test(typed))
    throw parameterProblem(
      "page_size",
      `Expected a number from 1 to ${limit.max.toLocaleString("en")}, or max.`,
    );
  if (Number(typed) > limit.max) throw parameterProblem("page_size", exceeded(limit));
  return Number(typed);
}

function unknownListParameter(resources: Resources, resource: Resource, name: string): Problem {
  if (namesAnnotation(resource, name)) {
    const named = findAnnotation(resource, name);
    if ("error" in named) return parameterProblem(name, named.error);
  }
  const choices = [
    ...Object.keys(LIST_PARAMETERS),
    ...searchFilters(resource).map((filter) => filter.name),
    ...pathNames(resources, resource),
  ];
  return parameterProblem(name, unknownName(name, "a parameter of this list", [...new Set(choices)]));
}
