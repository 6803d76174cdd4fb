import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RESOURCES, type RoutedResource } from "../../src/inventory/index.ts";
import { PEOPLE } from "../../src/inventory/resources/index.ts";
import { PRESETS } from "../../src/inventory/model/expression.ts";
import type { Field } from "../../src/inventory/model/field.ts";
import { searchFilters } from "../../src/inventory/model/filter.ts";
import { LIST_PARAMETERS } from "../../src/inventory/model/listing.ts";
import { OPERATORS } from "../../src/inventory/model/operator.ts";
import type { InventorySample } from "../../src/inventory/records/sample-format.ts";
import sample from "../../src/sample/inventory.json";
import { type Lab, openLab } from "./harness.ts";

/** docs/rest.md says what the declarations say. `DOCS=write bun test test/inventory/documentation.test.ts` writes it. */

const PATH = join(import.meta.dir, "../../docs/rest.md");
const cell = (text: string): string => text.replaceAll("|", "\\|");
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

function expectGenerated(mark: string, content: string): void {
  const [begin, end] = [`<!-- ${mark}: begin -->`, `<!-- ${mark}: end -->`];
  const document = readFileSync(PATH, "utf8");
  expect(document).toContain(begin);
  expect(document).toContain(end);
  const before = document.slice(0, document.indexOf(begin) + begin.length);
  const wanted = `${before}\n\n${content}\n\n${document.slice(document.indexOf(end))}`;
  if (process.env.DOCS === "write") writeFileSync(PATH, wanted);
  expect(readFileSync(PATH, "utf8")).toBe(wanted);
}

const COMMON = new Set(["rid", "id", "created_by", "modified_by", "created", "modified"]);

function kindOf(field: Field): string {
  const to = RESOURCES.find(({ name }) => name === field.to)?.segment ?? field.to;
  const kind = field.kind === "reference" ? `reference to ${to}` : field.kind;
  const notes = [
    field.write === "required" ? "required" : field.write === "never" ? "read-only" : "",
    field.shown === "extra" ? "extra" : "",
    field.nullable ? "may be null" : "",
  ].filter(Boolean);
  return [kind, ...notes].join(", ");
}

test("every field of every resource is documented", () => {
  expectGenerated("resources", sectionsOf(RESOURCES));
});

test("every field of accounts and groups is documented", () => {
  expectGenerated("people", sectionsOf(Object.values(PEOPLE)).replaceAll("### ", "#### "));
});

function sectionsOf(resources: readonly RoutedResource[]): string {
  const sections = resources.map((resource) => {
    const also = (resource.aliases ?? []).map((alias) => ` Also at \`${alias}\`.`).join("");
    const names = searchFilters(resource).map(({ name, doc }) => `\`${name}\`: ${doc}`);
    const rows = Object.entries(resource.fields)
      .filter(([name]) => !COMMON.has(name) || (name === "id" && resource.fields.id.kind !== "uuid"))
      .map(([name, field]) => [`\`${name}\``, kindOf(field), field.doc]);
    return [
      `### \`${resource.segment}\``,
      `${resource.summary}${also} In the order of ${resource.defaultOrder.map((name) => `\`${name}\``).join(", ")}.`,
      table(["Field", "Kind", "Meaning"], rows),
      `Filters on several fields: ${names.join(" ")}`,
    ].join("\n\n");
  });
  return sections.join("\n\n");
}

test("every parameter is documented", () => {
  const rows = Object.entries(LIST_PARAMETERS).map(([name, doc]) => [`\`${name}\``, doc]);
  const search = [
    ["`name`", "The name, label, building or room starts with the value, ignoring case."],
    ["`description`", "The description contains the value, ignoring case."],
    ["`query`", "The name, label, building or room contains every word of the value, ignoring case."],
    ["`<field>`", "See below."],
  ];
  expectGenerated("parameters", table(["Parameter", "Meaning"], [...rows, ...search]));
});

test("every operator is documented", () => {
  const rows = Object.entries(OPERATORS).map(([name, { lookup, sentence, kinds }]) => [
    `\`${name}\``,
    `\`__${lookup}\``,
    `The field ${sentence}.`,
    kinds.join(", "),
  ]);
  expectGenerated("operators", table(["Operator", "Lookup", "Meaning", "Kinds of fields"], rows));
});

test("every preset is documented", () => {
  const rows = Object.entries(PRESETS).map(([name, path]) => [`\`${name}\``, `\`${path}\``]);
  expectGenerated("presets", table(["Name", "Stands for"], rows));
});

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ sample: sample as unknown as InventorySample });
});
afterAll(() => lab.database.close());

test("the reading examples find something", async () => {
  const document = readFileSync(PATH, "utf8");
  const addresses = [...document.matchAll(/^curl -g '(http:[^']+)'$/gm)].map(([, address]) => address);
  expect(addresses.length).toBeGreaterThan(4);
  for (const address of addresses) {
    const { status, body } = await lab.ask("GET", address.replace("127.0.0.1:8480", "lab"));
    expect({ address, status }).toEqual({ address, status: 200 });
    if ("total" in body) expect({ address, some: Number(body.total) > 0 }).toEqual({ address, some: true });
  }
});

test("the writing examples are accepted", async () => {
  const document = readFileSync(PATH, "utf8");
  const bodies = [...document.matchAll(/-d '(\{"label.*)'$/gm)].map(([, body]) => body);
  expect(bodies).toBeArrayOfSize(2);
  const made = await lab.ask("POST", "locations/", { as: "alice", body: bodies[0] });
  expect(made.status).toBe(201);
  const changed = await lab.ask("PATCH", `locations/${made.body.id}/`, { as: "alice", body: bodies[1] });
  expect({ status: changed.status, label: changed.body.label }).toEqual({ status: 200, label: "Shelf 10" });
});
