import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RESOURCES } from "../../../src/inventory/resources/index.ts";
import { openLab } from "../harness.ts";

/**
 * What clients and pages learn about the fields of every list, by OPTIONS: kinds, rules, forms, columns and filters. A
 * field that the file does not have yet is not compared. GOLDEN=write accepts changes.
 */

const GOLDEN = join(import.meta.dir, "../../golden/fields.txt");
const lab = await openLab();
afterAll(() => lab.database.close());

/** Texts for people, which may be reworded, and what follows from the kind. */
const OMITTED = new Set(
  "annotations description help_text hint label lookups operators parses remark renders rule words".split(
    " ",
  ),
);
const withoutTexts = (key: string, value: unknown): unknown =>
  OMITTED.has(key) || value === null ? undefined : value;

/** A line for the list and one for each of its fields. */
async function describeList(segment: string): Promise<string[]> {
  const { status, body } = await lab.send("admin", "OPTIONS", `${segment}/`);
  expect(status).toBe(200);
  const { fields, actions, ...list } = body as Record<string, object>;
  const write = (name: string, of: object): string =>
    `${segment} ${name} ${JSON.stringify(of, withoutTexts)}`;
  return [
    write("-", { ...list, actions: Object.keys(actions) }),
    ...Object.entries(fields).map(([name, field]) => write(name, field as object)),
  ];
}
const nameOf = (line: string): string => line.split(" ", 2).join(" ");

/** A line for the fields whose words are found without reading all records. */
function listSearchable({ segment, fields }: (typeof RESOURCES)[number]): string {
  const names = Object.keys(fields).filter((name) => fields[name].searchable);
  return [segment, "searchable-fields", ...names].join(" ");
}

const described = await Promise.all(RESOURCES.map(({ segment }) => describeList(segment)));
const found = RESOURCES.flatMap((resource, i) => [...described[i], listSearchable(resource)]);
if (process.env.GOLDEN === "write") writeFileSync(GOLDEN, `${found.join("\n")}\n`);
const kept = existsSync(GOLDEN) ? readFileSync(GOLDEN, "utf8").trimEnd().split("\n") : [];

test.each(RESOURCES.map(({ segment }) => segment))("the fields of %s are described as before", (segment) => {
  const before = kept.filter((line) => line.startsWith(`${segment} `));
  expect(before.length).toBeGreaterThan(5);
  const names = new Set(before.map(nameOf));
  const now = found.filter((line) => line.startsWith(`${segment} `) && names.has(nameOf(line)));
  expect(now).toEqual(before);
});
