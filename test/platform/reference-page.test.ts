import { expect, test } from "bun:test";
import { indexPage, type OpenApi, operationPage } from "../../src/platform/reference-page.ts";

type Schema = NonNullable<NonNullable<OpenApi["components"]>["schemas"]>[string];

/** Nested objects, each with one property `in`. */
const nested = (depth: number): Schema =>
  depth === 0 ? { type: "string" } : { type: "object", properties: { in: nested(depth - 1) } };

const documentOf = (schema: Schema): OpenApi => ({
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
async function linesOf(schema: Schema): Promise<string[]> {
  const html = await operationPage(documentOf(schema), "addBox", "")!.text();
  let depth = -1;
  const lines: string[] = [];
  for (const [tag, name, type] of html.matchAll(
    /<ul>|<\/ul>|<li><code>(.*?)<\/code> <span class="muted">(.*?)<\/span>/g,
  ))
    if (tag === "<ul>") depth++;
    else if (tag === "</ul>") depth--;
    else lines.push(`${" ".repeat(depth)}${name}: ${type}`);
  return lines;
}

test.each<[schema: Schema, lines: string[]]>([
  [{ properties: { a: { type: "string" } } }, ["a: string"]],
  [{ required: ["a"], properties: { a: { type: "string" }, b: {} } }, ["a: string, required", "b: object"]],
  [{ properties: { a: { type: ["string", "null"] } } }, ["a: string or null"]],
  [{ properties: { a: { const: "x" } } }, ["a: &quot;x&quot;"]],
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
])("the schema %j is shown as %j", async (schema, lines) => {
  expect(await linesOf(schema)).toEqual(lines);
});

test("a body without fields is shown by its type", async () => {
  const html = await operationPage(documentOf({ type: "string" }), "addBox", "")!.text();
  expect(html).toContain("<p>string</p>");
  expect(operationPage(documentOf({}), "none", "")).toBeUndefined();
});

test.each([
  ["", true],
  ["box", true],
  ["BOX", true],
  ["places add", true],
  ["nothing", false],
])("a search for %p lists the operation: %p", async (search, isListed) => {
  const html = await indexPage(documentOf({}), search, "/labd").text();
  expect(html.includes('href="/labd/docs/operations/addBox"')).toBe(isListed);
});

test("groups operations by resource", async () => {
  expect(await indexPage(documentOf({}), "", "").text()).toContain('<summary>boxes <span class="muted">1<');
});
