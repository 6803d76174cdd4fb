import { expect, test } from "bun:test";
import { explain, RESOURCES } from "../../../src/inventory/index.ts";

test("explain lists fields, parameters and the SQL of a list", () => {
  for (const resource of RESOURCES) {
    const text = explain(resource);
    for (const name of Object.keys(resource.fields)) expect(text).toContain(`\n  ${name} `);
    expect(text).toContain("query_expression");
    expect(text).toContain(`SELECT count(*) AS total FROM ${resource.table} AS t`);
  }
});

test("explain shows kinds, columns and rules of the declaration", () => {
  const explainLines = (name: string) =>
    explain(RESOURCES.find((resource) => resource.name === name)!)
      .split("\n")
      .map((line) => line.trim().replaceAll(/ {2,}/g, " | "));
  const location = explainLines("location");
  for (const line of [
    "address: locations",
    "table: location",
    "label | text | label | label_fold | always | required",
    "place | reference place | place | always | optional | nullable",
  ])
    expect(location).toContain(line);
  expect(explainLines("equipment")).toContain("rules on write: only those of the fields");
  const type = explainLines("annotation_type");
  expect(type).toContain("rules on write: yes");
  expect(type.find((line) => line.startsWith("table: "))).toMatch(/^table: field_type where \w+ is /);
});
