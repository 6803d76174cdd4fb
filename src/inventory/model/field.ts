import { type TSchema, Type } from "typebox";
import type { Json } from "../../platform/parse-json.ts";
import { quoted } from "../../platform/words.ts";

/** Shapes of values that are JSON or computed; declarations get them here. */
export { Type as Shape } from "typebox";
export { quoted };

/** A value as SQLite stores it: flags are 0 or 1, instants microseconds since 1970-01-01 UTC, JSON its text. */
export type Stored = string | number | null;

/** A value in a JSON body. */
export type { Json };

export type JsonObject = { [name: string]: Json };

export const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

export type KindName = "text" | "flag" | "integer" | "number" | "instant" | "uuid" | "json" | "reference";

/** The presentation of a field: its input, its place on pages, and the names of its values. */
export interface FieldForm {
  /** Label; by default the name of the field. */
  label?: string;
  /** Below the input; by default the description. */
  hint?: string;
  /** Heading of the section of the form, such as Stock; by default the first section. */
  group?: string;
  /** The field to the left of this field in forms. */
  beside?: string;
  /** The field that completes its value: the unit of an amount, the position in a location. Both stand together. */
  suffix?: string;
  /**
   * The part of a record's page that shows the field, by default the properties: the head, the cards of location,
   * stock, access or details, the picture of the box, or none.
   */
  shownIn?: "head" | "location" | "box" | "stock" | "lineage" | "access" | "details" | "none";
  /** The presentation of values, unless the kind determines it. */
  look?: "state" | "amount" | "expiry" | "code" | "link";
  /** Lists have it as a column only where it is chosen. */
  column?: false;
  /** Summaries of a record contain the field, such as the summary of a tube in a slot. */
  summary?: true;
  /** Few people need it: forms have it under "Advanced", with its name in requests. */
  advanced?: true;
  /** Other fields imply the value: forms leave the field out. */
  omitted?: true;
  /** Copies of a record do not copy the value. */
  copied?: false;
  /** Only administrators may change the field. */
  administrators?: true;
  /**
   * The field applies only if another field has one of these values; `required` then makes the form incomplete without
   * it.
   */
  when?: { field: string; values: readonly string[]; required?: true };
  /** Types of records whose forms ask for the field; forms of other known types have it under More fields. */
  types?: readonly string[];
  /** Place among the fields of the form. */
  order?: number;
  /** The text field that a machine name is made from. */
  derivedFrom?: string;
  /** Values in words, and a remark about each. Forms offer these. */
  words?: Readonly<Record<string, readonly [word: string, remark?: string]>>;
  /** Offers the choices as cards with a remark and an icon. */
  cards?: true;
  /** Words that are offered only if a record has the value already. */
  seldom?: readonly string[];
  /** Values that the name of a new record suggests if it contains them. */
  inNames?: readonly string[];
  /** The resource whose records have the values for ids, which are stored as plain text. */
  idsOf?: string;
  /** Pairs of value and label, or texts, each on a line. */
  lines?: "pairs" | "texts";
}

/** One property of a resource. Absent options are `undefined`; the constructors below fill in the defaults. */
export interface Field {
  kind: KindName | "computed";
  /** One sentence for the reference and OPTIONS. */
  doc: string;
  /** Column of the resource's table, if its name differs from that of the field. */
  column?: string;
  /** Column with the folded copy, for comparisons that ignore case. */
  folded?: string;
  /** Text: in the text index, so that words inside it are found without reading all records. */
  searchable?: true;
  /** always: in every record; extra: only where `fields` names it; internal: never leaves the program. */
  shown: "always" | "extra" | "internal";
  /** required: a new record must have it; optional; never: only the program sets it. */
  write: "required" | "optional" | "never";
  /** True if the value can be null. */
  nullable: boolean;
  /** Text: whether it may be empty. */
  blank?: boolean;
  /** Text: at most this many characters. */
  maxLength?: number;
  /** Text: what it must match, and the rule in words. `parseWords`: the value for words in a spreadsheet. */
  pattern?: { expression: RegExp; rule: string; parseWords?: (words: string) => string };
  /** Shown as `{"value": …}`, as LabID's client reads it; bodies may also contain the bare value. */
  wrapped?: true;
  /** Only for clients of LabID and actions: forms leave the field out. */
  forClients?: true;
  form?: FieldForm;
  /** Other titles of its column in spreadsheets, separated by commas, the likeliest first; without case and punctuation. */
  synonyms?: string;
  /** Reference: shown as a small object with id and name, except in files. */
  nested?: true;
  /** Instant: a day without a time, shown as such. */
  day?: true;
  /** Text: the only allowed values. */
  choices?: readonly string[];
  /** Default value of a new record. */
  initial?: Stored;
  /** Value of the example in the reference; by default the initial one. */
  example?: Json;
  /** No two records that the same caller may view may have the same value. */
  unique?: boolean;
  /** The validity of values depends on other records, or other records depend on the values. */
  dependent?: true;
  /** Reference: name of the resource it points to. */
  to?: string;
  /** Reference: puts the record into another, which takes the right to use that one. */
  places?: true;
  /** Reference: the record may be deleted later, as a tube that is used up while its aliquots are not. */
  outlived?: true;
  /** Reference to a term: imports create missing ones, in the first category of this kind. */
  imports?: "unit";
  /** JSON: the error in a value, or undefined. */
  check?: (value: Json) => string | undefined;
  /**
   * JSON: ids of records of this resource. Each caller gets the visible ones as objects with id and name; filters
   * follow it like a reference.
   */
  listOf?: string;
  /** Computed: the visible records of `resource` whose field refers to this record. */
  referring?: { resource: string; field: string };
  /** The value contains other records. Each caller gets the visible ones, and no filter reaches it as a value. */
  dependsOnCaller?: true;
  /** JSON and computed: shape of the value. */
  shape?: TSchema;
  /** Computed: an expression of SQL over the row `t`, which `compute` gets under the field's own name. */
  select?: string;
  /** Computed: the value depends on the caller's rights on the record. */
  needsRights?: true;
  /** Computed: names of the fields that the computation reads, and the computation. */
  from?: readonly string[];
  compute?: (record: Record<string, unknown>, context: RenderContext) => Json;
}

/** Context of a computed field besides its record. */
export interface RenderContext {
  /** Address of the interface with a slash at its end, such as http://host/api/v2/. */
  base: string;
  /** The rendering that the request asked for; links keep it. */
  format: string | undefined;
  /** Rights of the caller on this record besides viewing it. */
  rights: { change: boolean; delete: boolean; use?: boolean };
  /** Paths of records, by names of values and row numbers. */
  paths?: ReadonlyMap<string, ReadonlyMap<number, string>>;
}

/** True if filters and orderings reach a field. */
export const isComparable = ({ kind, shown, dependsOnCaller }: Field): boolean =>
  shown !== "internal" && kind !== "computed" && !dependsOnCaller;

type Options = Partial<Omit<Field, "kind" | "doc">>;

/** Longest name and longest prose, in UTF-16 units. */
const NAME_LENGTH = 255;
const PROSE_LENGTH = 10_000;

const field = (kind: Field["kind"], doc: string, defaults: Options, options: Options): Field => ({
  kind,
  doc,
  shown: "always",
  write: "optional",
  nullable: false,
  ...defaults,
  ...options,
});

/** A line of text; may be empty unless `blank: false`. */
export const text = (doc: string, options: Options = {}): Field =>
  field("text", doc, { blank: true, maxLength: NAME_LENGTH, initial: "" }, options);

/** Text of several lines. */
export const prose = (doc: string, options: Options = {}): Field =>
  text(doc, { maxLength: PROSE_LENGTH, ...options });

export const flag = (doc: string, initial: boolean, options: Options = {}): Field =>
  field("flag", doc, { initial: initial ? 1 : 0 }, options);

export const integer = (doc: string, options: Options = {}): Field =>
  field("integer", doc, { initial: 0 }, options);

/** A decimal number. */
export const number = (doc: string, options: Options = {}): Field =>
  field("number", doc, { nullable: true, initial: null }, options);

/** A point in time that the program sets. */
export const instant = (doc: string, options: Options = {}): Field =>
  field("instant", doc, { write: "never" }, options);

/** A day, stored as its beginning in UTC. */
export const day = (doc: string, options: Options = {}): Field =>
  field("instant", doc, { nullable: true, initial: null, day: true }, options);

export const uuid = (doc: string, options: Options = {}): Field =>
  field("uuid", doc, { write: "never" }, options);

export const json = (doc: string, options: Options): Field => field("json", doc, {}, options);

/** A reference to one record of the resource named `to`. */
export const reference = (to: string, doc: string, options: Options = {}): Field =>
  field("reference", doc, { to, nullable: true, initial: null }, options);

const NAMED_RECORDS = Type.Array(
  Type.Object({ id: Type.String({ format: "uuid" }), name: Type.String() }, { $id: "NamedRecord" }),
);

/** Records of the resource named `of`, in the order of their names. Bodies accept ids, names, and objects with either. */
export const list = (of: string, doc: string, options: Options = {}): Field =>
  json(doc, {
    initial: "[]",
    dependsOnCaller: true,
    listOf: of,
    shape: NAMED_RECORDS,
    check: checkList,
    ...options,
    form: { lines: "texts", hint: `${doc} Each on a line, by name or id.`, ...options.form },
  });

const LIST_LENGTH = 1000;
const checkList = (value: Json): string | undefined =>
  Array.isArray(value) && value.length <= LIST_LENGTH
    ? undefined
    : `Expected a list of at most ${LIST_LENGTH} ids or names.`;

/** The records of the resource named `resource` that refer to a record by this field. */
export const referring = (resource: string, field: string, doc: string): Field =>
  computed(doc, {
    from: ["id"],
    dependsOnCaller: true,
    referring: { resource, field },
    shape: NAMED_RECORDS,
    compute: ({ id }) => String(id),
  });

/** A value computed when a record is shown. */
export const computed = (doc: string, options: Options): Field =>
  field("computed", doc, { write: "never" }, options);

export type Decoded = { value: Stored } | { error: string };

interface Kind {
  /** Expected form of a parameter of this kind, for errors. */
  expected: string;
  /** Parses the value of a parameter; undefined if it is malformed. */
  parse(text: string): Stored | undefined;
  /** The value that a JSON body means. References are decoded by parse-body.ts. */
  decode(value: Json, field: Field): Decoded;
  /** The value as records show it. */
  print(value: Stored): Json;
}

const fault = (error: string): Decoded => ({ error });

/** Decodes values of these types by the text that a parameter would have. */
const decoder =
  (types: readonly string[], parse: (text: string) => Stored | undefined, error: string): Kind["decode"] =>
  (value) => {
    const parsed = types.includes(typeof value) ? parse(String(value)) : undefined;
    return parsed === undefined ? fault(error) : { value: parsed };
  };

const printStored = (value: Stored): Json => value;
const parseStorable = (text: string): string | undefined => (isStorable(text) ? text : undefined);
const parseFlag = (text: string): number | undefined =>
  /^(true|t|yes|y|on|1)$/i.test(text) ? 1 : /^(false|f|no|n|off|0)$/i.test(text) ? 0 : undefined;
const parseInteger = (text: string): number | undefined =>
  /^[+-]?\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
const INSTANT_FORM = "a date (2026-01-31) or a time (2026-01-31T09:30:00.000000+00:00)";

const decodeInstant = decoder(["string"], parseInstant, `Expected ${INSTANT_FORM}.`);

const decodeNumber = decoder(["number", "string"], parseNumber, "A valid number is required.");

export const KINDS: Record<KindName, Kind> = {
  text: {
    expected: "text without NUL characters",
    parse: parseStorable,
    decode: decodeText,
    print: printStored,
  },
  flag: {
    expected: "true or false",
    parse: parseFlag,
    decode: decoder(["boolean", "number", "string"], parseFlag, "Must be a valid boolean."),
    print: (value) => (value === null ? null : value !== 0),
  },
  integer: {
    expected: "a whole number of at most 15 digits",
    parse: parseInteger,
    decode: decoder(["number", "string"], parseInteger, "A valid integer is required."),
    print: printStored,
  },
  number: {
    expected: "a number (integers up to ±2^53)",
    parse: parseNumber,
    decode(value, field) {
      const hasComma = typeof value === "string" && /^\s*[+-]?[\d.]*,[\d,.]*\s*$/.test(value);
      return hasComma
        ? fault("A valid number is required. Write it with a point, such as 0.25.")
        : decodeNumber(value, field);
    },
    print: printStored,
  },
  instant: {
    expected: INSTANT_FORM,
    parse: parseInstant,
    decode(value, field) {
      const decoded = decodeInstant(value, field);
      if (!field.day) return decoded;
      if ("error" in decoded) return fault("Expected a date, such as 2026-01-31.");
      return Number(decoded.value) % DAY === 0
        ? decoded
        : fault("Expected a date without a time, such as 2026-01-31.");
    },
    print: (value) => (value === null ? null : printInstant(Number(value))),
  },
  uuid: {
    expected: "a UUID",
    parse: parseUuid,
    decode: decoder(["string"], parseUuid, "Enter a valid UUID."),
    print: printStored,
  },
  json: {
    expected: "text that occurs in the JSON of the record",
    parse: parseStorable,
    decode: (value, field) => {
      const wrong = field.check?.(value);
      return wrong === undefined ? { value: JSON.stringify(value) } : fault(wrong);
    },
    print: (value) => (value === null ? null : (JSON.parse(String(value)) as Json)),
  },
  reference: {
    expected: "an id or a name",
    parse: parseStorable,
    decode: () => fault("Expected an id or a name."),
    print: printStored,
  },
};

/** The printer of a field's values. */
export const choosePrinter = ({ kind, day }: Field): ((value: Stored) => Json) =>
  day ? printDay : KINDS[kind as "text"].print;

/** Decimals with a point, also as 1.5e-3. */
function parseNumber(text: string): number | undefined {
  const plain = text.trim();
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(plain) ? Number(plain) : Number.NaN;
  // A double would round the number.
  if (/^[+-]?\d+$/.test(plain) && !Number.isSafeInteger(value)) return undefined;
  return Number.isFinite(value) ? value : undefined;
}

function decodeText(value: Json, field: Field): Decoded {
  if (typeof value !== "string" && typeof value !== "number") return fault("Not a valid string.");
  const text = String(value).trim();
  if (text.includes("\0")) return fault("Null characters are not allowed.");
  if (!text.isWellFormed()) return fault("Unpaired surrogates are not allowed.");
  if (text === "" && !field.blank) return fault("This field may not be blank.");
  if (field.maxLength !== undefined && text.length > field.maxLength)
    return fault(`Ensure this field has no more than ${field.maxLength} characters.`);
  if (text !== "" && field.choices && !field.choices.includes(text))
    return fault(`${shownName(text)} is not a valid choice. Choices: ${field.choices.join(", ")}.`);
  if (text !== "" && field.pattern && !field.pattern.expression.test(text))
    return fault(`Expected ${field.pattern.rule}.`);
  return { value: text };
}

/** SQLite ends a text at NUL in some functions, and half a surrogate pair has no UTF-8 form. */
function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** A name that a client typed, as an error repeats it. */
export function shownName(typed: string): string {
  const line = typed.replaceAll(/\p{C}+/gu, " ");
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 59).toWellFormed()}…` : line);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUID in lower case with hyphens (RFC 9562, section 4); also read: upper case, without hyphens, in braces, urn:uuid:. */
export function parseUuid(text: string): string | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, "")
    .replace(/^\{(.*)\}$/, "$1");
  const hyphenated = /^[0-9a-f]{32}$/.test(bare)
    ? bare.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    : bare;
  return UUID.test(hyphenated) ? hyphenated : undefined;
}

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*(Z|[+\- ]\d{2}(?::?\d{2})?))?)?$/i;

/** Microseconds in a day. */
export const DAY = 86_400_000_000;

/** True if the text of an instant names a day and no time of day. */
export const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text.trim());

/**
 * Microseconds since 1970-01-01 UTC of an ISO 8601 date or time. Without an offset it is UTC. A blank stands for the
 * plus sign of the offset too, because that is what an unescaped plus in an address becomes. Decimals past the sixth
 * are cut.
 */
export function parseInstant(text: string): number | undefined {
  const match = INSTANT.exec(text.trim());
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as number[];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(milliseconds);
  // Date.UTC rolls the 31st of February over into March, and moves years below 100 into the last century.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    return undefined;
  const offset = /^([+\- ])(\d{2}):?(\d{2})?$/.exec(match[8] ?? "");
  const minutes = offset
    ? (offset[1] === "-" ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3] ?? 0))
    : 0;
  const micros = Number((match[7] ?? "").padEnd(6, "0").slice(0, 6));
  return (milliseconds - minutes * 60_000) * 1000 + micros;
}

/** ISO 8601 with six decimals and the offset of UTC, such as 2023-02-23T16:04:55.777723+00:00. */
export function printInstant(micros: number): string {
  const milliseconds = Math.floor(micros / 1000);
  const rest = String(micros - milliseconds * 1000).padStart(3, "0");
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}+00:00`;
}

const printDay = (value: Stored): Json => (value === null ? null : printInstant(Number(value)).slice(0, 10));
