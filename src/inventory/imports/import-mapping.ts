import { Type } from "typebox";
import type { Cell } from "./check-cells.ts";
import { namesAnnotation } from "../model/annotation-filter.ts";
import { annotationName, findAnnotation } from "../model/annotation-type.ts";
import { type AnnotationType, type Resource, type Resources, findTarget } from "../model/resource.ts";
import { type Field, type Json, shownName } from "../model/field.ts";
import { findUnit } from "../model/unit.ts";
import { nullable } from "../../platform/schema.ts";
import { nearest } from "../../problem.ts";

/** The target of a column of a file: a field of the record, `id`, or `path` of a location; null if ignored. */
export const COLUMN = Type.Object(
  {
    header: Type.String(),
    field: nullable(Type.String()),
    source: Type.Enum(["same", "guessed", "chosen", "none"], {
      description:
        "Why: the header is the name or title, is like one, or is in `mapping`; or no field is like it.",
    }),
  },
  { $id: "ImportedColumn" },
);
export type Column = Type.Static<typeof COLUMN>;

/** An invalid cell: row number and header as the spreadsheet shows them. */
export const CELL_ERROR = Type.Object(
  {
    row: Type.Integer(),
    column: nullable(Type.String()),
    message: Type.String(),
    fixes: Type.Optional(Type.Array(Type.String(), { description: "Texts that would be valid." })),
  },
  { $id: "CellError" },
);
export type CellError = Type.Static<typeof CELL_ERROR>;

/** The path to a location from the outermost one: `A / 2 / Room 5 / Freezer 1 / Shelf 3`. */
export const PATH = "path";

/** A note of the record, as the target of a column. */
export const NOTES = "notes";
const NOTE_TITLES = ["note", "comments", "comment", "remarks", "remark"];

/** Fields that a file can set, in the order of the columns of a template. */
export const writableFields = (resource: Resource): [string, Field][] =>
  Object.entries(resource.fields).filter(([, { write, shown }]) => write !== "never" && shown !== "internal");

/**
 * Interprets headers: names of fields (ignoring case and blanks), `id`, `<reference>_id`, `<reference>__<name>`,
 * `annotations__<type>`, names of annotation types, and labels that are no names, of fields that no other header names; read-only fields are ignored. `mapping` renames headers, or ignores a column with null.
 * Other headers are guessed by synonyms and the beginnings of names, unless `guesses` is false.
 */
export function readColumns(
  resources: Resources,
  resource: Resource,
  headers: readonly string[],
  mapping: ReadonlyMap<string, string | null>,
  guesses = true,
): { columns: Column[]; errors: CellError[] } {
  const errors: CellError[] = [];
  const taken = new Set<string>();
  const known = knownNames(resource);
  const named = new Set(headers.map(normalizeHeader));
  const labels = writableFields(resource).flatMap(([name, { form }]): [string, string][] => {
    const label = form?.label === undefined ? undefined : normalizeHeader(form.label);
    return label === undefined || known.includes(label) || named.has(name) ? [] : [[label, name]];
  });
  const columns = headers.map((whole): Column => {
    const header = shortenName(whole);
    const mapped = [whole, header].find((name) => mapping.has(name));
    const name = mapped === undefined ? whole : mapping.get(mapped)!;
    const source = mapped === undefined ? "same" : "chosen";
    const isIgnored =
      name === null || name === "" || (mapped === undefined && normalizeHeader(name) === REASON);
    const field = isIgnored
      ? null
      : (new Map(labels).get(normalizeHeader(name)) ?? findField(resources, resource, name));
    if (field === null) return { header, field, source };
    if (field === undefined && mapped === undefined) return { header, field: null, source: "none" };
    if (field === undefined) {
      errors.push({ row: 1, column: header, message: describeUnknown(resource, name!, known) });
      return { header, field: null, source };
    }
    if (taken.has(field))
      errors.push({ row: 1, column: header, message: `There is already another column for ${field}.` });
    taken.add(field);
    return { header, field, source };
  });
  return { columns: guesses ? guessColumns(resource, columns) : columns, errors };
}

/** The errors of headers that no field is like. */
export function unknownColumns(resource: Resource, columns: readonly Column[]): CellError[] {
  const known = knownNames(resource);
  return columns
    .filter(({ source }) => source === "none")
    .map(({ header }) => ({ row: 1, column: header, message: describeUnknown(resource, header, known) }));
}

const knownNames = (resource: Resource): string[] => [
  ...writableFields(resource).map(([name]) => name),
  "id",
  ...(resource.annotations?.used() ?? []).map((type) => (type.unique ? type.name : annotationName(type))),
];

function describeUnknown({ name: list }: Resource, header: string, known: readonly string[]): string {
  const near = nearest(normalizeHeader(header).replace(/^annotations__/, ""), known);
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return `${shownName(header)} is not a field of ${list}.${hint} Choices: ${known.join(", ")}.`;
}

/** Letters that a header must share with the beginning of an annotation type's name. */
const SHARED_LETTERS = 4;

/**
 * Gives columns without a field the free ones that their headers are likely to mean: the best guess first, so that
 * `Comments` is the description only where no other column is.
 */
function guessColumns(resource: Resource, columns: Column[]): Column[] {
  const taken = new Set(columns.flatMap(({ field }) => field ?? []));
  const types = resource.annotations?.offered() ?? [];
  const choices = [
    ...writableFields(resource).flatMap(([field, { synonyms = "" }]) =>
      synonyms.split(",").map((text, rank) => ({ field, text: plainHeader(text), rank })),
    ),
    ...NOTE_TITLES.map((text) => ({ field: NOTES, text, rank: 0 })),
    ...types.map((type) => ({ field: annotationName(type), text: plainHeader(type.name), rank: 0 })),
  ];
  const guesses = columns.flatMap((column) => {
    if (column.source !== "none") return [];
    const header = plainHeader(column.header);
    return choices
      .filter(
        ({ field, text }) =>
          (text === header && header !== "") ||
          (namesAnnotation(resource, field) && header.length >= SHARED_LETTERS && text.startsWith(header)),
      )
      .map(({ field, rank }) => ({ column, field, rank }));
  });
  const guessed = new Map<Column, string>();
  for (const { column, field } of guesses.toSorted((a, b) => a.rank - b.rank)) {
    if (taken.has(field) || guessed.has(column)) continue;
    taken.add(field);
    guessed.set(column, field);
  }
  return columns.map((column) =>
    guessed.has(column) ? { ...column, field: guessed.get(column)!, source: "guessed" } : column,
  );
}

const IN_BRACKETS = /\s*[([]([^)\]]*)[)\]]\s*$/;

/** The words of a header without case, punctuation and a unit: `Lot No.` and `lot number` are `lot no`. */
const plainHeader = (header: string): string =>
  header
    .replace(IN_BRACKETS, "")
    .toLowerCase()
    .replaceAll(/#|№|\b(?:number|num|nr)\b/g, " no ")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** The unit in a header such as `Vol (µl)`; undefined if there is none. */
export function headerUnit(header: string): string | undefined {
  const named = IN_BRACKETS.exec(header)?.[1] ?? /\bin (\S+)$/i.exec(header.trim())?.[1];
  return named === undefined ? undefined : findUnit(named)?.symbol;
}

/** The header of the column that tells why a row was left out; imports ignore it. */
export const REASON = "reason";

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
  if (name === NOTES && !Object.hasOwn(fields, name)) return name;
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
