import type { Actor } from "../model/access.ts";
import type { Json } from "../model/field.ts";
import { columnName } from "../model/resource.ts";
import type { RecordReader } from "../records/record-reader.ts";
import { IN_TREE } from "../records/tree-fields.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import type { Statements } from "../records/statements.ts";
import { STEP } from "../records/unique-path.ts";

export interface Label {
  name: string;
  /** Type and whole path of the place; may be empty. */
  about: string;
  /** The code as text, for people to read and type. */
  code: string;
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

/** Labels for records that the actor may view. `page`: URL to which the code of a record is appended. */
export function makeLabels(
  source: Source,
  resource: RoutedResource,
  rids: readonly number[],
  actor: Actor,
  page: string,
): Label[] {
  const around = placesAround(source, resource, rids, actor);
  const own = ["barcode", "model_type", "position"].filter((name) => name in resource.fields);
  const fields = ["id", resource.key, ...own];
  const text = (value: Json | undefined): string => String(value ?? "").trim();
  return source.reader.values(resource, fields, actor, rids).map((record, i) => {
    const short = shortCode(source.statements, source.tables, String(record.id));
    const barcode = text(record.barcode);
    const where = [...around(rids[i]), text(record.position)].filter(Boolean);
    const type = text(record.model_type).replaceAll("_", " ").toLowerCase();
    return {
      name: text(record[resource.key]) || "(unnamed)",
      about: [type, where.join(STEP)].filter(Boolean).join(" · "),
      code: barcode || short,
      bars: fitsCode128(barcode) ? barcode : short.replaceAll("-", ""),
      address: page + short,
    };
  });
}

/** True if Code 128 can hold the text without escapes. */
const fitsCode128 = (text: string): boolean => /^[\x20-\x7e]{1,48}$/.test(text);
