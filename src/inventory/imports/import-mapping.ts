import { Type } from "typebox";
import type { Cell } from "./check-cells.ts";
import { namesAnnotation } from "../model/annotation-filter.ts";
import { annotationName, findAnnotation } from "../model/annotation-type.ts";
import { type AnnotationType, type Resource, type Resources, findTarget } from "../model/resource.ts";
import { type Field, type Json, shownName } from "../model/field.ts";
import { nullable } from "../../platform/schema.ts";
import { nearest } from "../../problem.ts";

/** The target of a column of a file: a field of the record, `id`, or `path` of a location; null if ignored. */
export const COLUMN = Type.Object(
  { header: Type.String(), field: nullable(Type.String()) },
  { $id: "ImportedColumn" },
);
export type Column = Type.Static<typeof COLUMN>;

/** An invalid cell: row number and header as the spreadsheet shows them. */
export const CELL_ERROR = Type.Object(
  {
    row: Type.Integer(),
    column: nullable(Type.String()),
    message: Type.String(),
  },
  { $id: "CellError" },
);
export type CellError = Type.Static<typeof CELL_ERROR>;

/** The path to a location from the outermost one: `A / 2 / Room 5 / Freezer 1 / Shelf 3`. */
export const PATH = "path";

/** Fields that a file can set, in the order of the columns of a template. */
export const writableFields = (resource: Resource): [string, Field][] =>
  Object.entries(resource.fields).filter(([, field]) => field.write !== "never");

/**
 * Interprets headers: names of fields (ignoring case and blanks), `id`, `<reference>_id`, `<reference>__<name>`,
 * `annotations__<type>`, names of annotation types, and labels that are no names, of fields that no other header names; read-only fields are ignored. `mapping` renames headers, or ignores a column with null.
 */
export function readColumns(
  resources: Resources,
  resource: Resource,
  headers: readonly string[],
  mapping: ReadonlyMap<string, string | null>,
): { columns: Column[]; errors: CellError[] } {
  const errors: CellError[] = [];
  const taken = new Set<string>();
  const own =
    resource.annotations?.used().map((type) => (type.unique ? type.name : annotationName(type))) ?? [];
  const known = [...writableFields(resource).map(([name]) => name), "id", ...own];
  const named = new Set(headers.map(normalizeHeader));
  const labels = writableFields(resource).flatMap(([name, { form }]): [string, string][] => {
    const label = form?.label === undefined ? undefined : normalizeHeader(form.label);
    return label === undefined || known.includes(label) || named.has(name) ? [] : [[label, name]];
  });
  const columns = headers.map((whole): Column => {
    const header = shortenName(whole);
    const mapped = [whole, header].find((name) => mapping.has(name));
    const name = mapped === undefined ? whole : mapping.get(mapped)!;
    const field =
      name === null || name === ""
        ? null
        : (new Map(labels).get(normalizeHeader(name)) ?? findField(resources, resource, name));
    if (field === null) return { header, field };
    if (field === undefined) {
      const near = nearest(normalizeHeader(name!).replace(/^annotations__/, ""), known);
      const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
      const message = `${shownName(name!)} is not a field of ${resource.name}.${hint} Choices: ${known.join(", ")}.`;
      errors.push({ row: 1, column: header, message });
      return { header, field: null };
    }
    if (taken.has(field))
      errors.push({ row: 1, column: header, message: `There is already another column for ${field}.` });
    taken.add(field);
    return { header, field };
  });
  return { columns, errors };
}

const normalizeHeader = (header: string): string =>
  header
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");

/** Characters of a header in a report. */
const SHOWN = 200;

const shortenName = (header: string): string =>
  header.length > SHOWN ? `${header.slice(0, SHOWN).toWellFormed()}…` : header;

/** Name of the field; null if it is read-only, undefined if there is none. */
function findField(resources: Resources, resource: Resource, header: string): string | null | undefined {
  const { fields } = resource;
  if (namesAnnotation(resource, header.trim())) {
    const named = findAnnotation(resource, header.trim());
    return "type" in named && named.rest.length === 0 ? header.trim() : undefined;
  }
  const name = normalizeHeader(header);
  if (name === "id") return name;
  if (name === PATH && resource.name === "location") return name;
  const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (known && known.shown !== "internal") return known.write === "never" ? null : name;
  const reference = findReference(resources, resource, name);
  return reference === undefined ? matchAnnotation(resource, header.trim()) : reference;
}

/** The annotation type that a header names without more, where there is one of the name. */
function matchAnnotation(resource: Resource, header: string): string | undefined {
  const { annotations } = resource;
  if (header === "" || !annotations) return undefined;
  const named = annotations.find(header);
  // As with fields, case and blanks do not matter.
  const found =
    named.length > 0
      ? named
      : annotations.offered().filter(({ name }) => normalizeHeader(name) === normalizeHeader(header));
  return found.length === 1 ? annotationName(found[0]) : undefined;
}

/** The reference that `<reference>_id` or `<reference>__<name>` names, as above. */
function findReference(resources: Resources, { fields }: Resource, name: string): string | null | undefined {
  const [own, rest, ...more] =
    name.endsWith("_id") && !name.includes("__") ? [name.slice(0, -"_id".length), "id"] : name.split("__");
  const field = Object.hasOwn(fields, own) ? fields[own] : undefined;
  if (field?.kind !== "reference" || more.length > 0) return undefined;
  const far = findTarget(resources, field);
  if (rest !== "id" && rest !== far.key) return Object.hasOwn(far.fields, rest) ? null : undefined;
  return field.write === "never" ? null : own;
}

/** The value of a cell in a body; undefined to leave the field alone. An empty cell clears the field of an existing record. */
export function cellValue(field: Field, cell: Cell, isNew: boolean): { value?: Json; error?: string } {
  if (cell === null || cell === "") {
    if (isNew) return {};
    if (field.nullable) return { value: null };
    return field.kind === "text" ? { value: "" } : {};
  }
  if (field.kind !== "json") return { value: field.kind === "text" ? String(cell) : cell };
  return parsedCell(cell);
}

/** The value of an annotation in a cell. Only types that have several values take a list. */
export function annotationCellValue(
  { type, multiple }: AnnotationType,
  cell: Cell,
): { value?: Json; error?: string } {
  if (cell === null || cell === "") return { value: null };
  const isList = multiple && typeof cell === "string" && cell.trim().startsWith("[");
  if (isList || type === "JSON" || type === "DMAPPANNOTATION") return parsedCell(cell);
  // Spreadsheets store days as times.
  return {
    value: type === "DATE" && typeof cell === "string" ? cell.replace(/T00:00:00(\.0+)?Z$/, "") : cell,
  };
}

function parsedCell(cell: Cell): { value?: Json; error?: string } {
  try {
    return { value: JSON.parse(String(cell)) as Json };
  } catch {
    return { error: "Expected JSON." };
  }
}

/** A cell as the value of the field is written: constants may be in words. */
export const normalizeSpelling = (cell: Cell, { pattern }: Field): Cell =>
  pattern?.parseWords && typeof cell === "string" ? pattern.parseWords(cell) : cell;

/** True if a cell holds what an export of the value holds. */
export function isUnchanged(cell: Cell, value: Json): boolean {
  const exported = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return String(cell ?? "") === exported;
}
