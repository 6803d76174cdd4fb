import { type TSchema, Type } from "typebox";
import { nullable, oneOf } from "../../platform/schema.ts";
import { count, fraction, number, text } from "../prediction/prediction.ts";
import type { Column } from "../table/column.ts";
import { type Filter, listFormerNames } from "../table/filters.ts";
import type { MatchTable } from "../table/match-tables.ts";
import { listOrders } from "../table/view.ts";

/** JSON schemas and parameters of tables of matches, made from their columns. */

function makeSchema({ type, description, choices, required }: Column): TSchema {
  const shapes: Record<Column["type"], () => TSchema> = {
    text: () => (choices ? oneOf(choices, description) : text(description)),
    count: () => count(description),
    number: () => number(description),
    fraction: () => fraction(description),
    boolean: () => Type.Boolean({ description }),
  };
  const shape = shapes[type]();
  return required ? shape : nullable(shape);
}

/** Schemas of the members that the columns of a table have in JSON; all tables share them in the OpenAPI document. */
export const matchProperties = ({ columns }: MatchTable): Record<string, TSchema> =>
  Object.fromEntries(
    columns.flatMap((column) => {
      const { json } = column;
      return json
        ? [[json, { ...makeSchema(column), $id: `Match${json[0].toUpperCase()}${json.slice(1)}` }]]
        : [];
    }),
  );

/**
 * @param withExample documents an example, which generated requests contain
 * @param former description of an earlier name of the parameter
 */
function makeParameter(filter: Filter, withExample: boolean, former?: string): TSchema {
  const description = former ?? filter.description;
  if (filter.kind === "limit")
    return filter.type === "fraction"
      ? fraction(description)
      : Type.Integer({ description, minimum: 0, maximum: filter.maximum });
  if (filter.single === "boolean") return Type.Boolean({ description });
  const values = filter.choices && Object.keys(filter.choices);
  if (filter.single && values) return oneOf(values, description);
  const item = values ? oneOf(values, "A choice.", { $id: `${filter.name}_choice` }) : text("A value.");
  const examples = values && withExample ? { examples: [values.slice(0, 1)] } : {};
  return Type.Array(item, {
    description: `${description.replace(/\.$/, "")}, separated by commas.`,
    ...examples,
    ...(former === undefined ? {} : { deprecated: true }),
  });
}

/** Earlier names of a parameter; all were true or false. */
const listAliases = ({ name, aliases = {} }: Filter): [string, TSchema][] =>
  Object.keys(aliases).map((alias) => [
    alias,
    Type.Boolean({ description: `Earlier name of \`${name}\`.`, deprecated: true }),
  ]);

/** The filters of a table as parameters of requests; those with examples are components of the OpenAPI document. */
export const filterSchemas = ({ filters }: MatchTable, withExample = true): Record<never, TSchema> =>
  Object.fromEntries(
    filters
      .flatMap((filter): [string, TSchema][] => [
        [filter.name, makeParameter(filter, withExample)],
        ...listFormerNames(filter).map((name): [string, TSchema] => [
          name,
          makeParameter(filter, false, `Earlier name of \`${filter.name}\`.`),
        ]),
        ...listAliases(filter),
      ])
      .map(([name, parameter]) => [
        name,
        Type.Optional(withExample ? { ...parameter, $id: `match.${name}` } : parameter),
      ]),
  );

/** The order of a table as a parameter of requests. */
export const orderSchema = (table: MatchTable) =>
  Type.Optional(
    oneOf(
      listOrders(table),
      `A column, descending after -, or evidence (verdict, then z); by default ${table.order}. Rows without a value come last.`,
      { $id: `match.order.${table.name}` },
    ),
  );
