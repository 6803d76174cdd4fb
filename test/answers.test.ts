import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../src/app/open.ts";
import { resolveConfig } from "../src/config.ts";
import { defaultForm, findErrors } from "./described.ts";
import { EveryOperation, type Listed, operationRank } from "./fixtures/every-operation.ts";
import type { Json } from "./fixtures/service.ts";
import { closedResponses, type ResponseSchemas, untypedSchemas } from "./fixtures/response-schemas.ts";

/** The answers of the inventory in every form, held against the OpenAPI document as a strict generated client does. */

setDefaultTimeout(300_000);

const directory = mkdtempSync(join(tmpdir(), "labd-answers-"));
let app: App;
let document: object;
let every: EveryOperation;
let responses: ResponseSchemas;
const callers: Record<string, () => Record<string, string>> = {
  "an administrator": () => credentials("ada"),
  "a user": () => credentials("kim"),
  "a stranger": () => ({}),
};

beforeAll(async () => {
  const flags = { data_dir: directory, backup_hours: "0", log: "off", workers: "1" };
  app = await open(resolveConfig({ flags, environment: {} }).config);
  await app.accounts.addUser({ username: "ada", superuser: true });
  for (const username of ["kim", "max"]) await app.accounts.addUser({ username });
  for (const username of ["ada", "kim"]) tokens[username] = app.accounts.addToken(username, "test");
  document = (await (await app.answer(new Request("http://lab/docs/json"))).json()) as object;
  responses = closedResponses(document);
  every = new EveryOperation(document, request);
  await every.makeInventory();
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

const tokens: Record<string, string> = {};
const credentials = (name: string) => ({ Authorization: `Token ${tokens[name]}` });
const send = (method: string, address: string, headers: Record<string, string>, body?: string | FormData) =>
  app.answer(
    new Request(`http://lab${address}`, {
      method,
      headers,
      ...(method === "GET" || body === undefined ? {} : { body }),
    }),
  );

/** Sends a request as an administrator. */
async function request(
  method: string,
  address: string,
  body = "{}",
  type = "application/json",
): Promise<Json> {
  const response = await send(method, address, { ...credentials("ada"), "Content-Type": type }, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Json);
}

/** Queries that change the form of an answer. Of the fields: one, two, one of another record, annotations, and all. */
function listForms({ method, path, operation }: Listed): string[] {
  const parameter = (name: string) =>
    operation.parameters.find((one) => one.name === name && one.in === "query");
  const shapes = parameter("response_format")?.schema.enum ?? [];
  // Records without owners have no annotations.
  const named = /users|groups/.test(path)
    ? ["id", "*"]
    : ["id", "id,created", "owner__username", "annotations__remark", "*"];
  const fields = !parameter("fields") ? [] : method === "GET" ? named : [named.at(-2)!];
  return [
    "",
    ...shapes.map((shape) => `response_format=${shape}`),
    ...fields.flatMap((field) =>
      ["", ...shapes].map((shape) => `fields=${field}${shape && `&response_format=${shape}`}`),
    ),
    ...(parameter("explain") ? ["explain=1"] : []),
    ...(parameter("dry_run") ? ["dry_run=1"] : []),
    ...(parameter("page") && parameter("page_size") ? ["page=1&page_size=1"] : []),
  ];
}

/** An address with these parameters in place of those of the same names. */
function withQuery(address: string, form: string): string {
  const url = new URL(address, "http://lab");
  for (const [name, value] of new URLSearchParams(form)) url.searchParams.set(name, value);
  return url.pathname + url.search;
}

/** What the walk must have met: forms of successes, and errors. */
const ANSWERED = [
  "success response_format=flat",
  "success response_format=nested",
  "success fields=owner__username&response_format=nested",
  "success fields=annotations__remark&response_format=flat",
  "success explain=1",
  "success dry_run=1",
  "success page=1&page_size=1",
  ...[400, 401, 403, 404, 409].map((status) => `${status} `),
];

/** Operations whose answer without parameters is not the first form, with the reasons. */
const OTHER_DEFAULTS: Record<string, string> = {
  listDropboxs: "LabID's client reads it without an envelope",
  takeStockOut: "one operation describes the records of all stock",
  putStockBack: "one operation describes the records of all stock",
  restoreRecord: "one operation describes the records of all lists",
};

/** Errors of the form that records have without parameters, which comes first and has all shown fields. */
function findDefaultErrors({ operation }: Listed, form: string, value: Json): string[] {
  const schema = operation.responses[200]?.content?.["application/json"]?.schema;
  const hasForms = operation.parameters.some(({ name }) => name === "fields");
  if (form !== "" || !schema || !hasForms || operation.operationId in OTHER_DEFAULTS) return [];
  return findErrors(defaultForm(schema), value);
}

const ofInventory = () =>
  every.listed
    .filter(({ path }) => path.startsWith("/api/v2"))
    .toSorted((a, b) => operationRank(a) - operationRank(b));

test("every answer in every form is as the document describes it, without other members", async () => {
  const wrong: string[] = [];
  const answered = new Set<string>();
  for (const each of ofInventory()) {
    const { method, path } = each;
    const reads = method === "GET" || path.endsWith("/search");
    for (const [name, headers] of Object.entries(callers)) {
      const forms = name === "an administrator" ? listForms(each) : [""];
      for (const form of forms) {
        const call = await every.makeCall(each);
        const address = withQuery(call.address, form);
        const sent = { ...headers(), ...(call.type === undefined ? {} : { "Content-Type": call.type }) };
        const response = await send(method, address, sent, call.body ?? (reads ? undefined : "{}"));
        const where = `${method} ${address} as ${name}: ${response.status}`;
        answered.add(`${response.ok ? "success" : response.status} ${form}`);
        const text = await response.text();
        if (!response.headers.get("content-type")?.startsWith("application/json")) continue;
        const value = JSON.parse(text) as Json;
        const errors = responses.findErrors(method, path, response.status, value);
        if (response.status === 200) errors.push(...findDefaultErrors(each, form, value));
        wrong.push(...errors.map((error) => `${where} ${error}`));
      }
    }
  }
  expect(wrong).toEqual([]);
  expect([...answered]).toEqual(expect.arrayContaining(ANSWERED));
});

const FIELD = "a value of any field, which OPTIONS of its list describes";

/** Values in answers of which the document does not say more than that they are JSON, with the reasons. */
const UNTYPED: Record<string, string> = {
  "Annotation.annotation_type_id": "bodies may have an id, a name or an object with either",
  "Annotation.value": "the annotation type determines the form of the value",
  "PartialAnnotationType.validations.items.arguments.items":
    "the arguments of a rule are JSON that only the client of LabID reads",
  "AuditEntry.detail.additionalProperties": "details differ by action",
  "Change.after.additionalProperties": FIELD,
  "Change.before.additionalProperties": FIELD,
  "CheckedRack.changes.items.after.additionalProperties": FIELD,
  "CheckedRack.changes.items.before.additionalProperties": FIELD,
  "FieldValues.results.items.label": FIELD,
  "FieldValues.results.items.value": FIELD,
  "ImportedChange.changes.items.after": FIELD,
  "ImportedChange.changes.items.before": FIELD,
  "NestedProperty.anyOf.0.value": FIELD,
  "Preview.changes.items.after.additionalProperties": FIELD,
  "Preview.changes.items.before.additionalProperties": FIELD,
  "PreviewedRow.values.additionalProperties": FIELD,
  "Task.result": "results differ by kind of task",
  "get /api/v2/core/usagelogs 200.items.additionalProperties": "cells of a table with columns of any kind",
  "get /api/v2/data_management/datasets/datafilemeta_export 200.items.additionalProperties":
    "cells of a table with columns of any kind",
};

test("every schema of an answer says what it is", () => {
  expect(untypedSchemas(document).toSorted()).toEqual(Object.keys(UNTYPED).toSorted());
});
