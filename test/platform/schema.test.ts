import { expect, test } from "bun:test";
import { Type } from "typebox";
import {
  NOT_BLANK,
  NOT_BLANK_OR_NUL,
  nullable,
  parse,
  schema,
  textSchema,
} from "../../src/platform/schema.ts";
import { Problem } from "../../src/problem.ts";

/** The fields that a value is refused for, with their messages; undefined if it is accepted. */
function catchErrors(shape: Parameters<typeof parse>[0], value: unknown) {
  try {
    parse(shape, value);
    return undefined;
  } catch (error) {
    const { code, fields, message } = error as Problem;
    const [[field, [first]]] = Object.entries(fields!);
    const text = field === "non_field_errors" ? first : `${field}: ${first}`;
    expect([code, message]).toEqual(["invalid_request", text]);
    return fields;
  }
}

const Shape = schema(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 5, pattern: "^[a-z]*$" }),
      code: Type.Optional(Type.String({ minLength: 2 })),
      word: Type.Optional(Type.String({ pattern: NOT_BLANK })),
      some_of: Type.Optional(Type.Array(Type.Integer(), { minItems: 1 })),
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
      part: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
      isOn: Type.Optional(Type.Boolean()),
      list: Type.Optional(Type.Array(Type.Integer(), { minItems: 2, maxItems: 3 })),
      kind: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
      one: Type.Optional(Type.Literal("only")),
      some: Type.Optional(nullable(Type.String())),
      mixed: Type.Optional(Type.Union([Type.Literal("all"), Type.Integer()])),
      inner: Type.Optional(Type.Object({ x: Type.Integer() })),
      email: Type.Optional(Type.String({ format: "email" })),
      day: Type.Optional(Type.String({ format: "date" })),
      scanned: Type.Optional(Type.Array(Type.String({ pattern: NOT_BLANK_OR_NUL }))),
      choice: Type.Optional(Type.Enum(["p", "q"])),
    },
    { additionalProperties: false },
  ),
);

test.each<[object, Record<string, string> | undefined]>([
  [{ name: "abc" }, undefined],
  [{ name: "abcde", count: 1, part: 0.5, isOn: false, list: [1, 2], kind: "b", some: null }, undefined],
  [{ name: "a", code: "ab", count: 9, list: [1, 2, 3], mixed: "all", inner: { x: 1 } }, undefined],
  [{}, { name: "This field is required." }],
  [{ name: "" }, { name: "Must not be empty." }],
  [{ name: "abcdef" }, { name: "Must have at most 5 characters." }],
  [{ name: "A" }, { name: "Must match ^[a-z]*$." }],
  [{ name: "a", word: " " }, { word: "Must not be blank." }],
  [{ name: "a", some_of: [] }, { some_of: "Must not be empty." }],
  [{ name: 5 }, { name: "Must be a string." }],
  [{ name: "a", code: "a" }, { code: "Must have at least 2 characters." }],
  [{ name: "a", count: 0 }, { count: "Must be at least 1." }],
  [{ name: "a", count: 10 }, { count: "Must be at most 9." }],
  [{ name: "a", count: 1.5 }, { count: "Must be a whole number." }],
  [{ name: "a", part: 0 }, { part: "Must be more than 0." }],
  [{ name: "a", part: 1 }, { part: "Must be less than 1." }],
  [{ name: "a", part: "x" }, { part: "Must be a number." }],
  [{ name: "a", isOn: "true" }, { isOn: "Must be true or false." }],
  [{ name: "a", list: [1] }, { list: "Must have at least 2 items." }],
  [{ name: "a", list: [1, 2, 3, 4] }, { list: "Must have at most 3 items." }],
  [{ name: "a", list: {} }, { list: "Must be a list." }],
  [{ name: "a", list: [1, "x"] }, { list: "Must be a whole number." }],
  [{ name: "a", kind: "c" }, { kind: "Must be one of: a, b." }],
  [{ name: "a", choice: "c" }, { choice: "Must be one of: p, q." }],
  [{ name: "a", one: "none" }, { one: "Must be only." }],
  [{ name: "a", some: 5 }, { some: "Must be a string or null." }],
  [{ name: "a", mixed: "none" }, { mixed: "Must be all or a whole number." }],
  [{ name: "a", inner: [] }, { inner: "Must be an object." }],
  [{ name: "a", inner: {} }, { inner: "x: This field is required." }],
  [{ name: "a", email: "x" }, { email: 'Must match format "email".' }],
  [{ name: "a", day: "30.11.2026" }, { day: "Must be a date, such as 2026-01-31." }],
  [{ name: "a", scanned: ["a", " "] }, { scanned: "Must not be blank or contain NUL characters." }],
  [
    { name: "a", other: 1 },
    {
      other:
        "Unknown field. Choices: name, code, word, some_of, count, part, isOn, list, kind, one, some, mixed, inner, email, day, scanned, choice.",
    },
  ],
  [
    { name: 5, count: 0 },
    { name: "Must be a string.", count: "Must be at least 1." },
  ],
  [[] as object, { non_field_errors: "Must be an object." }],
])("the value %j has the errors %j", (value, errors) => {
  const fields = errors && Object.fromEntries(Object.entries(errors).map(([name, text]) => [name, [text]]));
  expect(catchErrors(Shape, value)).toEqual(fields);
});

const Query = textSchema(
  Type.Object({
    n: Type.Optional(Type.Integer()),
    x: Type.Optional(Type.Number()),
    on: Type.Optional(Type.Boolean()),
    word: Type.Optional(Type.String()),
  }),
);
test.each<[Record<string, unknown> | undefined, object | string]>([
  [
    { n: "-12", x: "-1.5", on: "true", word: "5" },
    { n: -12, x: -1.5, on: true, word: "5" },
  ],
  [
    { on: "false", x: "3" },
    { on: false, x: 3 },
  ],
  [undefined, {}],
  [{ n: "1.5" }, "n: Must be a whole number."],
  [{ n: "1e3" }, "n: Must be a whole number."],
  [{ n: "1234567890123456" }, "n: Must be a whole number."],
  [{ x: "1." }, "x: Must be a number."],
  [{ x: "" }, "x: Must be a number."],
  [{ on: "yes" }, "on: Must be true or false."],
])("parses the query %j as %j", (given, read) => {
  if (typeof read === "string") expect(() => parse(Query, given)).toThrow(read);
  else expect<object>(parse(Query, given)).toEqual(read);
});

test("a shared schema keeps its validator, which the OpenAPI document does not show", () => {
  expect(schema(Shape)).toBe(Shape);
  expect(Object.keys(Shape)).not.toContain("~standard");
});
