import type { Cell } from "./check-cells.ts";
import type { Field } from "../model/field.ts";
import { convertAmount, convertibleUnits, findUnit, isConvertible, unitSymbol } from "../model/unit.ts";

/** Values of cells as people write them: days in many forms, amounts with units, words for nothing. */

/** Whether the day or the month comes first where a date does not say so. */
export const DAY_ORDERS = ["day", "month"] as const;
export type DayOrder = (typeof DAY_ORDERS)[number];

/** How the cells of a file are read, besides its columns. */
export interface Reading {
  dates: DayOrder;
  /** Unit of amounts that have none; "" to leave it open. */
  unit: string;
}

/** An error of a cell, with texts that would be valid instead; "" empties the cell. */
export interface Misread {
  message: string;
  fixes: string[];
}

type Read<T> = { value: T } | Misread;

/** Characters of the longest date or amount that is read. */
const LONGEST = 100;
const NOTHING = /^(?:n\/?a\.?|[-–—?]+|none|nil|unknown)$/i;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH_NAMES = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
/** Days of the serial number of spreadsheets (1900 date system): 1 Jan 1982 to 31 Dec 2099. */
const SERIAL = { first: 29_952, last: 73_050, epoch: Date.UTC(1899, 11, 30) };
const DAY_MS = 86_400_000;
/** Two-digit years below it are of this century. */
const CENTURY = 70;

const toYear = (text: string): number => {
  const year = Number(text);
  return text.length > 2 ? year : year + (year < CENTURY ? 2000 : 1900);
};
const daysOf = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();
const toIso = (year: number, month: number, day: number): string =>
  new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);

/** Spreadsheets add midnight to days. */
const withoutTime = (text: string): string => text.trim().replace(/[ T]+\d{1,2}:\d{2}(?::\d{2}.*)?$/, "");

/** Year, month and day of a text; without a day, 0; undefined if it is no date. */
function dateParts(text: string, order: DayOrder): [number, number, number] | undefined {
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?$/.exec(text);
  if (iso) return [Number(iso[1]), Number(iso[2]), Number(iso[3])];
  const numeric = /^(\d{1,2})[-/. ]+(\d{1,2})[-/. ]+(\d{4}|\d{2})$/.exec(text);
  if (numeric) {
    const [first, second] = [Number(numeric[1]), Number(numeric[2])];
    const isDayFirst = second > 12 ? false : first > 12 || order === "day";
    return [toYear(numeric[3]), isDayFirst ? second : first, isDayFirst ? first : second];
  }
  const monthly = /^(\d{1,2})[-/.](\d{4})$/.exec(text) ?? /^(\d{4})-(\d{1,2})$/.exec(text);
  if (monthly) {
    const [year, month] = monthly[1].length > 2 ? [monthly[1], monthly[2]] : [monthly[2], monthly[1]];
    return [Number(year), Number(month), 0];
  }
  return namedParts(text);
}

/** Parts of a date with the name of a month: 31 Dec 2027, Dec 31, 2027, Dec-2027. */
function namedParts(text: string): [number, number, number] | undefined {
  const named =
    /^(?:(\d{1,2})(?:st|nd|rd|th)?[-. ]*)?([a-z]{3,9})\.?[-., ]*(?:(\d{1,2})(?:st|nd|rd|th)?,? +)?(\d{4}|'?\d{2})$/i.exec(
      text,
    );
  if (!named) return undefined;
  const word = named[2].toLowerCase();
  const month = MONTHS.indexOf(word.slice(0, 3)) + 1;
  if (month === 0 || !MONTH_NAMES[month - 1].toLowerCase().startsWith(word.replace(/^sept$/, "sep")))
    return undefined;
  return [toYear(named[4].replace("'", "")), month, Number(named[1] ?? named[3] ?? 0)];
}

/**
 * The day that a cell names, as ISO 8601. A month alone is its last day where something ends then, and its first
 * otherwise.
 */
export function readDay(cell: Cell, order: DayOrder, ends: boolean): Read<string> {
  const text = withoutTime(String(cell));
  const serial = /^\d{5}(?:\.\d+)?$/.test(text) ? Math.floor(Number(text)) : 0;
  if (serial >= SERIAL.first && serial <= SERIAL.last)
    return { value: new Date(SERIAL.epoch + serial * DAY_MS).toISOString().slice(0, 10) };
  const parts = text.length > LONGEST ? undefined : dateParts(text, order);
  if (!parts || parts[1] < 1 || parts[1] > 12)
    return { message: "Expected a date, such as 2027-12-31 or 31 Dec 2027.", fixes: [""] };
  const [year, month, day] = parts;
  const last = daysOf(year, month);
  if (day === 0) return { value: toIso(year, month, ends ? last : 1) };
  if (day <= last) return { value: toIso(year, month, day) };
  return {
    message: `${MONTH_NAMES[month - 1]} ${year} has ${last} days.`,
    fixes: [toIso(year, month, last), ""],
  };
}

/** A decimal number with a point or a comma. `1,500` is refused: it may be 1500 or 1.5. */
export function readNumber(text: string): Read<number> {
  const plain = text.replaceAll(/[\s'’_]/g, "");
  const refused = { message: "A valid number is required.", fixes: [] };
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(plain)) return { value: Number(plain) };
  if (/^[+-]?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))$/.test(plain))
    return { value: Number(plain.replace(",", ".")) };
  if (/^[+-]?\d{1,3}(?:,\d{3})+\.\d+$/.test(plain) || /^[+-]?\d{1,3}(?:,\d{3}){2,}$/.test(plain))
    return { value: Number(plain.replaceAll(",", "")) };
  if (/^[+-]?\d{1,3}(?:\.\d{3})+,\d+$/.test(plain))
    return { value: Number(plain.replaceAll(".", "").replace(",", ".")) };
  if (!/^[+-]?\d{1,3},\d{3}$/.test(plain)) return refused;
  const fixes = [plain.replace(",", ""), String(Number(plain.replace(",", ".")))];
  return { message: `${text} may be ${fixes.join(" or ")}.`, fixes };
}

/** Number and unit of a cell such as `100 µl`; the unit is "" if it has none. */
export function splitAmount(cell: Cell): { number: string; unit: string } {
  const text = String(cell).trim();
  const [, number, unit = ""] =
    (text.length > LONGEST
      ? null
      : /^(?:[~≈]|ca\.?|approx\.?)?\s*([+-]?[\d.,'’ ]*\d\.?(?:e[+-]?\d+)?)\s*(\D.*)?$/i.exec(text)) ?? [];
  return number === undefined ? { number: text, unit: "" } : { number, unit: unit.trim() };
}

const CURRENCIES: Readonly<Record<string, string>> = { "€": "EUR", $: "USD", "£": "GBP", "¥": "JPY" };

type Cells = Map<string, Cell>;
type Fields = Readonly<Record<string, Field>>;
export type Errors = Map<string, Misread>;

/** True if a field is a number that a unit completes. */
export const isAmount = ({ kind, form }: Field): boolean => kind === "number" && form?.suffix === "unit";

/**
 * Replaces the cells of a row by the values that they mean, those that another field completes with it: `100 µl` gives
 * amount and unit.
 * @param units units in the headers, by field
 */
export function readCells(
  cells: Cells,
  fields: Fields,
  reading: Reading,
  units: ReadonlyMap<string, string>,
): Errors {
  const errors: Errors = new Map();
  for (const [name, cell] of cells) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field || cell === null || cell === "" || typeof cell === "boolean") continue;
    if (isNothing(field, cell)) cells.set(name, null);
    else if (field.day)
      keep(readDay(cell, reading.dates, field.form?.look === "expiry"), name, cells, errors);
    else if (field.kind === "number") readAmount(cells, name, field, { reading, units, errors });
  }
  return errors;
}

/** True if a cell says that there is no value. Texts may be words such as none. */
function isNothing({ day, kind }: Field, cell: Cell): boolean {
  const text = String(cell).trim();
  return day || kind === "number" || kind === "reference" ? NOTHING.test(text) : /^n\/a$/i.test(text);
}

function keep(read: Read<Cell>, name: string, cells: Cells, errors: Errors): void {
  if ("value" in read) cells.set(name, read.value);
  else errors.set(name, read);
}

interface AmountContext {
  reading: Reading;
  units: ReadonlyMap<string, string>;
  errors: Errors;
}

/** Reads a number, and a unit or currency that stands with it. */
function readAmount(cells: Cells, name: string, field: Field, context: AmountContext): void {
  const { form: { suffix } = {} } = field;
  const [, before = "", rest] = /^(\p{Sc}|[A-Z]{3}(?= ))?\s*(.*)$/su.exec(String(cells.get(name)))!;
  const split = suffix === undefined ? { number: rest, unit: "" } : splitAmount(rest);
  const read = readNumber(split.number);
  keep(read, name, cells, context.errors);
  if ("message" in read || suffix === undefined) return;
  const written = split.unit || before;
  const own = String(cells.get(suffix) ?? "").trim();
  if (isAmount(field)) readUnit(cells, name, { value: read.value, written, own }, context);
  else if (written && own === "") cells.set(suffix, CURRENCIES[written] ?? written.toUpperCase());
}

/** Gives the amount the unit that was written with it, in its header or for the file; an own column converts it. */
function readUnit(
  cells: Cells,
  name: string,
  { value, written, own }: { value: number; written: string; own: string },
  { reading, units, errors }: AmountContext,
): void {
  if (written && !findUnit(written) && written !== own) {
    const known = convertibleUnits("mL").concat(convertibleUnits("mg")).join(", ");
    const message = `${written} is not a unit. Write one such as ${known}.`;
    errors.set(name, { message, fixes: [String(value)] });
    return;
  }
  const unit = written || units.get(name) || own || reading.unit;
  if (own === "" && unit) cells.set("unit", unitSymbol(unit));
  if (own === "") return;
  const converted = isConvertible(unit, own) ? convertAmount({ value, unit }, own) : undefined;
  if (converted !== undefined) cells.set(name, converted);
  else
    errors.set(name, { message: `${unitSymbol(unit)} does not convert into ${unitSymbol(own)}.`, fixes: [] });
}

/** Facts about the cells of a file that its columns do not say. */
export class Survey {
  /** Dates of which only one order is possible, by the order. */
  readonly #orders: Record<DayOrder, number> = { day: 0, month: 0 };
  /** A date that may be read in both orders. */
  example: string | null = null;
  /** Times that each unit stands behind an amount. */
  readonly #units = new Map<string, number>();
  /** Whether an amount has no unit. */
  lacksUnit = false;

  /** @param suffix the cell that completes it */
  add(field: Field, cell: Cell, suffix: Cell): void {
    if (cell === null || cell === "") return;
    if (field.day) this.#addDate(withoutTime(String(cell)));
    else if (isAmount(field) && (suffix === null || suffix === "")) {
      const { number, unit } = splitAmount(cell);
      const symbol = findUnit(unit)?.symbol;
      if (symbol) this.#units.set(symbol, (this.#units.get(symbol) ?? 0) + 1);
      else if (unit === "" && "value" in readNumber(number)) this.lacksUnit = true;
    }
  }

  #addDate(text: string): void {
    const [, first, second] =
      /^(\d{1,2})[-/. ]+(\d{1,2})[-/. ]+(?:\d{4}|\d{2})$/.exec(text)?.map(Number) ?? [];
    if (first === undefined) return;
    if (first > 12 && second <= 12) this.#orders.day++;
    else if (second > 12 && first <= 12) this.#orders.month++;
    else if (first !== second) this.example ??= text;
  }

  /** The order of most dates that tell it; the day first, if none does. */
  get order(): DayOrder {
    return this.#orders.month > this.#orders.day ? "month" : "day";
  }

  /** The unit of most amounts; "" if none has one. */
  get unit(): string {
    return [...this.#units].reduce((best, each) => (each[1] > best[1] ? each : best), ["", 0] as const)[0];
  }
}
