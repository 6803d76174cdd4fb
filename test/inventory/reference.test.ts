import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { RESOURCES } from "../../src/inventory/index.ts";
import { listParameters, listSchema } from "../../src/inventory/model/schema.ts";
import { isGuarded } from "../../src/inventory/model/resource.ts";
import { DECLARED } from "../../src/inventory/resources/index.ts";
import { withNull } from "../described.ts";
import { type Lab, openLab, pathsOf } from "./harness.ts";

/** The OpenAPI document says what the interface does. */

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; in: string; description: string }[];
  responses: Record<string, { description: string; content?: { "application/json": { schema: object } } }>;
  requestBody?: { content: { "application/json": { schema: { properties: object } } } };
}

let lab: Lab;
let paths: Record<string, Record<string, Operation>> = {};
beforeAll(async () => {
  lab = await openLab();
  paths = await pathsOf<Operation>(lab);
});
afterAll(() => lab.database.close());

test("every operation has a unique id, a summary, a tag and described responses", () => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(operations.length).toBe(25 * RESOURCES.length + 19 * RESOURCES.filter(isGuarded).length + 58);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { summary, tags, responses } of operations) {
    expect(summary).toMatch(/\S/);
    expect(tags).toEqual(["inventory"]);
    for (const answer of Object.values(responses)) expect(answer.description).toMatch(/\S/);
  }
});

describe("lists:", () => {
  for (const resource of RESOURCES) {
    test(resource.segment, async () => {
      const operation = paths[`/api/v2/${resource.segment}/`].get;
      // Everything described is accepted …
      for (const { name, description } of operation.parameters ?? []) {
        expect(description).toMatch(/\S/);
        const answer = await lab.ask("GET", `${resource.segment}/?${name}=`);
        const complaint = answer.text.includes("is not a parameter");
        expect({ name, complaint }).toEqual({ name, complaint: false });
      }
      // … and every answer is as described, down to the last property.
      const described = operation.responses[200].content!["application/json"].schema;
      expect(described).toEqual(JSON.parse(JSON.stringify(listSchema(DECLARED, resource))));
      const check = Compile(withNull(described) as never);
      const { body } = await lab.ask("GET", `${resource.segment}/`);
      expect([...check.Errors(body)]).toEqual([]);
      const properties = (described as { properties: { results: { items: { properties: object } } } })
        .properties;
      expect(Object.keys((body.results as object[])[0])).toEqual(
        Object.keys(properties.results.items.properties),
      );
    });
  }
});

test("describes all accepted filters of the specification", () => {
  const types =
    "id created modified name description query owner owned_by public type label created_by modified_by model_name model_type";
  const specified: Record<string, string> = {
    locations:
      "id created modified modified_by created_by deleted deleted_date deleted_by public owner owned_by label equipment place name description query",
    places: "name description query deleted",
    annotationtypes: types,
    custompropertytypes: `${types} mandatory`,
  };
  for (const [segment, filters] of Object.entries(specified)) {
    const resource = RESOURCES.find((candidate) => candidate.segment === segment)!;
    const described = listParameters(DECLARED, resource).map(({ name }) => name);
    expect(described).toEqual(expect.arrayContaining(filters.split(" ")));
    for (const name of [
      "ordering",
      "page",
      "page_size",
      "query_expression",
      "can_change",
      "can_delete",
      "format",
    ])
      expect(described).toContain(name);
  }
});

test("records match their schema, and bodies with every described field are accepted", async () => {
  for (const resource of RESOURCES) {
    const { get, patch } = paths[`/api/v2/${resource.segment}/{id}/`];
    const list = await lab.ask("GET", `${resource.segment}/`);
    const [first] = list.body.results as Record<string, unknown>[];
    const item = await lab.ask("GET", `${resource.segment}/${first.id}/`);
    expect([
      ...Compile(withNull(get.responses[200].content!["application/json"].schema) as never).Errors(item.body),
    ]).toEqual([]);
    const writable = Object.keys(patch.requestBody!.content["application/json"].schema.properties);
    const known = await lab.ask("GET", `${resource.segment}/${first.id}/?fields=*`, { as: "admin" });
    const body = Object.fromEntries(writable.map((name) => [name, known.body[name]]));
    const answer = await lab.ask("PATCH", `${resource.segment}/${first.id}/`, { as: "admin", body });
    expect({
      segment: resource.segment,
      status: answer.status,
      text: answer.status === 200 ? "" : answer.text,
    }).toEqual({ segment: resource.segment, status: 200, text: "" });
  }
});
