import type { ComponentChildren } from "preact";
import type { Json } from "../../inventory/model/field.ts";
import type { JsonRecord } from "../../inventory/api/list-operations.ts";
import { href } from "../address.ts";
import { Tag } from "../components/layout.tsx";
import { formatAmount, unitSymbol } from "../../inventory/model/unit.ts";
import { pluralize, daysTo, formatDay, formatTime, Time } from "../format.tsx";
import { groupTitle } from "../../platform/words.ts";
import { ApiError, onWrite } from "../request.ts";
import {
  parseConstant,
  type Declaration,
  type FieldInfo,
  isConstant,
  isInTree,
  isPeople,
  pagePath,
  type Reference,
  linkedReference,
  titleField,
  USERS,
  formatChoice,
  formatConstant,
} from "./declaration.ts";
import { SkeletonWord, useLoaded } from "../components/loaded.tsx";
import { formatMoney } from "./order-text.ts";
import { PathLine } from "./path.tsx";
import { readFlat, readList, readOne } from "./read-list.ts";

/** Records in the nested response format, which names the records they refer to. */

/** A reference; the name is null where the reader may not view the record. */
export interface NamedReference {
  id: string | number;
  name: string | null;
  /** Full name of a person. */
  fullName?: string;
}
export type RecordValue = string | number | boolean | null | NamedReference | object;

export interface Row {
  id: string;
  /** Version for `If-Match`. */
  version: number | undefined;
  /** No deleted record can be changed. */
  mayChange: boolean;
  mayDelete: boolean;
  /** Stock that the reader may use: take some, take it out, move it. */
  mayUse: boolean;
  values: Readonly<Record<string, RecordValue>>;
}

export interface Page {
  total: number;
  current: number;
  total_pages: number;
  rows: Row[];
}

/** Properties are objects; columns across references are plain values. */
type Nested = Record<string, { value: RecordValue; category: "property" } | RecordValue>;

export function toRow(record: Nested | JsonRecord): Row {
  const values: Record<string, RecordValue> = {};
  for (const [name, property] of Object.entries(record as Nested)) {
    const isProperty = property !== null && typeof property === "object" && "category" in property;
    const value = isProperty ? property.value : property;
    // Users are shown by their username.
    values[name] =
      value !== null && typeof value === "object" && "username" in value
        ? toPerson(value as { username: string; full_name?: string })
        : value;
  }
  namePlaces(values);
  const { actions = {} } = (values.permissions ?? {}) as {
    actions?: { change?: boolean; delete?: boolean; use?: boolean };
  };
  const isAlive = values.deleted !== true;
  return {
    id: String(values.id),
    version: typeof values.version === "number" ? values.version : undefined,
    mayChange: actions.change === true && isAlive,
    mayDelete: actions.delete === true,
    mayUse: actions.use === true && isAlive,
    values,
  };
}

const toPerson = ({
  username,
  full_name = "",
}: {
  username: string;
  full_name?: string;
}): NamedReference => ({
  id: username,
  name: username,
  fullName: full_name,
});

/** Unique names of places, such as `Rack A › Box 1`. */
const UNIQUE = "__unique_path";

/** Replaces names of references by these paths. */
function namePlaces(values: Record<string, RecordValue>): void {
  for (const [name, path] of Object.entries(values)) {
    if (!name.endsWith(UNIQUE)) continue;
    const of = name.slice(0, -UNIQUE.length);
    if (path && isNamed(values[of])) values[of] = { ...values[of], name: String(path) };
    delete values[name];
  }
}

/** Unique paths of places that requests ask for besides these fields. */
const withPaths = ({ fields }: Declaration, names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const { segment = "", printed } = fields[name]?.reference ?? {};
    return printed === "id" && isInTree(segment) ? name + UNIQUE : [];
  });

/** The text after a value: the unit of an amount as a symbol, the position in a location. */
export function findSuffix({ fields }: Pick<Declaration, "fields">, { values }: Row, name: string): string {
  const { form, reference } = fields[name] ?? {};
  const suffix = values[form?.suffix ?? ""];
  if (isEmpty(suffix) || isEmpty(values[name])) return "";
  return reference ? `, ${formatText(suffix)}` : ` ${unitSymbol(formatText(suffix))}`;
}

/** A price, or an amount in the unit that reads best. */
const formatNumber = (value: number, suffix: string, field: FieldInfo | undefined): string =>
  field?.form?.suffix === "currency"
    ? formatMoney(value, suffix.trim())
    : formatAmount({ value, unit: suffix });

/** An amount of a record in the unit that reads best, or a value with its suffix. */
export function formatWithSuffix(of: Pick<Declaration, "fields">, row: Row, name: string): string {
  const [value, suffix] = [row.values[name], findSuffix(of, row, name)];
  return typeof value === "number"
    ? formatNumber(value, suffix, of.fields[name])
    : formatText(value) + suffix;
}

/** The readable name of a record: the label if the name is for programs. */
export const recordName = (of: Declaration, { values }: Row): string =>
  formatText(values[titleField(of)] || values[of.key]);

/** Names of the fields that are read for a column besides its own: what completes its values, and says that stock is low. */
const secondColumnNames = (field: FieldInfo | undefined): string[] => [
  ...(field?.form?.suffix ? [field.form.suffix] : []),
  ...(field?.form?.look === "amount" ? ["below_minimum", "taken_out"] : []),
];

/** One page of a list with these fields. @throws ApiError */
export async function readPage(
  of: Declaration,
  query: Record<string, string | readonly string[]>,
  fields: readonly string[],
  signal?: AbortSignal,
): Promise<Page> {
  const always = ["id", "version", "permissions"].filter((name) => name in of.fields);
  const beside = fields.flatMap((name) => secondColumnNames(of.fields[name]));
  const names = [
    ...new Set([...always, of.key, titleField(of), ...fields, ...beside, ...withPaths(of, fields)]),
  ].join(",");
  const { results, ...page } = await readList<Nested>(
    of.name,
    { ...query, response_format: "nested", fields: names },
    signal,
  );
  return { ...page, rows: results.map(toRow) };
}

/** Query that returns a whole record in the format of `toRow`. */
export const WHOLE = { response_format: "nested", fields: `*,annotations__*,*${UNIQUE}` };

/** Accounts and groups have no annotations, and cannot be deleted and restored. */
const includingDeleted = (segment: string) => (isPeople(segment) ? { fields: "*" } : { deleted: "all" });

/** One record with all fields, also a deleted one; with `as_of`, its state after that batch. @throws ApiError */
export const readRecord = async (
  segment: string,
  id: string,
  signal?: AbortSignal,
  query: { as_of?: string } = {},
): Promise<Row> =>
  toRow(await readOne<Nested>(segment, id, { ...WHOLE, ...includingDeleted(segment), ...query }, signal));

const names = new Map<string, Promise<string>>();
onWrite(() => names.clear());

/** The field that names the records of a list to people: of places the path, of accounts the full name. */
export const nameField = ({ segment, key }: Pick<Reference, "segment" | "key">): string =>
  isInTree(segment) ? "unique_path" : segment === USERS.segment ? "full_name" : key;

/** The name of a record, requested once until something is written; the start of the id where it cannot be viewed. */
export function readName(to: Pick<Reference, "segment" | "key">, id: string): Promise<string> {
  const { segment } = to;
  const key = nameField(to);
  const address = `${segment}/${id}`;
  let name = names.get(address);
  if (!name) {
    const query = { ...includingDeleted(segment), fields: `id,${key}` };
    name = readFlat<Record<string, string>>(segment, id, query).then(
      (record) => record[key],
      () => (isPeople(segment) ? id : `${id.slice(0, 8)}…`),
    );
    names.set(address, name);
  }
  return name;
}

/** The full name of a person, or the username. */
export const Person = ({ username }: { username: string }) => (
  <>{useLoaded(username, () => readName(USERS, username)).value || username}</>
);

export const isNamed = (value: RecordValue | undefined): value is NamedReference =>
  value !== null && typeof value === "object" && "id" in value && "name" in value;

/** A number with a unit. */
const isAmount = (value: object): value is { value: number; unit: RecordValue } =>
  Object.keys(value).join() === "value,unit";

const isEmpty = (value: unknown): value is null | undefined | "" =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

/** A value as forms contain it. */
export function formatInput(value: RecordValue | undefined, field: FieldInfo): string {
  if (isEmpty(value)) return "";
  if (field.annotation?.multiple && Array.isArray(value))
    return value.map((each) => enteredText(each as RecordValue)).join("\n");
  if (field.annotation?.type === "NUMBERUNIT") return enteredText(value);
  if (isNamed(value)) return String(field.reference?.printed === "key" ? value.name : value.id);
  if (field.form?.lines && Array.isArray(value)) return formatValues(value).join("\n");
  if (typeof value === "object") return JSON.stringify(value, null, 1);
  return isConstant(field) ? formatConstant(String(value)) : String(value);
}

/** A value of an annotation as requests take it: units by their names. */
const enteredText = (value: RecordValue | undefined): string =>
  value && typeof value === "object" && isAmount(value)
    ? `${value.value} ${formatText(value.unit)}`
    : isNamed(value)
      ? String(value.name)
      : formatText(value);

/** A text for each of several values: `value = label` for a pair whose parts differ. */
const formatValues = (values: readonly unknown[], field?: FieldInfo): string[] =>
  values.map((each) =>
    Array.isArray(each) && each[0] !== each[1]
      ? each.join(" = ")
      : formatText(Array.isArray(each) ? each[0] : each, field),
  );

function parseLines(input: string, kind: "pairs" | "texts"): Json[] {
  const lines = input.split("\n").filter((line) => line.trim() !== "");
  if (kind === "texts") return lines.map((line) => line.trim());
  return lines.map((line) => {
    const [value, ...label] = line.split("=");
    return [value.trim(), label.length > 0 ? label.join("=").trim() : value.trim()];
  });
}

/** @throws ApiError */
export function parseJson(input: string, label: string): Json {
  try {
    return JSON.parse(input) as Json;
  } catch (error) {
    throw new ApiError(
      400,
      "invalid_request",
      `${label}: Must be JSON, such as {"a": 1} or "text". ${(error as Error).message}.`,
    );
  }
}

/** The content of a form field as requests contain it. @throws ApiError for invalid JSON */
export function parseInput(input: string, field: FieldInfo): Json {
  if (field.annotation && input === "") return null;
  if (field.annotation?.multiple) return input.split("\n").filter((line) => line.trim() !== "");
  if (field.kind === "flag") return input === "true";
  if (input === "" && field.nullable) return null;
  if (field.form?.lines) return parseLines(input, field.form.lines);
  if (field.kind === "json") return parseJson(input, field.label);
  return isConstant(field) ? parseConstant(input, field) : input;
}

/** Several values, an amount such as `5 milligram`, or JSON. */
function objectText(value: object, field: FieldInfo | undefined): string {
  if (field?.form?.lines && Array.isArray(value)) return formatValues(value, field).join(", ");
  if (Array.isArray(value) && field?.kind !== "json")
    return value.map((each) => formatText(each as RecordValue, field)).join(", ");
  if ("username" in value) return String(("full_name" in value && value.full_name) || value.username);
  return isAmount(value)
    ? formatAmount({ value: value.value, unit: formatText(value.unit) })
    : JSON.stringify(value);
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+\+00:00$/;

/** A value as text, for titles and previews. */
export function formatText(value: RecordValue | undefined, field?: FieldInfo): string {
  if (isEmpty(value)) return "–";
  if (isNamed(value)) return value.fullName || groupTitle(value.name ?? `${String(value.id).slice(0, 8)}…`);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return objectText(value, field);
  if (field?.kind === "instant" || (field?.kind === "computed" && INSTANT.test(String(value))))
    return formatTime(String(value));
  if (field?.kind === "date") return formatDay(String(value));
  return formatChoice(String(value), field);
}

const STATES: Readonly<Record<string, string>> = {
  AVAILABLE: "ok",
  LOW: "low",
  EMPTY: "empty",
  EXPIRED: "expired",
  MISSING: "expired",
};

interface StockValues {
  status?: unknown;
  expiry?: unknown;
  amount?: unknown;
  below_minimum?: unknown;
  taken_out?: unknown;
}

/** Problem of stock by its amount, status and expiry; undefined if there is none. */
export function findShortage({ status, expiry, amount, below_minimum }: StockValues): string | undefined {
  const today = new Date().toISOString().slice(0, 10);
  if (amount === 0 || status === "EMPTY") return "empty";
  if (typeof expiry === "string" && expiry < today) return "expired";
  return below_minimum === true ? "low" : undefined;
}

/** The CSS class of the state of stock: its problem, or else its status. */
export const findStockState = (values: StockValues): string =>
  values.taken_out === true
    ? "out"
    : (findShortage(values) ?? STATES[String(values.status ?? "")] ?? "other");

/** Statuses that a problem of the stock replaces. */
const STOCK_STATES = new Set(["", "AVAILABLE", "LOW", "EMPTY", "EXPIRED"]);

/** The state of stock in words, such as "Low" or "Frozen, low". */
export function stateText(values: StockValues): string {
  const status = String(values.status ?? "");
  const shortage = findShortage(values);
  if (values.taken_out === true) return ["Taken out", shortage].filter(Boolean).join(", ");
  if (shortage === undefined) return formatConstant(status);
  return STOCK_STATES.has(status) ? formatConstant(shortage) : `${formatConstant(status)}, ${shortage}`;
}

/** The state of stock, as a shape and in words. */
export const State = ({ values }: { values: StockValues }) => (
  <span class={`state state-${findStockState(values)}`}>{stateText(values)}</span>
);

/** Days before an expiry from which it is marked. */
const EXPIRING_DAYS = 30;
const WEEK = 7;

/** The time until an expiry, if it is near. */
export function ExpiryTag({ day }: { day: string }) {
  const days = daysTo(day);
  if (days > EXPIRING_DAYS) return null;
  return (
    <Tag tone={days < WEEK ? "danger" : "warn"}>
      {days < 0 ? "expired" : days === 0 ? "today" : pluralize(days, "day")}
    </Tag>
  );
}

interface ValueProps {
  value: RecordValue | undefined;
  field?: FieldInfo | undefined;
  /** Text after the value: a unit, a position. */
  suffix?: string;
}

/** A value in a table or on the page of a record. */
export function Value(props: ValueProps) {
  const { value, field, suffix = "" } = props;
  if (isEmpty(value)) return <span class="muted none">–</span>;
  const to = field?.reference;
  if (Array.isArray(value) && value.length > 0 && to)
    return value.map((each, i) => [
      i > 0 && ", ",
      <Value key={i} value={each as RecordValue} field={field} />,
    ]);
  if (isNamed(value) && to?.printed === "id")
    return (
      <a href={href(pagePath(to.segment, String(value.id)), { at: /^, (.+)/.exec(suffix)?.[1] })}>
        {isInTree(to.segment) ? <PathLine path={formatText(value)} /> : formatText(value)}
        {suffix}
      </a>
    );
  return to?.printed === "plain id" ? <PlainValue value={value} field={field} /> : <OwnValue {...props} />;
}

/** A value that names no other record. */
function OwnValue({ value, field, suffix = "" }: ValueProps) {
  const look = field?.form?.look;
  if (look === "expiry")
    return (
      <>
        {formatText(value, field)} <ExpiryTag day={String(value)} />
      </>
    );
  if (field?.kind === "instant") return <Time at={String(value)} />;
  if (look === "state") return <State values={{ status: value }} />;
  if (look === "code") return <code>{String(value)}</code>;
  if (look === "link")
    return (
      <a href={String(value)} target="_blank" rel="noopener noreferrer">
        {new URL(String(value)).host}
      </a>
    );
  return (
    <>{typeof value === "number" ? formatNumber(value, suffix, field) : formatText(value, field) + suffix}</>
  );
}

/** The record that a value of the history refers to by its id, and its name once it is known. */
function useReferred(field: FieldInfo | undefined, value: RecordValue = null) {
  const to = linkedReference(field);
  const id = to && value !== null ? String(value) : null;
  const { value: name } = useLoaded(id, () => readName(to!, id!));
  return { to, id, name };
}

/** A value as the history stores it: of a reference only the id, whose name is looked up. */
export function PlainValue({
  value,
  field,
}: {
  value: RecordValue | undefined;
  field: FieldInfo | undefined;
}) {
  const { to, id, name } = useReferred(field, value);
  if (field?.reference?.segment === USERS.segment && value) return <Person username={String(value)} />;
  if (to && id !== null) return <a href={href(pagePath(to.segment, id))}>{name ?? <SkeletonWord />}</a>;
  return <>{formatText(value, field)}</>;
}

/** Text about an amount of the history, whose unit is looked up. */
export function UnitText(props: {
  unit: RecordValue | undefined;
  field: FieldInfo | undefined;
  print: (unit: string) => ComponentChildren;
}) {
  const { id, name } = useReferred(props.field, props.unit);
  if (id !== null && name === undefined) return <SkeletonWord />;
  return <>{props.print(name ?? String(props.unit ?? ""))}</>;
}
