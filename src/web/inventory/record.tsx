import { href } from "../address.ts";
import { get } from "../request.ts";
import { api, type Declaration, type FieldInfo, pageOf } from "./declaration.ts";

/** Records as pages show them: read in the nested form, which names what is referred to. */

/** What a reference refers to. The name is null where the reader may not view it. */
export interface Far {
  id: string | number;
  name: string | null;
}
export type Value = string | number | boolean | null | Far | object;

export interface Row {
  id: string;
  /** How often it was written; what `If-Match` names. */
  version: number | undefined;
  mayChange: boolean;
  mayDelete: boolean;
  values: Readonly<Record<string, Value>>;
}

/** One page of a list. */
export interface Page {
  total: number;
  current: number;
  total_pages: number;
  rows: Row[];
}

/** Properties as objects; what a span leads to as it is. */
type Nested = Record<string, { value: Value; category: "property" } | Value>;

export function rowOf(nested: Nested): Row {
  const values: Record<string, Value> = {};
  for (const [name, property] of Object.entries(nested)) {
    const isProperty = property !== null && typeof property === "object" && "category" in property;
    values[name] = named(isProperty ? property.value : (property as Value));
  }
  const actions = (values.permissions as { actions?: { change?: boolean; delete?: boolean } } | null)
    ?.actions;
  return {
    id: String(values.id),
    version: typeof values.version === "number" ? values.version : undefined,
    mayChange: actions?.change === true,
    mayDelete: actions?.delete === true,
    values,
  };
}

/** Users are shown by their username. */
function named(value: Value): Value {
  if (value !== null && typeof value === "object" && "username" in value)
    return { id: String(value.username), name: String(value.username) };
  return value;
}

const ALWAYS = ["id", "version", "permissions"];

/** One page of a list, with these fields. @throws Refusal */
export async function readPage(
  { name, fields: declared, key }: Declaration,
  query: Record<string, string | readonly string[]>,
  fields: readonly string[],
  signal?: AbortSignal,
): Promise<Page> {
  const asked = [...new Set([...ALWAYS.filter((each) => each in declared), key, ...fields])];
  const body = await get<{ total: number; current: number; total_pages: number; results: Nested[] }>(
    api(name),
    { ...query, response_format: "nested", fields: asked.join(",") },
    signal,
  );
  const { total, current, total_pages } = body;
  return { total, current, total_pages, rows: body.results.map(rowOf) };
}

/** One record with all its fields. @throws Refusal */
export async function readRecord(segment: string, id: string, signal?: AbortSignal): Promise<Row> {
  const query = { response_format: "nested", fields: "*", deleted: "all" };
  return rowOf(await get<Nested>(api(segment, `${id}/`), query, signal));
}

export const isFar = (value: Value | undefined): value is Far =>
  value !== null && typeof value === "object" && "id" in value && "name" in value;

/** What a filter, or a body, takes for the value. */
export function sent(value: Value | undefined, field: FieldInfo): string {
  if (value === null || value === undefined) return "";
  if (isFar(value)) return String(field.reference?.printed === "key" ? value.name : value.id);
  return typeof value === "object" ? JSON.stringify(value, null, 1) : String(value);
}

/** A value as text, for titles, previews and comparisons. */
export function asText(value: Value | undefined): string {
  if (value === null || value === undefined || value === "") return "–";
  if (isFar(value)) return value.name ?? `${String(value.id).slice(0, 8)}…`;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The day and the time where the reader is, such as 2026-01-31 09:30. */
export function localTime(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toLocaleString("sv-SE").slice(0, 16);
}

/** A value in a table or on the page of a record. */
export function Shown({ value, field }: { value: Value | undefined; field: FieldInfo | undefined }) {
  if (value === null || value === undefined || value === "")
    return (
      <span class="muted">
        <span aria-hidden="true">–</span>
        <span class="unseen">none</span>
      </span>
    );
  if (isFar(value)) {
    const to = field?.reference;
    if (!to || to.printed === "key") return <>{asText(value)}</>;
    return <a href={href(pageOf(to.segment, String(value.id)))}>{asText(value)}</a>;
  }
  if (field?.kind === "instant")
    return (
      <time datetime={String(value)} title={String(value)}>
        {localTime(String(value))}
      </time>
    );
  if (typeof value === "object") return <code>{JSON.stringify(value)}</code>;
  return <>{asText(value)}</>;
}
