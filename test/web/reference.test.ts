import { expect, test } from "bun:test";
import type { OpenApi } from "../../src/platform/openapi.ts";
import { referenceIndex, referenceOperation } from "../../src/web/reference.ts";

type Schema = NonNullable<NonNullable<OpenApi["components"]>["schemas"]>[string];

/** Nested objects, each with one property `in`. */
const nested = (depth: number): Schema =>
  depth === 0 ? { type: "string" } : { type: "object", properties: { in: nested(depth - 1) } };

const makeDocument = (schema: Schema): OpenApi => ({
  info: { title: "labd", version: "1" },
  tags: [{ name: "boxes", description: "Boxes of the laboratory." }],
  "x-tagGroups": [{ name: "lab", tags: ["boxes"] }],
  paths: {
    "/api/v2/{list}/{id}/": {
      post: {
        operationId: "addBox",
        parameters: [{ name: "list", in: "path", schema: { enum: ["boxes", "places"] } }],
        summary: "Add a box",
        tags: ["boxes"],
        requestBody: { content: { "application/json": { schema } } },
        responses: {},
      },
    },
  },
  components: {
    schemas: {
      Base: { type: "object", required: ["a"], properties: { a: { type: "integer" } } },
      Name: { type: "string" },
    },
  },
});

/** The fields of the request body in words: one line each, indented by depth. */
function listLines(schema: Schema): string[] {
  const markdown = referenceOperation(makeDocument(schema), "addBox")!;
  return [...markdown.matchAll(/^( *)- `(.*?)` \*(.*)\*$/gm)].map(
    ([, indent, name, type]) => `${" ".repeat(indent.length / 2)}${name}: ${type}`,
  );
}

test.each<[schema: Schema, lines: string[]]>([
  [{ properties: { a: { type: "string" } } }, ["a: string"]],
  [{ required: ["a"], properties: { a: { type: "string" }, b: {} } }, ["a: string, required", "b: object"]],
  [{ properties: { a: { type: ["string", "null"] } } }, ["a: string or null"]],
  [{ properties: { a: { const: "x" } } }, ['a: "x"']],
  [{ properties: { a: { enum: ["x", "y"] } } }, ["a: one of x, y"]],
  [
    { properties: { a: { anyOf: [{ type: "string" }, { type: "integer" }, { type: "string" }] } } },
    ["a: string or integer"],
  ],
  [{ properties: { a: { oneOf: [{ type: "string" }, { type: "null" }] } } }, ["a: string or null"]],
  [{ properties: { a: { type: "array", items: { type: "string" } } } }, ["a: list of string"]],
  [{ properties: { a: { $ref: "#/components/schemas/Name" } } }, ["a: string"]],
  [{ $ref: "#/components/schemas/Base" }, ["a: integer, required"]],
  [{ type: "array", items: { $ref: "#/components/schemas/Base" } }, ["a: integer, required"]],
  [
    { allOf: [{ $ref: "#/components/schemas/Base" }], properties: { b: { type: "string" } } },
    ["a: integer, required", "b: string"],
  ],
  [nested(2), ["in: object", " in: string"]],
  [nested(7), ["in: object", " in: object", "  in: object", "   in: object", "    in: object"]],
])("the schema %j is shown as %j", (schema, lines) => {
  expect(listLines(schema)).toEqual(lines);
});

test("a body without fields is shown by its type", () => {
  expect(referenceOperation(makeDocument({ type: "string" }), "addBox")).toContain("\n\nstring\n");
  expect(referenceOperation(makeDocument({}), "none")).toBeUndefined();
});

test.each([
  ["", true],
  ["box", true],
  ["BOX", true],
  ["places add", true],
  ["nothing", false],
])("a search for %p lists the operation: %p", (search, isListed) => {
  const markdown = referenceIndex(makeDocument({}), search);
  expect(markdown.includes("(/docs/operations/addBox) Add a box")).toBe(isListed);
});

test("groups operations by resource", () => {
  expect(referenceIndex(makeDocument({}), "")).toContain('<summary>boxes <span class="count">1<');
});
