import type { Actor } from "../model/access.ts";
import { isObject, type Json } from "../model/field.ts";
import { makeLabel } from "../model/metadata.ts";
import { type AnnotationType, columnName, findTarget } from "../model/resource.ts";
import type { RecordReader } from "../records/record-reader.ts";
import { IN_TREE } from "../records/tree-fields.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import type { Statements } from "../records/statements.ts";
import { STEP } from "../records/unique-path.ts";

/** A line of text. A name is printed large and wrapped, a path loses its beginning where it is too long, a code nothing. */
export interface Line {
  as: "name" | "path" | "code" | "text";
  text: string;
}

export interface Label {
  name: string;
  lines: readonly Line[];
  /** Content of the Code 128 barcode. */
  bars: string;
  /** Content of the QR code: a URL that opens the record. */
  address: string;
}

/** Digits of an id on a label: two of a million records share them with a chance of 1 in 500. */
const DIGITS = 12;

/** The first digits of an id, or the whole id if another record shares them. */
function shortCode(statements: Statements, tables: readonly string[], id: string): string {
  const short = id.slice(0, DIGITS + 1);
  const found = tables.reduce((sum, table) => {
    const text = `SELECT count(*) AS total FROM (SELECT 1 FROM ${table} WHERE id >= ? AND id < ? LIMIT 2)`;
    return sum + Number(statements.get({ text, args: [short, `${short}g`] })?.total);
  }, 0);
  return found > 1 ? id : short;
}

type Source = { reader: RecordReader; statements: Statements; tables: readonly string[] };

/** Names of the places around records, from the outermost, by row number. */
function placesAround(
  { reader, statements }: Source,
  resource: RoutedResource,
  rids: readonly number[],
  actor: Actor,
): (rid: number) => readonly string[] {
  if (IN_TREE.includes(resource.name)) {
    const paths = reader.wholePaths(resource, rids, actor);
    return (rid) => paths.get(rid)!.slice(0, -1);
  }
  if (resource.fields.location?.to !== "location") return () => [];
  const text = `SELECT rid, ${columnName(resource, "location")} AS place FROM ${resource.table} WHERE rid IN (SELECT value FROM json_each(?))`;
  const rows = statements.all({ text, args: [JSON.stringify(rids)] });
  const places = new Map(rows.map(({ rid, place }) => [Number(rid), Number(place)]));
  const paths = reader.wholePaths(DECLARED.get("location")!, [...new Set(places.values())], actor);
  return (rid) => paths.get(places.get(rid)!) ?? [];
}

/** Names in the choice of lines that all lists have besides their fields. `barcode`: also where that is the beginning of the id. */
export const PARTS: readonly string[] = ["name", "path", "barcode"];

/** Fields that are printed besides the name, the type with the path, and the code, in their order with these. */
export interface Choice {
  names: readonly string[];
  annotations: ReadonlyMap<string, AnnotationType> | undefined;
}

/**
 * Labels for records that the actor may view. `page`: URL to which the code of a record is appended. `choice`: the lines;
 * by default the name, the type and the path of the place, and the code.
 */
export function makeLabels(
  source: Source,
  resource: RoutedResource,
  rids: readonly number[],
  { actor, page, choice }: { actor: Actor; page: string; choice: Choice | undefined },
): Label[] {
  const around = placesAround(source, resource, rids, actor);
  const own = ["barcode", "model_type", "position"].filter((name) => name in resource.fields);
  const chosen = (choice?.names ?? []).filter((name) => !PARTS.includes(name));
  const fields = ["id", resource.key, ...own, ...chosen.flatMap((name) => printedFields(resource, name))];
  return source.reader.values(resource, fields, actor, rids, choice?.annotations).map((record, i) => {
    const short = shortCode(source.statements, source.tables, String(record.id));
    const barcode = text(record.barcode);
    const type = text(record.model_type).replaceAll("_", " ").toLowerCase();
    const path = [...around(rids[i]), text(record.position)].filter(Boolean).join(STEP);
    const name = text(record[resource.key]) || "(unnamed)";
    const lines: Record<string, Line> = {
      name: { as: "name", text: name },
      path: { as: "path", text: path },
      about: { as: "path", text: [type, path].filter(Boolean).join(" · ") },
      model_type: { as: "text", text: type },
      barcode: { as: "code", text: barcode || short },
    };
    const names = choice?.names ?? ["name", "about", "barcode"];
    return {
      name,
      lines: names
        .map((each) => lines[each] ?? { as: "text", text: printField(resource, each, record, choice) })
        .filter((line) => line.text !== ""),
      bars: fitsCode128(barcode) ? barcode : short.replaceAll("-", ""),
      address: page + short,
    };
  });
}

const text = (value: Json | undefined): string =>
  (isObject(value) ? JSON.stringify(value) : String(value ?? "")).trim();

/** The values that the line of a field consists of: of a reference, the name; with an amount, its unit. */
function printedFields({ fields }: RoutedResource, name: string): string[] {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field?.kind === "reference") return [`${name}__${findTarget(DECLARED, field).key}`];
  const unit = field?.kind === "number" ? field.form?.suffix : undefined;
  return unit === undefined ? [name] : [name, `${unit}__label`];
}

/** `Expiry 2027-01-31`: without its title nobody would know what a date is about. */
function printField(
  resource: RoutedResource,
  name: string,
  record: Readonly<Record<string, Json>>,
  choice: Choice | undefined,
): string {
  const values = printedFields(resource, name).map((each) => record[each] ?? "");
  const shown = values.map((value) => (Array.isArray(value) ? value.map(text).join(", ") : text(value)));
  if (shown[0] === "") return "";
  const type = choice?.annotations?.get(name);
  const own = resource.fields[name]?.form?.label ?? makeLabel(name.replaceAll("__", " "));
  const title = type ? type.label || type.name : own;
  // Of a time, the day is enough.
  return `${title} ${shown.join(" ").trim()}`.replace(/(\d{4}-\d\d-\d\d)T[\d:.+Z]+$/, "$1");
}

/** True if Code 128 can hold the text without escapes. */
const fitsCode128 = (text: string): boolean => /^[\x20-\x7e]{1,48}$/.test(text);
