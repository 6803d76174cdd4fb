import { describe, expect, test } from "bun:test";
import { parseExpression, PRESETS } from "../../../src/inventory/model/expression.ts";
import { and, compare, not, or } from "../../../src/inventory/model/condition.ts";
import { OPERATORS } from "../../../src/inventory/model/operator.ts";
import { DECLARED } from "../../../src/inventory/resources/index.ts";
import { Problem } from "../../../src/problem.ts";

const annotationType = DECLARED.get("annotation_type")!;
const location = DECLARED.get("location")!;
const parse = (text: string, resource = annotationType) => parseExpression(DECLARED, resource, text);
const one = (category: string, operator: string, value: unknown) =>
  JSON.stringify({ category, operator, value });

const refusal = (text: string): string => {
  try {
    parse(text);
  } catch (error) {
    expect((error as Problem).status).toBe(400);
    expect((error as Problem).fields?.query_expression).toBeArrayOfSize(1);
    return (error as Problem).message;
  }
  throw new Error(`accepted: ${text}`);
};

const isName = compare(["name"], "==", "a");
const isText = compare(["type"], "==", "TEXT");

describe("parses every form of expression in the specification", () => {
  const a = one("name", "==", "a");
  const b = one("type", "==", "TEXT");
  test.each([
    ["one object", a, isName],
    ["several, as specified", `${a},${b}`, and(isName, isText)],
    ["in brackets", `[${a}, ${b}]`, and(isName, isText)],
    ["white space and a comma at the end", ` ${a} ,\n${b} , `, and(isName, isText)],
    ["keys in any case", '{"Category":"name","OPERATOR":"==","Value":"a"}', isName],
    ["operator in any case", one("name", "IEXACT", "a"), compare(["name"], "iexact", "a")],
    ["a value that is no string", one("mandatory", "==", true), compare(["mandatory"], "==", 1)],
    ["nothing", " ", and()],
    ["or", `{"or":[${a},${b}]}`, or(isName, isText)],
    ["not and and", `{"not":{"and":[${a},${b}]}}`, not(and(isName, isText))],
  ])("%s", (_, text, condition) => {
    expect(parse(text)).toEqual(condition);
  });
});

test("parses all operators", () => {
  for (const operator of Object.keys(OPERATORS))
    expect(parse(one("name", operator, "a"))).toMatchObject({ kind: "compare", path: ["name"], value: "a" });
});

test("presets compare names unless the value is an id or null", () => {
  expect(parse(one("owner", "startswith", "al"))).toEqual(compare(["owner", "username"], "startswith", "al"));
  expect(parse(one("owned_by", "=", "G"))).toEqual(compare(["owned_by", "name"], "=", "G"));
  expect(parse(one("cv_category", "icontains", "t"))).toEqual(
    compare(["cv_category", "name"], "icontains", "t"),
  );
  const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
  expect(parse(one("field_meta", "==", id))).toEqual(compare(["field_meta", "id"], "==", id));
  expect(parse(one("cv_category", "==", null))).toEqual(compare(["cv_category", "rid"], "==", null));
});

test("the preset names equal the specification, with one exception", () => {
  expect([...PRESETS.keys()].sort()).toEqual(
    [
      "created_by modified_by owner owned_by deleted_by notes cv_category field_meta mandatory_owned_by user",
      "credential workflowversion workflowrun dataset",
    ]
      .join(" ")
      .split(" ")
      .sort(),
  );
});

test("compares and follows references without a preset, by name or id", () => {
  expect(parse(one("place", "==", "A 101"), location)).toEqual(compare(["place", "name"], "==", "A 101"));
  expect(parse(one("place__address__city", "==", "Rome"), location)).toEqual(
    compare(["place", "address", "city"], "==", "Rome"),
  );
});

test("a date without a time means the whole day", () => {
  const day = Date.UTC(2026, 0, 1) * 1000;
  expect(parse(one("created", "==", "2026-01-01"))).toEqual(
    and(compare(["created"], ">=", day), compare(["created"], "<", day + 86_400_000_000)),
  );
  expect(parse(one("created", "<", "2026-01-01"))).toEqual(compare(["created"], "<", day));
});

test.each([
  ["no JSON", "name==a", "not a comma-separated series of JSON objects - Unexpected"],
  ["a string", '"name"', "object 1: expected an object with category, operator and value"],
  ["the second is a number", `${one("name", "=", "a")},1`, "object 2: expected an object"],
  ["no category", '{"operator":"=","value":"a"}', "category is missing"],
  ["no operator", '{"category":"name","value":"a"}', "operator is missing"],
  ["no value", '{"category":"name","operator":"="}', "value is missing"],
  ["an unknown field", one("nam", "=", "a"), "Did you mean name"],
  [
    "a field of a preset that is not here",
    one("dataset", "=", "a"),
    '"dataset" is not a field of annotation_type',
  ],
  ["a column that is not a field", one("owner__password_hash", "=", "a"), "is not a field"],
  ["an internal field", one("rid", "=", "1"), "is not a field"],
  ["a computed field", one("url", "=", "a"), "is not a field"],
  ...Object.getOwnPropertyNames(Object.prototype).map((name) => [
    `the name ${name} of an object member`,
    one(name, "=", "a"),
    `"${name}" is not a field of annotation_type`,
  ]),
  [
    "an unknown operator",
    one("name", "~", "a"),
    '"~" is not an operator. Choices: ==, =, >=, >, <=, <, contains',
  ],
  ["an operator of texts on a flag", one("public", "contains", "t"), "does not apply to this field"],
  ["an invalid flag", one("public", "=", "maybe"), "Expected true or false"],
  ["an invalid time", one("created", ">", "soon"), "Expected a date"],
  ["an invalid id", one("id", "=", "1"), "Enter a valid UUID"],
  ["an object for a value", one("name", "=", {}), "expected a string under value"],
  [
    "nesting without end",
    `${'{"not":'.repeat(20)}${one("name", "=", "a")}${"}".repeat(20)}`,
    "More than 16 levels of and, or, not in an expression. Use fewer levels.",
  ],
  [
    "too many",
    Array(201)
      .fill(one("name", "=", "a"))
      .join(","),
    "More than 200 conditions in the parameters and the filter expression together. Split the request.",
  ],
])("rejects %s", (_, text, message) => {
  expect(refusal(text)).toContain(message);
});
