import type { Actor } from "../model/access.ts";
import type { Json } from "../model/field.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Statements } from "../records/statements.ts";
import { STEP } from "../records/unique-path.ts";

export interface Label {
  name: string;
  /** Type and place; may be empty. */
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

/** Spans that name where a record is, from the outermost. */
function placeFields({ fields }: RoutedResource): string[] {
  if (fields.location?.to === "location")
    return [
      "location__equipment__name",
      "location__parent__label",
      "location__unique_path",
      ...("position" in fields ? ["position"] : []),
    ];
  if ("parent" in fields && "equipment" in fields)
    return ["place__name", "equipment__name", "parent__unique_path"];
  return "place" in fields ? ["place__name"] : [];
}

/** Labels for records that the actor may view. `page`: URL to which the code of a record is appended. */
export function makeLabels(
  source: { reader: RecordReader; statements: Statements; tables: readonly string[] },
  resource: RoutedResource,
  rids: readonly number[],
  actor: Actor,
  page: string,
): Label[] {
  const places = placeFields(resource);
  const own = ["barcode", "model_type"].filter((name) => name in resource.fields);
  const fields = ["id", resource.key, ...own, ...places];
  const text = (value: Json | undefined): string => String(value ?? "").trim();
  return source.reader.values(resource, fields, actor, rids).map((record) => {
    const short = shortCode(source.statements, source.tables, String(record.id));
    const barcode = text(record.barcode);
    const steps = places.flatMap((name) => text(record[name]).split(STEP)).filter(Boolean);
    // The path, which comes last, may repeat the values before it.
    const where = steps.filter((step, i) => steps.lastIndexOf(step) === i);
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
