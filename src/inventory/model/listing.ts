import { Problem } from "../../problem.ts";
import { type Actor, changeable, deletable } from "./access.ts";
import { and, compare, type Condition, mentions, not } from "./condition.ts";
import { parseExpression } from "./expression.ts";
import { KINDS } from "./field.ts";
import { parseParameter, parameterProblem, parsePath, searchFilters, unknownName } from "./filter.ts";
import { fieldAt, pathNames, type Resource, type Resources, targetOf } from "./resource.ts";
import type { OrderTerm } from "./sql.ts";

/** spec: as the specification shows records; flat: all values plain; nested: every property an object. */
export type Shape = "spec" | "flat" | "nested";

/** How an answer looks, whatever is in it. */
export interface Representation {
  /** json, api (HTML), csv or xlsx, where the parameter says; undefined leaves it to the Accept header. */
  format: "json" | "api" | "csv" | "xlsx" | undefined;
  shape: Shape;
  /** Only these fields or spans; undefined means all that a record shows. */
  fields: readonly string[] | undefined;
}

/** A list as its address asks for it. */
export interface Listing extends Representation {
  condition: Condition;
  order: readonly OrderTerm[];
  page: number | "last";
  size: number | "max";
  /** Names of parameters, and ordering terms, that were not understood and, as asked for, ignored. */
  ignored: string[];
}

/** Records on a page where page_size says nothing. */
export const DEFAULT_PAGE_SIZE = 50;

/** Parameters that every list knows besides filters. */
export const LIST_PARAMETERS: Readonly<Record<string, string>> = {
  format: "json, api (HTML), csv or xlsx; the last two give all pages, unless page or page_size is given.",
  response_format: "flat: all values plain; nested: every property as {name, value, category}.",
  fields: "Comma-separated names of the only fields to give; `*` gives all, hidden ones among them.",
  page: "Page number from 1, or last.",
  page_size: `Records on a page (${DEFAULT_PAGE_SIZE} by default); max or all gives everything in one page.`,
  ordering: "Comma-separated fields to order by; a minus sign reverses, two underscores span a reference.",
  query_expression: 'Comma-separated objects {"category", "operator", "value"}, all of which must hold.',
  deleted: "true: deleted records only; false (default): others only; all: both.",
  can_change: "true: records that the caller may change; false: others.",
  can_delete: "true: records that the caller may delete; false: others.",
  as_of:
    "A time, or the id of a batch: the records as they were then, as far as the caller may view them today.",
  strict:
    "0: unknown parameters and ordering terms are ignored, and named in a Warning header; 1 (default): refused.",
  explain: "1: instead of records, what was made of the parameters, the SQL and its plan; needs credentials.",
};

const CAN_VIEW = "can_view cannot be a filter: it is true of every record that you get.";

/** Fields of which an advanced filter that names one speaks of the life of records. */
const MENTIONS = ["deleted", "deleted_by", "deleted_date"];

/**
 * What the parameters of a list ask for.
 * @throws Problem invalid_request (names the parameter), not_found (format, page), not_acceptable (can_view)
 */
export function parseListing(
  resources: Resources,
  resource: Resource,
  parameters: URLSearchParams,
  actor: Actor,
): Listing {
  const conditions: Condition[] = [];
  const ignored: string[] = [];
  const lenient = flagParameter(parameters, "strict") === false;
  const look = parseRepresentation(resources, resource, parameters);
  const expression = and(
    ...parameters.getAll("query_expression").map((text) => parseExpression(resources, resource, text)),
  );
  for (const name of new Set(parameters.keys())) {
    if (Object.hasOwn(LIST_PARAMETERS, name)) continue;
    if (name === "can_view") throw new Problem("not_acceptable", CAN_VIEW);
    const typed = parseParameter(resources, resource, name, parameters.getAll(name));
    if (!typed && lenient) ignored.push(name);
    if (!typed && lenient) continue;
    if (!typed) throw unknownParameter(resources, resource, name);
    if ("error" in typed) throw parameterProblem(name, typed.error);
    conditions.push(typed.condition);
  }
  for (const [name, right] of [
    ["can_change", changeable],
    ["can_delete", deletable],
  ] as const) {
    const wanted = flagParameter(parameters, name);
    if (wanted === undefined) continue;
    const may = right(resource, actor);
    conditions.push(wanted ? may : not(may));
  }
  // Not first: SQLite chooses the index by itself, and a person reads what was asked for before what is usual.
  // Who asks by whom or when records were deleted does not mean those that live.
  const told = ["deleted_by", "deleted_date"].some((name) =>
    [...parameters.keys()].some((typed) => typed === name || typed.startsWith(`${name}_`)),
  );
  const life = parseDeletedFilter(
    resource,
    parameters,
    told || MENTIONS.some((name) => mentions(expression, name)),
  );
  return {
    ...look,
    condition: and(life, ...conditions, expression),
    order: readOrder(resources, resource, parameters, lenient ? ignored : undefined),
    page: readPage(parameters.get("page")),
    size: readSize(parameters.get("page_size")),
    ignored,
  };
}

/** How an answer is wanted. @throws Problem not_found for an unknown format, invalid_request for a response_format */
export function parseRepresentation(
  resources: Resources,
  resource: Resource,
  parameters: URLSearchParams,
): Representation {
  const format = parameters.get("format") ?? undefined;
  if (format !== undefined && format !== "json" && format !== "api" && format !== "csv" && format !== "xlsx")
    throw new Problem("not_found", "Not found. format is one of json, api, csv, xlsx.");
  const shape = parameters.get("response_format") || "spec";
  if (shape !== "spec" && shape !== "flat" && shape !== "nested")
    throw parameterProblem("response_format", "Choices: flat, nested.");
  const named = parameters
    .getAll("fields")
    .flatMap((list) => list.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return { format, shape, fields: named.length === 0 ? undefined : knownFields(resources, resource, named) };
}

/** The known ones among the names, in the order of a record, spans last. Unknown ones are left out, as DRF does. */
function knownFields(resources: Resources, resource: Resource, names: readonly string[]): string[] {
  const wanted = new Set(names);
  const own = Object.entries(resource.fields)
    .filter(([name, { shown }]) => shown !== "internal" && (wanted.has(name) || wanted.has("*")))
    .map(([name]) => name);
  const spans = [...wanted].filter(
    (name) => name.includes("__") && fieldAt(resources, resource, name.split("__")) !== undefined,
  );
  return [...own, ...spans];
}

/** Parameters of one record that no address of a record knows; with `strict` they are refused. @throws Problem invalid_request */
export function unknownItemParameters(parameters: URLSearchParams): string[] {
  const unknown = [...new Set(parameters.keys())].filter((name) => !Object.hasOwn(LIST_PARAMETERS, name));
  if (unknown.length > 0 && flagParameter(parameters, "strict") === true) {
    const choices = ["format", "response_format", "fields", "deleted", "strict", "explain"];
    throw parameterProblem(unknown[0], unknownName(unknown[0], "a parameter of one record", choices));
  }
  return unknown;
}

/** What `explain` asks for; undefined where it does not. */
export function parseExplain(parameters: URLSearchParams): string | undefined {
  const typed = parameters.get("explain");
  return typed === null || KINDS.flag.parse(typed) === 0 ? undefined : typed || "1";
}

/** `deleted`, for lists and for one record. */
export function parseDeletedFilter(resource: Resource, parameters: URLSearchParams, told = false): Condition {
  const typed = parameters.get("deleted");
  if (!("deleted" in resource.fields) || typed?.toLowerCase() === "all") return and();
  if (typed === null && told) return and();
  const deleted = typed === null || typed === "" ? 0 : KINDS.flag.parse(typed);
  if (deleted === undefined) throw parameterProblem("deleted", "Expected true, false or all.");
  return compare(["deleted"], "==", deleted);
}

function flagParameter(parameters: URLSearchParams, name: string): boolean | undefined {
  const typed = parameters.get(name);
  if (typed === null) return undefined;
  const value = KINDS.flag.parse(typed);
  if (value === undefined) throw parameterProblem(name, `Expected ${KINDS.flag.expected}.`);
  return value === 1;
}

/** @param ignored takes the unknown terms; without it they are refused */
function readOrder(
  resources: Resources,
  resource: Resource,
  parameters: URLSearchParams,
  ignored?: string[],
): OrderTerm[] {
  const named = parameters
    .getAll("ordering")
    .flatMap((list) => list.split(","))
    .map((term) => term.trim())
    .filter((term) => term !== "");
  if (named.length > 10) throw parameterProblem("ordering", "More than 10 terms.");
  const known = (term: string) => !("error" in parsePath(resources, resource, term.replace(/^[-+]/, "")));
  const typed = ignored ? named.filter(known) : named;
  ignored?.push(...named.filter((term) => !typed.includes(term)).map((term) => `ordering=${term}`));
  const terms = (typed.length > 0 ? typed : resource.defaultOrder).map((term) => {
    const path = parsePath(resources, resource, term.replace(/^[-+]/, ""));
    if ("error" in path) throw parameterProblem("ordering", path.error);
    return { path: shownPath(resources, resource, path), descending: term.startsWith("-") };
  });
  // Clients look for a record by name with this filter, which only compares beginnings: the record meant comes first.
  const name = parameters.get("name");
  if (typed.length > 0 || name === null || KINDS.text.parse(name) === undefined) return terms;
  return [{ first: compare(resource.nameFields[0].split("__"), "==", name) }, ...terms];
}

/** A reference is ordered by what a record shows of it: a user by name, a place by its id. */
function shownPath(resources: Resources, resource: Resource, path: readonly string[]): readonly string[] {
  const field = fieldAt(resources, resource, path)!;
  if (field.kind !== "reference") return path;
  const far = targetOf(resources, field);
  return [...path, far.shownAs === "key" ? far.key : "id"];
}

function readPage(typed: string | null): number | "last" {
  if (typed === null || typed === "last") return typed ?? 1;
  if (/^[1-9]\d{0,9}$/.test(typed)) return Number(typed);
  throw invalidPage();
}

/** What Django REST framework says of a page that does not exist. */
export const invalidPage = (): Problem => new Problem("not_found", "Invalid page.");

function readSize(typed: string | null): number | "max" {
  if (typed === "max" || typed === "all") return "max";
  // As Django REST framework does: what is no size is the usual size.
  return typed !== null && /^[1-9]\d{0,8}$/.test(typed) ? Number(typed) : DEFAULT_PAGE_SIZE;
}

function unknownParameter(resources: Resources, resource: Resource, name: string): Problem {
  const choices = [
    ...Object.keys(LIST_PARAMETERS),
    ...searchFilters(resource).map((filter) => filter.name),
    ...pathNames(resources, resource),
  ];
  return parameterProblem(name, unknownName(name, "a parameter of this list", [...new Set(choices)]));
}
