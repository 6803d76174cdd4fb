import { errorKey } from "../../platform/schema.ts";
import { nearest, Problem } from "../../problem.ts";
import { and, compare, type Condition, not, or, some } from "./condition.ts";
import { exceeded } from "../../platform/limits.ts";
import { DAY, type Field, isDay, type KindName, KINDS, parseUuid, quoted } from "./field.ts";
import { LIMITS } from "./limits.ts";
import { isOperator, LOOKUPS, OPERATORS, type OperatorName } from "./operator.ts";
import {
  fieldAt,
  isRelatedPath,
  type ListPath,
  listPath,
  MANDATORY_OWNED_BY,
  pathNames,
  pathToModel,
  type Resource,
  type Resources,
  findTarget,
} from "./resource.ts";

/** The comparison with a value that a client typed, or a sentence about why there is none. */
export type ParsedFilter = { condition: Condition } | { error: string };

/** Conditions that a request may still have. */
export interface Budget {
  conditions: number;
}

/** Takes `count` conditions from the budget; false if too few are left. */
export function spend(budget: Budget, count: number): boolean {
  budget.conditions -= count;
  return budget.conditions >= 0;
}

/**
 * The condition "`path` `operator` `typed`". The value is parsed by the kind of the field. A reference is compared by id
 * if the value looks like one, otherwise by the name of the referenced record; `null` and `None` mean no reference; a
 * day without time means all of that day.
 */
export function parseComparison(
  resources: Resources,
  resource: Resource,
  path: readonly string[],
  operator: OperatorName,
  typed: string,
): ParsedFilter {
  if (isRelatedPath(resource, path)) return relatedCompare(path, operator, typed);
  const listed = listPath(resources, resource, path);
  if (listed) return listedCompare(resources, listed, operator, typed);
  const field = fieldAt(resources, resource, path)!;
  const exact = OPERATORS[operator].lookup === "exact";
  if (exact && field.nullable && /^(null|none|)$/i.test(typed)) {
    return { condition: compare(field.kind === "reference" ? [...path, "rid"] : path, "==", null) };
  }
  if (field.kind === "reference") {
    const far = findTarget(resources, field);
    const id = exact ? KINDS[far.fields.id.kind as "uuid"].parse(typed) : undefined;
    const end = id === undefined ? far.key : "id";
    return parseComparison(resources, resource, [...path, end], operator, typed);
  }
  if (field.kind === "computed") return { error: "This field is computed and cannot be compared." };
  // No record has such a value.
  if (exact && typed !== "" && field.pattern && !field.pattern.expression.test(typed))
    return { error: `Expected ${field.pattern.rule}.` };
  return compareValue(path, field.kind, operator, typed);
}

/** The condition that the comparison holds for a record of a list: of its id or name, or of the value at the path. */
function listedCompare(
  resources: Resources,
  { at, relation, target, rest }: ListPath,
  operator: OperatorName,
  typed: string,
): ParsedFilter {
  const end = rest.length > 0 ? rest : [parseUuid(typed) === undefined ? target.key : "id"];
  const inner = parseComparison(resources, target, end, operator, typed);
  return "error" in inner ? inner : { condition: some(relation, inner.condition, at) };
}

function compareValue(
  path: readonly string[],
  kind: Exclude<KindName, "reference">,
  operator: OperatorName,
  typed: string,
): ParsedFilter {
  const { kinds, sentence, lookup } = OPERATORS[operator];
  if (!kinds.includes(kind)) {
    const usable = [...LOOKUPS].filter(([, name]) => OPERATORS[name].kinds.includes(kind as "text"));
    const names = usable.map(([name]) => name).join(", ");
    return { error: `"${sentence}" does not apply to this field. Use one of: ${names}.` };
  }
  // Equality and order take a whole UUID, text operators a part of one.
  if (kind === "uuid" && kinds.includes("flag")) {
    const id = parseUuid(typed);
    return id === undefined ? { error: "Enter a valid UUID." } : { condition: compare(path, operator, id) };
  }
  const relative = kind === "instant" ? relativeDay(typed) : undefined;
  const value = relative ?? (kind === "uuid" ? KINDS.text : KINDS[kind]).parse(typed);
  if (value === undefined) return { error: `Expected ${describeExpected(kind)}.` };
  if (kind === "instant" && lookup === "exact" && (relative !== undefined || isDay(typed))) {
    const day = Number(value);
    return { condition: and(compare(path, ">=", day), compare(path, "<", day + DAY)) };
  }
  return { condition: compare(path, operator, value) };
}

const describeExpected = (kind: KindName): string =>
  kind === "instant"
    ? `${KINDS.instant.expected}, or a day counted from today (today, 30d, -7d), or now`
    : KINDS[kind].expected;

/** An instant that a parameter gives (microseconds), or the beginning of a day counted from today. @throws Problem */
export function parseSince(name: string, typed: string): number {
  const value = relativeDay(typed) ?? KINDS.instant.parse(typed);
  if (value === undefined) throw parameterProblem(name, `Expected ${describeExpected("instant")}.`);
  return Number(value);
}

/** The present minute, or the beginning, in UTC, of today or of a day counted from it. */
function relativeDay(typed: string): number | undefined {
  if (/^now$/i.test(typed.trim())) return Math.floor(Date.now() / 60_000) * 60_000_000;
  const [word, days] = /^(?:today|([+-]?\d{1,5})d)$/i.exec(typed.trim()) ?? [];
  if (word === undefined) return undefined;
  const today = Math.floor(Date.now() / 86_400_000);
  return (today + Number(days ?? 0)) * DAY;
}

/** The condition that the comparison holds for a note on the record, or for a name in its list. */
function relatedCompare(
  [relation, last]: readonly string[],
  operator: OperatorName,
  typed: string,
): ParsedFilter {
  const value = KINDS.text.parse(typed);
  if (value === undefined) return { error: `Expected ${KINDS.text.expected}.` };
  return { condition: some(relation, compare([last], operator, value)) };
}

/** One parameter that a list accepts, for its reference page and for the error that lists them. */
export interface Filter {
  name: string;
  /** The fields that the parameter compares. */
  paths: readonly string[];
  doc: string;
  condition(resources: Resources, resource: Resource, typed: string): ParsedFilter;
}

/** Filters on several fields at once, which a client can use like a field. */
export function searchFilters(resource: Resource): Filter[] {
  const filters: Filter[] = [
    {
      name: "name",
      paths: resource.nameFields,
      doc: `${list(resource.nameFields)} starts with the value, ignoring case.`,
      condition: matchAny(resource.nameFields, "istartswith"),
    },
    {
      name: "description",
      paths: resource.descriptionFields,
      doc: `${list(resource.descriptionFields)} contains the value, ignoring case.`,
      condition: matchAny(resource.descriptionFields, "icontains"),
    },
    {
      name: "query",
      paths: resource.nameFields,
      doc: `${list(resource.nameFields)} contains every word of the value, ignoring case.`,
      condition: everyWord(resource.nameFields),
    },
  ];
  if (resource.searchFields)
    filters.push({
      name: "search",
      paths: resource.searchFields,
      doc: `${list(resource.searchFields)} contains every word of the value, ignoring case.`,
      condition: everyWord(resource.searchFields),
    });
  return filters.filter(({ name }) => name !== "description" || resource.descriptionFields.length > 0);
}

const everyWord =
  (paths: readonly string[]): Filter["condition"] =>
  (resources, resource, typed) => {
    const words = splitWords(typed);
    if (words.length > LIMITS.words.max) return { error: exceeded(LIMITS.words) };
    return joined(
      and,
      words.map((word) => matchAny(paths, "icontains")(resources, resource, word)),
    );
  };

/** Kinds whose values contain no commas, so that a comma always separates two of them. */
const SEPARABLE: ReadonlySet<Field["kind"]> = new Set(["reference", "uuid", "integer"]);

/**
 * The condition that a parameter means, or undefined where a list of this resource knows no such parameter:
 * `<field>`, `<reference>_id`, `<model>_id`, `<reference>__<field>`, each also with `__<lookup>`, `__in` or `__isnull`.
 * Several values are ORed; those of ids, references and `__in` may also be separated by commas. Every value and every
 * word of a search is one condition of the budget; values compared for equality are one together, because an index finds
 * them.
 */
export function parseParameter(
  resources: Resources,
  resource: Resource,
  name: string,
  values: readonly string[],
  budget: Budget,
): ParsedFilter | undefined {
  const search = searchFilters(resource).find((filter) => filter.name === name);
  if (search) {
    const words = ["query", "search"].includes(name) ? values.flatMap(splitWords) : values;
    return anyText(values, budget, words.length, (value) => search.condition(resources, resource, value));
  }
  const parts = comparedPath(resource, name).split("__");
  const path = knownPath(resources, resource, parts);
  const equals = (path: readonly string[]) => (value: string) =>
    parseComparison(resources, resource, path, "==", value);
  if (path) {
    const separated = isSeparable(resources, resource, path) ? values.flatMap(commas) : values;
    return anyEqual(separated, budget, equals(path));
  }
  const before = knownPath(resources, resource, parts.slice(0, -1));
  const lookup = parts[parts.length - 1];
  if (!before) return undefined;
  if (lookup === "in") return anyEqual(values.flatMap(commas), budget, equals(before));
  if (lookup === "isnull") {
    if (isToMany(resources, resource, before))
      return { error: `Compare a field with it instead: ${before.join("__")}__icontains.` };
    return anyEqual(values, budget, (value) => {
      const wanted = KINDS.flag.parse(value);
      if (wanted === undefined) return { error: `Expected ${KINDS.flag.expected}.` };
      const kind = fieldAt(resources, resource, before)?.kind;
      const absent = compare(kind === "reference" ? [...before, "rid"] : before, "==", null);
      return { condition: wanted === 1 ? absent : not(absent) };
    });
  }
  const operator = LOOKUPS.get(lookup);
  if (!operator) return undefined;
  const compared = (value: string) => parseComparison(resources, resource, before, operator, value);
  return OPERATORS[operator].lookup === "exact"
    ? anyEqual(values, budget, compared)
    : anyText(values, budget, values.length, compared);
}

const comparedPath = ({ filters = {} }: Resource, name: string): string =>
  Object.hasOwn(filters, name) ? filters[name] : name;

const isSeparable = (resources: Resources, resource: Resource, path: readonly string[]): boolean =>
  SEPARABLE.has(fieldAt(resources, resource, path)?.kind ?? "text") ||
  listPath(resources, resource, path)?.rest.length === 0;

const isToMany = (resources: Resources, resource: Resource, path: readonly string[]): boolean =>
  isRelatedPath(resource, path) || listPath(resources, resource, path) !== undefined;

/** The names as a path of fields; `<reference>_id` means the reference, `<model>_id` what leads to the model. */
function knownPath(
  resources: Resources,
  resource: Resource,
  names: readonly string[],
): readonly string[] | undefined {
  if (names.length === 0) return undefined;
  // A list of names is compared name by name.
  if (names[0] === MANDATORY_OWNED_BY && names.length === 1 && isRelatedPath(resource, [...names, "name"]))
    return [...names, "name"];
  if (fieldAt(resources, resource, names) || isToMany(resources, resource, names)) return names;
  const last = names[names.length - 1];
  if (!last.endsWith("_id")) return undefined;
  const name = last.slice(0, -"_id".length);
  const path = [...names.slice(0, -1), name];
  if (fieldAt(resources, resource, path)?.kind === "reference") return path;
  return names.length === 1 ? pathToModel(resources, resource, name) : undefined;
}

const commas = (value: string): string[] =>
  value.includes(",")
    ? value
        .split(",")
        .map((part) => part.trim())
        .filter(Boolean)
    : [value];

const splitWords = (typed: string): string[] => typed.trim().split(/\s+/);

type ParseValue = (value: string) => ParsedFilter;

export function anyEqual(values: readonly string[], budget: Budget, one: ParseValue): ParsedFilter {
  if (values.length === 0) return { error: "Expected values separated by commas." };
  if (values.length > LIMITS.values.max) return { error: exceeded(LIMITS.values) };
  if (!spend(budget, 1)) return { error: exceeded(LIMITS.conditions) };
  return joined(or, [...new Set(values)].map(one));
}

function anyText(values: readonly string[], budget: Budget, count: number, one: ParseValue): ParsedFilter {
  if (values.length > LIMITS.texts.max) return { error: exceeded(LIMITS.texts) };
  if (!spend(budget, count)) return { error: exceeded(LIMITS.conditions) };
  return joined(or, [...new Set(values)].map(one));
}

/** The parts joined, or the first error among them. */
export function joined(join: typeof and, parts: readonly ParsedFilter[]): ParsedFilter {
  const conditions: Condition[] = [];
  for (const part of parts) {
    if ("error" in part) return part;
    conditions.push(part.condition);
  }
  return { condition: join(...conditions) };
}

/** 400 about one parameter, in the form that Django REST framework clients read. */
export function parameterProblem(name: string, error: string): Problem {
  const key = errorKey(name);
  return new Problem("invalid_request", `${key}: ${error}`, { fields: { [key]: [error] } });
}

/** The error for an unknown name: suggestions, and all names that span no reference. */
export function unknownName(typed: string, what: string, choices: readonly string[]): string {
  const near = nearest(typed, choices);
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  const own = choices.filter((choice) => !choice.includes("__"));
  const spans = own.length < choices.length ? "; and <reference>__<field>" : "";
  return `${quoted(typed)} is not ${what}.${hint} Choices: ${own.join(", ")}${spans}.`;
}

/** The operator of this name, or the error in it. */
export function parseOperator(typed: string): OperatorName | { error: string } {
  const name = typed.trim().toLowerCase();
  if (isOperator(name)) return name;
  const lookup = LOOKUPS.get(name);
  if (lookup) return lookup;
  const shown = /^[=<>!~]{1,3}$/.test(name) ? `"${name}"` : quoted(typed);
  return { error: `${shown} is not an operator. Choices: ${Object.keys(OPERATORS).join(", ")}.` };
}

/** The path to a field in an advanced filter or an ordering, or the error in it. */
export function parsePath(
  resources: Resources,
  resource: Resource,
  typed: string,
): readonly string[] | { error: string } {
  const path = typed.trim().split("__");
  if (fieldAt(resources, resource, path)) return path;
  return {
    error: unknownName(typed.trim(), `a field of ${resource.name}`, pathNames(resources, resource)),
  };
}

const matchAny =
  (paths: readonly string[], operator: OperatorName): Filter["condition"] =>
  (resources, resource, typed) =>
    joined(
      or,
      paths.map((name) => parseComparison(resources, resource, name.split("__"), operator, typed)),
    );

const list = (paths: readonly string[]) => paths.join(" or ");
