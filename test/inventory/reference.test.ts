import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listParameters } from "../../src/inventory/model/list-parameters.ts";
import { inventoryRoutes, RESOURCES } from "../../src/inventory/index.ts";
import { DECLARED } from "../../src/inventory/resources/index.ts";
import { defaultForm, findErrors, listOperations, type Paths, listProperties } from "../described.ts";
import { fillLists, type Lab, openLab, readPaths } from "./harness.ts";

/** The OpenAPI document says what the interface does. */

let lab: Lab;
let paths: Paths = {};
beforeAll(async () => {
  lab = await openLab();
  paths = await readPaths(lab);
  await fillLists(lab, paths);
});
afterAll(() => lab.database.close());

test("every operation has a unique id, a summary, a tag and described responses", () => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { summary, tags, responses } of operations) {
    expect(summary).toMatch(/\S/);
    expect(tags).toHaveLength(1);
    for (const answer of Object.values(responses)) expect(answer.description).toMatch(/\S/);
  }
});

test.each(["/locations/{id}/free_slots", "/stocktakes/{id}/scans", "/stocktakes/{id}/apply", "/locations"])(
  "describes that POST %s takes an Idempotency-Key",
  (path) => {
    const { parameters } = paths[`/api/v2${path}`].post;
    expect(parameters.map(({ name }) => name)).toContain("Idempotency-Key");
  },
);

/** Forms of HTML, addresses that clients also use, and forms of the specification. */
const UNDESCRIBED = [
  /^OPTIONS /,
  /^POST \/api\/v2\/(imports\/\{\}|.+\/\{\})$/,
  /^(POST|DELETE) .*bulk_delete$/,
  /^POST \/api\/token-auth$/,
];

test("describes every route, and nothing else", async () => {
  const named = (method: string, path: string): string =>
    `${method.toUpperCase()} ${path.replace(/(?<=.)\/$/, "").replaceAll(/:\w+|\{\w+\}/g, "{}")}`;
  const { routes: mounted } = inventoryRoutes({ ...lab, anonymousRead: true });
  const routes = mounted.map(({ method, path }) => named(method, path));
  const { text } = await lab.ask("GET", "http://lab/docs/json");
  const inApi = Object.entries(listOperations(JSON.parse(text))).filter(([path]) => path.startsWith("/api/"));
  const described = inApi.flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters }]) => {
      const { schema } = parameters.find(({ name }) => name === "list") ?? {};
      return (schema?.enum ?? [""]).map((list) => named(method, routed(path.replace("{list}", list))));
    }),
  );
  const left = new Set(routes).difference(new Set(described));
  expect([...left].filter((route) => !UNDESCRIBED.some((rule) => rule.test(route)))).toEqual([]);
  expect([...new Set(described).difference(new Set(routes))]).toEqual([]);
});

/** The path of a route: lists for clients share theirs. */
function routed(path: string): string {
  const list = RESOURCES.find(
    ({ forClients, segment }) => forClients && `${path}/`.startsWith(`/api/v2/${segment}/`),
  );
  return list ? path.replace(list.segment, "~/:list") : path;
}

describe("lists:", () => {
  for (const resource of RESOURCES) {
    test(resource.segment, async () => {
      const operation = paths[`/api/v2/${resource.segment}`].get;
      // Everything described is accepted …
      for (const { name, description } of operation.parameters) {
        expect(description).toMatch(/\S/);
        // Stands for parameters of other names.
        if (name === "other_filters") continue;
        const answer = await lab.ask("GET", `${resource.segment}/?${name}=`);
        const complaint = answer.text.includes("is not a parameter");
        expect({ name, complaint }).toEqual({ name, complaint: false });
      }
      // … and every answer is as described, down to the last property.
      const described = defaultForm(operation.responses[200].content!["application/json"].schema);
      const { body } = await lab.send("admin", "GET", `${resource.segment}/?page=1`);
      expect(findErrors(described, body)).toEqual([]);
      expect(Object.keys((body.results as object[])[0])).toEqual(
        defaultForm(described.properties!.results.items!).required!,
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
    const { get, patch } = paths[`/api/v2/${resource.segment}/{id}`];
    const list = await lab.send("admin", "GET", `${resource.segment}/?page=1`);
    const [first] = list.body.results as Record<string, unknown>[];
    const item = await lab.send("admin", "GET", `${resource.segment}/${first.id}/`);
    expect(findErrors(get.responses[200].content!["application/json"].schema, item.body)).toEqual([]);
    const writable = Object.keys(listProperties(patch.requestBody!.content["application/json"].schema));
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
