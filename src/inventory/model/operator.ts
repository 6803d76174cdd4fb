import { fold, hasSimilarWord, unaccent } from "../../platform/folded-text.ts";
import type { KindName } from "./field.ts";
import { lookUpTexts, matchAll, TRIGRAM } from "./text-index.ts";

/** SQL with its arguments: what a client typed is always an argument, never text. */
export interface Sql {
  text: string;
  args: (string | number | null)[];
}

/** One row of a result, by column. */
export type Row = Record<string, string | number | null>;

/** Runs statements that read. */
export interface Query {
  all(sql: Sql): Row[];
  get(sql: Sql): Row | null;
}

/** The column that an operator works on, as SQL. */
export interface Operand {
  plain: string;
  /** The text for comparisons that ignore case. */
  folded: string;
  /** The location of the text in the text index, if it has it: the table, and the row number to look up. */
  index?: { table: string; row: string; choose?: ChooseTrigrams };
}

/** The parts of a text to look up in the text index; undefined if reading all rows is faster. */
export type ChooseTrigrams = (table: string, text: string) => readonly string[] | undefined;

/**
 * One operator in its two meanings: as SQL, and as a predicate on the stored value. A test holds them equal. Both are
 * about values that are there: nothing compares with null except equality with null itself.
 */
export interface Operator {
  /** Name as a suffix of a filter, after two underscores. */
  lookup: string;
  /** Completes "records whose <field> …". */
  sentence: string;
  /** Kinds of fields to which the operator applies. */
  kinds: readonly KindName[];
  sql(operand: Operand, value: string | number): Sql;
  holds(stored: string | number, value: string | number): boolean;
}

const ALL_KINDS: readonly KindName[] = ["text", "flag", "integer", "number", "instant", "uuid", "json"];
const ORDERED_KINDS: readonly KindName[] = ["text", "integer", "number", "instant", "uuid"];
const TEXT_KINDS: readonly KindName[] = ["text", "uuid", "json"];

const equal: Operator = {
  lookup: "exact",
  sentence: "equals the value",
  kinds: ALL_KINDS,
  sql: ({ plain }, value) => ({ text: `${plain} = ?`, args: [value] }),
  holds: (stored, value) => stored === value,
};

const ordering = (
  sign: string,
  lookup: string,
  sentence: string,
  holds: (order: number) => boolean,
): Operator => ({
  lookup,
  sentence,
  kinds: ORDERED_KINDS,
  sql: ({ plain }, value) => ({ text: `${plain} ${sign} ?`, args: [value] }),
  holds: (stored, value) => holds(compareStored(stored, value)),
});

/** An operator on text in two variants: with and without regard to case. */
function textOperators(
  lookup: string,
  sentence: string,
  sql: (column: string, value: string) => Sql,
  holds: (stored: string, value: string) => boolean,
): [plain: Operator, folded: Operator] {
  return [
    {
      lookup,
      sentence,
      kinds: TEXT_KINDS,
      sql: ({ plain }, value) => sql(plain, String(value)),
      holds: (stored, value) => holds(String(stored), String(value)),
    },
    {
      lookup: `i${lookup}`,
      sentence: `${sentence}, ignoring case`,
      kinds: TEXT_KINDS,
      sql: ({ folded }, value) => sql(folded, foldCase(String(value))),
      holds: (stored, value) => holds(foldCase(String(stored)), foldCase(String(value))),
    },
  ];
}

const [containsPlain, containsFolded] = textOperators(
  "contains",
  "contains the value",
  (column, value) => ({ text: `instr(${column}, ?) > 0`, args: [value] }),
  (stored, value) => stored.includes(value),
);
const contains: Operator = {
  ...containsPlain,
  sql(operand, value) {
    // The next characters may combine with the last letter when the text is folded; before it nothing can change.
    const typed = String(value);
    const indexable = /^[ -~]+$/.test(typed) ? foldCase(typed.slice(0, -1)) : "";
    return listCondition(operand, indexable, containsPlain.sql(operand, value));
  },
};
const icontains: Operator = {
  ...containsFolded,
  sql: (operand, value) =>
    listCondition(operand, foldCase(String(value)), containsFolded.sql(operand, value)),
};
const [startswith, istartswith] = textOperators(
  "startswith",
  "starts with the value",
  startsWith,
  (stored, value) => stored.startsWith(value),
);
const [endswith, iendswith] = textOperators(
  "endswith",
  "ends with the value",
  // substr with length 0 would give the whole text.
  (column, value) =>
    value === ""
      ? { text: `${column} IS NOT NULL`, args: [] }
      : { text: `substr(${column}, -length(?)) = ?`, args: [value, value] },
  (stored, value) => stored.endsWith(value),
);
const [, iexact] = textOperators(
  "exact",
  "equals the value",
  (column, value) => ({ text: `${column} = ?`, args: [value] }),
  (stored, value) => stored === value,
);

/** The operators by the names that the advanced filter uses. */
export const OPERATORS = {
  "==": equal,
  "=": equal,
  ">=": ordering(">=", "gte", "is at or after the value", (order) => order >= 0),
  ">": ordering(">", "gt", "is after the value", (order) => order > 0),
  "<=": ordering("<=", "lte", "is at or before the value", (order) => order <= 0),
  "<": ordering("<", "lt", "is before the value", (order) => order < 0),
  contains,
  icontains,
  exact: equal,
  iexact,
  startswith,
  istartswith,
  endswith,
  iendswith,
} as const satisfies Record<string, Operator>;

/** Operators of the search of all lists, which no filter names. Their values are without accents. */
const SEARCH_OPERATORS = {
  "contains word": {
    lookup: "",
    sentence: "contains the value, ignoring case and accents",
    kinds: TEXT_KINDS,
    sql: (operand, value) =>
      listCondition(operand, String(value), {
        text: `instr(${foldedText(operand.plain, "unaccent")}, ?) > 0`,
        args: [value],
      }),
    holds: (stored, value) => unaccent(String(stored)).includes(String(value)),
  },
  "has similar word": {
    lookup: "",
    sentence: "has a word like the value",
    kinds: TEXT_KINDS,
    sql: ({ plain }, value) => ({
      text: `(${plain} <> '' AND has_similar_word(${foldedText(plain, "unaccent")}, ?))`,
      args: [value],
    }),
    holds: (stored, value) => hasSimilarWord(unaccent(String(stored)), String(value)),
  },
} as const satisfies Record<string, Operator>;

export const ALL_OPERATORS = { ...OPERATORS, ...SEARCH_OPERATORS };

export type OperatorName = keyof typeof OPERATORS;

export const isOperator = (name: string): name is OperatorName => Object.hasOwn(OPERATORS, name);

/** The operators by the suffix that a filter uses: `label__icontains=…`. */
export const LOOKUPS: ReadonlyMap<string, OperatorName> = new Map(
  (Object.keys(OPERATORS) as OperatorName[]).map((name) => [OPERATORS[name].lookup, name]),
);

/** Text for comparisons that ignore case, as SQL's fold(). */
export const foldCase = fold;

/** Folds a column in SQL. ASCII text takes a third of the time of `fold`, which calls JavaScript for each row. */
export const foldedText = (column: string, fold = "fold"): string =>
  `iif(length(${column}) = octet_length(${column}), lower(${column}), ${fold}(${column}))`;

/**
 * Negative, 0 or positive, as SQLite orders two values of one column: numbers by size, text by its UTF-8 bytes. That
 * is the order of code points, which differs from JavaScript's own order where surrogate pairs meet U+E000 and above.
 */
export function compareStored(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

/** The comparison, limited to rows that the text index finds for `part`. Shorter parts are not indexed. */
function listCondition({ index }: Operand, part: string, exact: Sql): Sql {
  if (!index || Array.from(part).length < TRIGRAM) return exact;
  const { table, row, choose } = index;
  const chosen = choose ? choose(table, part) : [part];
  if (chosen === undefined) return exact;
  return {
    text: `${exact.text} AND ${row} IN (${lookUpTexts(table)})`,
    args: [...exact.args, matchAll(chosen)],
  };
}

/** A range instead of substr(), so that an index on the column serves. */
function startsWith(column: string, value: string): Sql {
  const end = successor(value);
  return end === undefined
    ? { text: `${column} >= ?`, args: [value] }
    : { text: `${column} >= ? AND ${column} < ?`, args: [value, end] };
}

/** The least text greater than every text that starts with `prefix`; undefined if there is none. */
function successor(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.length > 0) {
    const last = points.pop()!;
    if (last === 0x10ffff) continue;
    // Surrogates are not characters.
    points.push(last === 0xd7ff ? 0xe000 : last + 1);
    return String.fromCodePoint(...points);
  }
  return undefined;
}
