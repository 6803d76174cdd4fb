import type { Actor } from "../model/access.ts";
import type { Json } from "../model/field.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Statements } from "../records/statements.ts";
import { encodeSymbol, qrMatrix } from "../../platform/qr-code.ts";

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
function placesOf({ fields }: RoutedResource): string[] {
  if (fields.location?.to === "location")
    return [
      "location__equipment__name",
      "location__parent__label",
      "location__label",
      ...("position" in fields ? ["position"] : []),
    ];
  if ("parent" in fields && "equipment" in fields) return ["place__name", "equipment__name", "parent__label"];
  return "place" in fields ? ["place__name"] : [];
}

/** Labels for records that the actor may view. `page`: URL to which the code of a record is appended. */
export function labelsOf(
  source: { reader: RecordReader; statements: Statements; tables: readonly string[] },
  resource: RoutedResource,
  rids: readonly number[],
  actor: Actor,
  page: string,
): Label[] {
  const places = placesOf(resource);
  const own = ["barcode", "model_type"].filter((name) => name in resource.fields);
  const fields = ["id", resource.key, ...own, ...places];
  const text = (value: Json | undefined): string => String(value ?? "").trim();
  return source.reader.values(resource, fields, actor, rids).map((record) => {
    const short = shortCode(source.statements, source.tables, String(record.id));
    const barcode = text(record.barcode);
    const where = new Set(places.map((name) => text(record[name])).filter(Boolean));
    const type = text(record.model_type).replaceAll("_", " ").toLowerCase();
    return {
      name: text(record[resource.key]) || "(unnamed)",
      about: [type, [...where].join(" › ")].filter(Boolean).join(" · "),
      code: barcode || short,
      bars: fitsCode128(barcode) ? barcode : short.replaceAll("-", ""),
      address: page + short,
    };
  });
}

export type Symbology = "qr" | "code128";

/** Modules of quiet zone on each side: ISO/IEC 18004, section 6.3.8, and ISO/IEC 15417, section 4.2. */
export const QUIET = { qr: 4, code128: 10 } as const;

/** Widths of bars and spaces in modules, starting with a bar. */
export const code128Widths = (text: string): readonly number[] =>
  encodeSymbol({ bcid: "code128", text }).sbs!;

/** Whether Code 128 can hold the text without escapes. */
export const fitsCode128 = (text: string): boolean => /^[\x20-\x7e]{1,48}$/.test(text);

/** Known widths of symbols: encoding one takes longer than printing the rest of a label. */
const WIDTHS = { qr: new WeakMap<Label, number>(), code128: new WeakMap<Label, number>() };

/** Width of the symbol of a label, in modules, without quiet zones. */
export function modulesOf(label: Label, symbol: Symbology): number {
  const known = WIDTHS[symbol].get(label);
  if (known !== undefined) return known;
  const width =
    symbol === "qr"
      ? qrMatrix(label.address).size
      : code128Widths(label.bars).reduce((sum, each) => sum + each, 0);
  WIDTHS[symbol].set(label, width);
  return width;
}

/** Maximum module width in millimetres. */
const WIDEST = { qr: 0.7, code128: 0.5 };

/**
 * Width of a module on a label, in millimetres: as wide as the label allows with quiet zones and, beside a QR code, room
 * for text.
 */
export function moduleOn(label: { width: number; height: number }, symbol: Symbology, count: number): number {
  const whole = count + 2 * QUIET[symbol];
  const room = symbol === "qr" ? Math.min(label.height, label.width * 0.55) : label.width;
  return Math.min(room / whole, WIDEST[symbol]);
}
