import { searchFilters } from "./filter.ts";
import { LIST_PARAMETERS, parseListing } from "./listing.ts";
import { plan, visibleOnly } from "./plan.ts";
import { recordPrinter } from "./record-printer.ts";
import { columnName, type Resource, type Resources } from "./resource.ts";
import { countStatement, pageStatement } from "./sql.ts";

/** An ordinary user, for the statements of an explanation. */
const EXAMPLE_ACTOR = { user: 2, username: "example", superuser: false, groups: [1], primaryGroup: 1 };

/** Describes a declaration: URLs, fields with their columns, parameters, and the SQL of a plain list. */
export function explain(resources: Resources, resource: Resource): string {
  const fields = Object.entries(resource.fields).map(([name, field]) => [
    name,
    field.to ? `${field.kind} ${field.to}` : field.kind,
    field.kind === "computed" ? `from ${field.from?.join(", ")}` : columnName(resource, name),
    field.folded ?? "",
    field.shown,
    field.write,
    field.nullable ? "nullable" : "",
  ]);
  const listing = parseListing(resources, resource, new URLSearchParams(), EXAMPLE_ACTOR);
  const condition = visibleOnly(resource, EXAMPLE_ACTOR, listing.condition);
  const examplePlan = () => plan(resources, resource, EXAMPLE_ACTOR);
  const where = Object.entries(resource.where ?? {}).map(([column, value]) => ` where ${column} is ${value}`);
  return [
    `${resource.name}: ${resource.summary}`,
    `address: ${[resource.segment ?? "none", ...(resource.aliases ?? [])].join(", ")}`,
    `table: ${resource.table}${where.join("")}`,
    `known by: ${resource.key}; references print its ${resource.shownAs === "key" ? resource.key : "id"}`,
    `order: ${resource.defaultOrder.join(", ")}, id`,
    `rules on write: ${resource.rules ? "yes" : "only those of the fields"}`,
    "fields (kind, column, folded copy, shown, write):",
    ...table(fields),
    "parameters besides fields, spans and lookups:",
    ...table([
      ...Object.entries(LIST_PARAMETERS).map(([name, { doc }]) => [name, doc]),
      ...searchFilters(resource).map(({ name, doc }) => [name, doc]),
    ]),
    "a plain list, for user 2 of group 1:",
    `  ${countStatement(resource, condition, examplePlan()).text}`,
    `  ${pageStatement(resource, condition, listing.order, examplePlan(), { limit: 50, offset: 0 }).text}`,
    `  ${recordPrinter(resources, resource, listing, EXAMPLE_ACTOR).statement.text}`,
    "",
  ].join("\n");
}

const table = (lines: readonly (readonly string[])[]): string[] => {
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines.map((line) => `  ${line.map((cell, i) => cell.padEnd(widths[i])).join("  ")}`.trimEnd());
};
