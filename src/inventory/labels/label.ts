import { type Actor } from "../model/access.ts";
import type { Json } from "../model/field.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Statements } from "../records/statements.ts";
import { fitsCode128 } from "./symbol.ts";

/** What one label says. */
export interface Label {
  name: string;
  /** Kind, and where it is; may be empty. */
  about: string;
  /** In plain text, for people and for keyboards. */
  code: string;
  /** What Code 128 holds. */
  bars: string;
  /** What a QR code holds: an address at which the record opens. */
  address: string;
}

/** Digits of an id that a label has: no two of a million records share them but by a chance of 1 in 500. */
const DIGITS = 12;

/** The first digits of an id; the whole id where another record begins with them. */
function shortCode(statements: Statements, tables: readonly string[], id: string): string {
  const short = id.slice(0, DIGITS + 1);
  const found = tables.reduce((sum, table) => {
    const text = `SELECT count(*) AS total FROM (SELECT 1 FROM ${table} WHERE id >= ? AND id < ? LIMIT 2)`;
    return sum + Number(statements.get({ text, args: [short, `${short}g`] })?.total);
  }, 0);
  return found > 1 ? id : short;
}

/** Spans that tell where records of a list are, from the outside in. */
function placesOf(resource: RoutedResource): string[] {
  if (resource.fields.location?.to === "location")
    return ["location__equipment__name", "location__parent__label", "location__label"];
  if ("parent" in resource.fields && "equipment" in resource.fields)
    return ["place__name", "equipment__name", "parent__label"];
  return "place" in resource.fields ? ["place__name"] : [];
}

/** Labels of records that the actor may view, in their order. `page`: begins the address of a record's code. */
export function labelsOf(
  source: { reading: RecordReader; statements: Statements; tables: readonly string[] },
  resource: RoutedResource,
  rids: readonly number[],
  actor: Actor,
  page: string,
): Label[] {
  const places = placesOf(resource);
  const own = ["barcode", "model_type"].filter((name) => name in resource.fields);
  const look = {
    format: undefined,
    shape: "flat",
    fields: ["id", resource.key, ...own, ...places],
  } as const;
  const around = { base: "", format: undefined };
  const { values } = source.reading.records(resource, look, actor, rids, around);
  return values.map((record) => {
    const text = (value: Json | undefined): string => (value === null ? "" : String(value ?? "").trim());
    const short = shortCode(source.statements, source.tables, String(record.id));
    const barcode = text(record.barcode);
    const where = places.map((name) => text(record[name])).filter((name) => name !== "");
    const kind = text(record.model_type).replaceAll("_", " ").toLowerCase();
    return {
      name: text(record[resource.key]) || "(without a name)",
      about: [kind, [...new Set(where)].join(" › ")].filter((part) => part !== "").join(" · "),
      code: barcode || short,
      bars: fitsCode128(barcode) ? barcode : short.replaceAll("-", ""),
      address: page + short,
    };
  });
}
