import type { Cell } from "./import-file.ts";
import { type Field, type Json, quoted } from "../model/field.ts";
import { type Resource, type Resources, targetOf } from "../model/resource.ts";
import { nearest } from "../../problem.ts";

/** What a column of a file is for. */
export interface Column {
  header: string;
  /** Field of the record; `id`, or `path` of a location; null where the column is left out. */
  field: string | null;
}

/** A verdict on one cell: the row and the header as the spreadsheet shows them. */
export interface Verdict {
  row: number;
  column: string | null;
  message: string;
}

/** The way to a location, from the outermost: `A / 2 / Room 5 / Freezer 1 / Shelf 3`. */
export const PATH = "path";

/** Fields of a record that a file can give, and the order of the columns of a template. */
export const writableFields = (resource: Resource): [string, Field][] =>
  Object.entries(resource.fields).filter(([, field]) => field.write !== "never");

/**
 * The columns by their headers: names of fields (case and blanks do not matter), `id`, `<reference>_id` and
 * `<reference>__<name>`; what can only be read is left out. `mapping` renames headers, or leaves one out with null.
 */
export function readColumns(
  resources: Resources,
  resource: Resource,
  headers: readonly string[],
  mapping: ReadonlyMap<string, string | null>,
): { columns: Column[]; verdicts: Verdict[] } {
  const verdicts: Verdict[] = [];
  const taken = new Set<string>();
  const columns = headers.map((header): Column => {
    const named = mapping.has(header) ? mapping.get(header)! : header;
    if (named === null || named === "") return { header, field: null };
    const field = fieldOf(resources, resource, named);
    if (field === undefined) {
      const known = [...writableFields(resource).map(([name]) => name), "id"];
      const near = nearest(named, known);
      const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
      verdicts.push({
        row: 1,
        column: header,
        message: `${quoted(named)} is not a field of ${resource.name}.${hint} Choices: ${known.join(", ")}.`,
      });
      return { header, field: null };
    }
    if (field !== null && taken.has(field))
      verdicts.push({ row: 1, column: header, message: `Another column is for ${field} already.` });
    if (field !== null) taken.add(field);
    return { header, field };
  });
  return { columns, verdicts };
}

/** Name of the field; null where it is only to be read; undefined where there is none. */
function fieldOf(resources: Resources, resource: Resource, header: string): string | null | undefined {
  const name = header
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  if (name === "id") return resource.fields.id.kind === "uuid" ? name : null;
  if (name === PATH && resource.name === "location") return name;
  const known = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined;
  if (known && known.shown !== "internal") return known.write === "never" ? null : name;
  const [own, rest, ...more] =
    name.endsWith("_id") && !name.includes("__") ? [name.slice(0, -"_id".length), "id"] : name.split("__");
  const field = Object.hasOwn(resource.fields, own) ? resource.fields[own] : undefined;
  if (field?.kind !== "reference" || more.length > 0) return undefined;
  const far = targetOf(resources, field);
  if (rest !== "id" && rest !== far.key) return Object.hasOwn(far.fields, rest) ? null : undefined;
  return field.write === "never" ? null : own;
}

/** What a cell means in a body; undefined where it says nothing. An empty cell empties a field of a record that is there. */
export function cellValue(field: Field, cell: Cell, isNew: boolean): { value?: Json; error?: string } {
  const empty = cell === null || cell === "";
  if (empty) {
    if (isNew) return {};
    if (field.nullable) return { value: null };
    return field.kind === "text" ? { value: "" } : {};
  }
  if (field.kind !== "json") return { value: field.kind === "text" ? String(cell) : cell };
  try {
    return { value: JSON.parse(String(cell)) as Json };
  } catch {
    return { error: "Expected JSON." };
  }
}

/** Whether a cell says what a record says already: as the export of it would. */
export function saysTheSame(cell: Cell, value: Json): boolean {
  const plain = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return String(cell ?? "") === plain;
}
