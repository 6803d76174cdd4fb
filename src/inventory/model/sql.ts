import { naturalKey } from "./natural-key.ts";
import type { Condition } from "./condition.ts";
import type { Field } from "./field.ts";
import { type Operand, ALL_OPERATORS, type Sql } from "./operator.ts";
import { columnName, type Resource } from "./resource.ts";

/** The targets of the paths of one statement. The SQL contains only names from declarations. */
export interface Plan {
  /** The column at the end of a path. Walks references by joins, which filters and ordering of a statement share. */
  operand(path: readonly string[]): Operand & { field: Field };
  /**
   * `column = (SELECT …)` for equality with a unique value of the referenced record: no join, and an index on the
   * column serves. Undefined where the path does not allow it.
   */
  referenceTo(path: readonly string[]): { column: string; rows: string } | undefined;
  /** `EXISTS (…)` over a to-many relation behind references; `part` compiles the condition on the far side. */
  exists(at: readonly string[], relation: string, part: (far: Plan) => Clause): Sql;
  /** The joins that the paths so far need. */
  joins(): Sql;
}

declare const TAG: unique symbol;

/** A condition in parentheses, which can be embedded anywhere. Only `clause`, `join` and `compile` make one. */
export type Clause = Sql & { readonly [TAG]: true };

export const clause = (text: string, args: Sql["args"] = []): Clause =>
  ({ text: `(${text})`, args }) as unknown as Clause;

/** All of the conditions, or at least one of them; there must be one. */
export const join = (kind: "and" | "or", parts: readonly Clause[]): Clause =>
  parts.length === 1
    ? parts[0]
    : clause(
        parts.map(({ text }) => text).join(kind === "and" ? " AND " : " OR "),
        parts.flatMap(({ args }) => args),
      );

/**
 * One term of an ordering: a column, with `natural` as people order texts, or whether a condition holds (those for which
 * it does come first).
 */
export type OrderTerm =
  { path: readonly string[]; descending: boolean; natural?: true } | { first: Condition };
type PathTerm = Extract<OrderTerm, { path: readonly string[] }>;

/** The SQL expression that a term is ordered by. */
function compileTerm({ path, natural }: PathTerm, plan: Plan): string {
  const { plain, folded } = plan.operand(path);
  return natural ? naturalKey(folded) : plain;
}

/**
 * The condition as SQL; pure, runs nothing. Comparisons with null are NULL, which AND, OR and WHERE take for false;
 * negation is IS NOT TRUE, so that the whole is as two-valued as `holds` of condition.ts.
 */
export function compile(condition: Condition, plan: Plan): Clause {
  switch (condition.kind) {
    case "constant":
      return clause(condition.value ? "1" : "0");
    case "compare": {
      const { path, operator, value } = condition;
      if (value === null) return clause(`${plan.operand(path).plain} IS NULL`);
      const reference = ALL_OPERATORS[operator].lookup === "exact" ? plan.referenceTo(path) : undefined;
      if (reference) return clause(`${reference.column} = (${reference.rows})`, [value]);
      const { text, args } = ALL_OPERATORS[operator].sql(plan.operand(path), value);
      return clause(text, args);
    }
    case "some": {
      const { text, args } = plan.exists(condition.at, condition.relation, (far) =>
        compile(condition.part, far),
      );
      return clause(text, args);
    }
    case "not": {
      const { text, args } = compile(condition.part, plan);
      return clause(`${text} IS NOT TRUE`, args);
    }
    case "and":
    case "or": {
      const { kind, parts } = condition;
      if (parts.length > MAX_BREADTH) return compile({ kind, parts: halves(kind, parts) }, plan);
      return join(
        kind,
        parts.map((part) => compile(part, plan)),
      );
    }
  }
}

/** SQLite reads `a OR b OR c` as a tree as deep as the list is long, and refuses depths above 1000. */
const MAX_BREADTH = 100;

const halves = (kind: "and" | "or", parts: readonly Condition[]): Condition[] => {
  const middle = Math.ceil(parts.length / 2);
  return [
    { kind, parts: parts.slice(0, middle) },
    { kind, parts: parts.slice(middle) },
  ];
};

/** Counts the records for which the condition holds; one row with `total`. */
export function countStatement(resource: Resource, condition: Condition, plan: Plan): Sql {
  const where = selecting(resource, compile(condition, plan));
  const joins = plan.joins();
  return {
    text: `SELECT count(*) AS total FROM ${resource.table} AS t${joins.text} WHERE ${where.text}`,
    args: [...joins.args, ...where.args],
  };
}

/** Row numbers of all rows for which the condition holds, in order. The id at the end makes every order a total one. */
export function orderedStatement(
  resource: Resource,
  condition: Condition,
  order: readonly OrderTerm[],
  plan: Plan,
): Sql {
  const where = selecting(resource, compile(condition, plan));
  const by = compileOrder(resource, order, plan);
  const joins = plan.joins();
  return {
    text: `SELECT t.rid AS rid FROM ${resource.table} AS t${joins.text} WHERE ${where.text} ORDER BY ${by.text}`,
    args: [...joins.args, ...where.args, ...by.args],
  };
}

/** One page of the rows of a statement; `limit` -1 means all, which SQLite sorts several times faster without LIMIT. */
export const paginate = ({ text, args }: Sql, { limit, offset }: { limit: number; offset: number }): Sql =>
  limit < 0 ? { text, args } : { text: `${text} LIMIT ? OFFSET ?`, args: [...args, limit, offset] };

/** Row numbers of one page, in order. */
export const pageStatement = (
  resource: Resource,
  condition: Condition,
  order: readonly OrderTerm[],
  plan: Plan,
  page: { limit: number; offset: number },
): Sql => paginate(orderedStatement(resource, condition, order, plan), page);

/**
 * Row numbers for which the condition holds, in any order. `likely`: most rows of a shared table belong to the resource,
 * so that SQLite reads the table rather than an index that has all of these rows.
 */
export function rowsStatement(resource: Resource, condition: Condition, plan: Plan): Sql {
  const own = ownConditions(resource).map(({ text }) => clause(`likely${text}`));
  const where = join("and", [...own, compile(condition, plan)]);
  const joins = plan.joins();
  return {
    text: `SELECT t.rid AS rid FROM ${resource.table} AS t${joins.text} WHERE ${where.text}`,
    args: [...joins.args, ...where.args],
  };
}

/** A statement over a JSON list of row numbers (first argument), by a lookup of each; by default it selects their row numbers. */
export function matchingStatement(
  resource: Resource,
  condition: Condition,
  plan: Plan,
  rids: string,
  columns = "t.rid AS rid",
): Sql {
  const where = selecting(resource, compile(condition, plan));
  const joins = plan.joins();
  return {
    text: `SELECT ${columns} FROM ${eachOnPage(resource)}${joins.text} WHERE ${where.text}`,
    args: [rids, ...joins.args, ...where.args],
  };
}

/** A JSON list of row numbers (first argument) in order. */
export function sortStatement(
  resource: Resource,
  order: readonly OrderTerm[],
  plan: Plan,
  rids: string,
): Sql {
  const by = compileOrder(resource, order, plan);
  const joins = plan.joins();
  return {
    text: `SELECT t.rid AS rid FROM ${eachOnPage(resource)}${joins.text} ORDER BY ${by.text}`,
    args: [rids, ...joins.args, ...by.args],
  };
}

/** The values by which one row is ordered; the id is last. */
export function keyStatement(resource: Resource, order: readonly PathTerm[], plan: Plan, rid: number): Sql {
  const keys = order.map((term, i) => `${compileTerm(term, plan)} AS k${i}, `);
  const joins = plan.joins();
  return {
    text: `SELECT ${keys.join("")}t.${columnName(resource, "id")} AS id FROM ${resource.table} AS t${joins.text} WHERE t.rid = ?`,
    args: [...joins.args, rid],
  };
}

const eachOnPage = ({ table }: Resource): string =>
  `json_each(?) AS page CROSS JOIN ${table} AS t ON t.rid = page.value`;

function compileOrder(resource: Resource, order: readonly OrderTerm[], plan: Plan): Sql {
  const terms = order.map((term): Sql => {
    if ("path" in term)
      return { text: `${compileTerm(term, plan)}${term.descending ? " DESC" : ""}`, args: [] };
    const { text, args } = compile(term.first, plan);
    return { text: `${text} IS TRUE DESC`, args };
  });
  return {
    text: [...terms.map(({ text }) => text), `t.${columnName(resource, "id")}`].join(", "),
    args: terms.flatMap(({ args }) => args),
  };
}

/** The condition, limited to the rows `t` of this resource where it shares its table. */
export const selecting = (resource: Resource, condition: Clause): Clause =>
  join("and", [...ownConditions(resource), condition]);

const ownConditions = ({ where = {} }: Resource): Clause[] =>
  Object.entries(where).map(([column, value]) => clause(`t.${column} = '${value}'`));
