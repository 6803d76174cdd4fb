import { afterEach, beforeEach, expect, test } from "bun:test";
import { RESOURCES } from "../../src/inventory/index.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { complaints, type Operation, type Paths, propertiesOf, type Schema } from "../described.ts";
import { type Lab, openLab, PASSWORD, pathsOf } from "./harness.ts";
import { IDS } from "./sample.ts";

/**
 * Calls every operation of the OpenAPI document, anonymously and as an administrator, and compares every response with
 * the document: its status is documented, and its body matches the schema.
 */

let lab: Lab;
let paths: Paths = {};
beforeEach(async () => {
  lab = await openLab({ passwords: true });
  paths = await pathsOf(lab);
});
afterEach(() => lab.database.close());

const segmentOf = (path: string): string => path.replaceAll(/^\/api\/v2\/|\/(\{|bulk_delete).*$|\/$/g, "");

let copies = 0;
/** A body with the documented fields: those of an existing record with another name. */
async function bodyFor(segment: string, schema: Schema): Promise<Json> {
  const { body } = await lab.send("admin", "GET", `${segment}/?fields=*&response_format=flat&page_size=1`);
  const [known] = (body.results as Record<string, Json>[] | undefined) ?? [];
  const fields = Object.keys(propertiesOf(schema));
  const made = Object.fromEntries(
    fields.filter((name) => known && name in known).map((name) => [name, known[name]]),
  );
  for (const name of ["name", "label", "room", "username"])
    if (typeof made[name] === "string")
      made[name] = `${made[name].replace(/_copy_\d+$/, "")}_copy_${++copies}`;
  return made;
}

async function newId(segment: string): Promise<string | undefined> {
  const create = paths[`/api/v2/${segment}`]?.post;
  const schema = create?.requestBody?.content["application/json"]?.schema;
  if (!schema) return undefined;
  const made = await lab.send("admin", "POST", `${segment}/`, await bodyFor(segment, schema));
  return made.body.id === undefined ? undefined : String(made.body.id);
}

/** The body for an operation, if it has one; a list where it takes several records. */
async function bodyOf(path: string, { requestBody }: Operation, id: string): Promise<Json | undefined> {
  const schema = requestBody?.content["application/json"]?.schema;
  const segment = segmentOf(path);
  if (path === "/api/v2/token-auth") return { username: "alice", password: PASSWORD };
  if (schema === undefined) return undefined;
  if (schema.items === undefined) return bodyFor(segment, schema);
  const one = paths[`/api/v2/${segment}`].post.requestBody!.content["application/json"].schema;
  return [{ id: (await newId(segment)) ?? id, ...((await bodyFor(segment, one)) as object) }];
}

test("every operation responds as documented", async () => {
  const found: string[] = [];
  const done = new Set<string>();
  for (const [path, methods] of Object.entries(paths))
    for (const [word, operation] of Object.entries(methods)) {
      const method = word.toUpperCase();
      const segment = segmentOf(path);
      // Each call gets its own record, which it may delete.
      const writes = method !== "GET" && /\{id\}(?!.*\{)/.test(path);
      const first = await lab.send("admin", "GET", `${segment}/?page_size=1`);
      const [known] = (first.body.results as Record<string, Json>[] | undefined) ?? [];
      const id = (writes ? await newId(segment) : undefined) ?? String(known?.id ?? IDS.shelf);
      const address = path
        .replace(/\/api\/v2\/?/, "")
        .replace("{id}", id)
        .replace("{user}", "alice")
        .replace(/\{\w+\}/g, "1");
      const query = path.includes("bulk_delete") ? `?id=${(await newId(segment)) ?? id}` : "";
      const body = await bodyOf(path, operation, id);
      for (const as of [{}, { as: "admin" }]) {
        const answer = await lab.ask(method, address + query, body === undefined ? as : { ...as, body });
        found.push(...complaints(operation, method, path, answer));
        if (answer.status < 300) done.add(`${method} ${path}`);
      }
    }
  expect(found).toEqual([]);
  // Errors are documented too, but the operations of the specification must succeed.
  const expected = RESOURCES.flatMap(({ segment }) => {
    const list = ["GET", "POST", "PUT", "PATCH"].map((method) => `${method} /api/v2/${segment}`);
    const one = ["GET", "PUT", "PATCH", "DELETE"].map((method) => `${method} /api/v2/${segment}/{id}`);
    return list.concat(one, `DELETE /api/v2/${segment}/bulk_delete`);
  });
  expect(expected.filter((name) => !done.has(name))).toEqual([]);
  expect(expected.length).toBeGreaterThan(70);
}, 300_000);

const NOTE = { id: IDS.note, label: "x" };
test.each<[string, Parameters<Lab["ask"]>[2], number]>([
  ["GET locations/?labl=x", {}, 400],
  ["GET locations/", { headers: { Authorization: "Token wrong" } }, 401],
  ["GET locations/?page=99", {}, 404],
  ["GET locations/?can_view=true", {}, 406],
  ["GET locations/", { headers: { Accept: "image/png" } }, 406],
  ["POST locations/", { as: "alice", body: {} }, 400],
  ["POST locations/", { as: "alice", body: "{" }, 400],
  ["POST locations/", { body: { label: "x" } }, 401],
  ["POST locations/", { as: "alice", body: "x", headers: { "Content-Type": "text/csv" } }, 415],
  ["PATCH locations/", { as: "alice", body: [{ id: IDS.shelf, label: "x" }] }, 403],
  ["PATCH locations/", { as: "alice", body: [NOTE] }, 404],
  [`GET locations/${IDS.secret}/`, {}, 404],
  [`PATCH locations/${IDS.shelf}/`, { as: "alice", body: { label: "x" } }, 403],
  [`PATCH locations/${IDS.secret}/`, { as: "bob", body: { label: "x" } }, 404],
  [`DELETE locations/${IDS.shelf}/`, { as: "alice" }, 403],
])("documents the error of %s %j", async (request, options, status) => {
  const [method, path] = request.split(" ");
  const answer = await lab.ask(method, path, options);
  const pattern = `/api/v2/${path.replace(/\?.*|[0-9a-f-]{36}/, (part) => (part.startsWith("?") ? "" : "{id}")).replace(/\/$/, "")}`;
  expect({ request, status: answer.status }).toEqual({ request, status });
  expect(complaints(paths[pattern][method.toLowerCase()], method, path, answer)).toEqual([]);
  expect(answer.headers.get("content-type")).toBe("application/json");
});

/** Sends requests as an administrator, and compares status and body with the document. */
async function follow(
  steps: readonly (readonly [request: string, status: number, body?: unknown])[],
  ids: Record<string, string>,
): Promise<Record<string, Json>> {
  let last: Record<string, Json> = {};
  for (const [request, status, body] of steps) {
    const [method, pattern] = request.split(" ");
    const path = pattern.replace(/\{(\w+)\}/g, (_, name) => ids[name]);
    const headers: Record<string, string> = typeof body === "string" ? { "Content-Type": "text/csv" } : {};
    const sent = { as: "admin", headers, ...(body === undefined ? {} : { body }) };
    const answer = await lab.ask(method, path, sent);
    expect({ request, status: answer.status, text: answer.text }).toMatchObject({ request, status });
    const operation = paths[`/api/v2/${pattern.replace(/\/?(\?.*)?$/, "")}`][method.toLowerCase()];
    expect(complaints(operation, method, pattern, answer)).toEqual([]);
    if (answer.text !== "") last = answer.body;
  }
  return last;
}

test.each([
  ["annotations", { annotation_type_id: "note", value: "x" }, { annotation_type_id: "note", value: "note" }],
  ["notes", { content: "x" }, { content: "note" }],
])("operations on %s respond as documented", async (sub, body, other) => {
  const list = `locations/{id}/${sub}/`;
  const one = `${list}{sub_id}/`;
  const made = await follow([[`POST ${list}`, 201, body]], { id: IDS.shelf });
  const ids = { id: IDS.shelf, sub_id: String(made.id) };
  expect((await follow([[`GET ${list}`, 200]], ids)).results).toEqual([made]);
  const history = await follow(
    [
      [`GET ${one}`, 200],
      [`PUT ${one}`, 200, other],
      [`PATCH ${one}`, 200, body],
      [`DELETE ${one}`, 204],
      [`GET ${one}history/`, 200],
    ],
    ids,
  );
  expect(history.total).toBe(4);
  await follow(
    [
      [`POST ${one}restore/`, 200, { version: 2 }],
      [`POST ${one}purge/`, 409],
      [`DELETE ${one}`, 204],
      [`POST ${one}purge/`, 204],
    ],
    ids,
  );
  const path = `locations/${IDS.shelf}/${sub}/`;
  const { actions } = (await lab.send("admin", "OPTIONS", path)).body;
  expect(Object.keys((actions as { POST: object }).POST).sort()).toEqual(Object.keys(body).sort());
  expect((await lab.ask("OPTIONS", path)).body.actions).toBeUndefined();
});

test("operations on files, grants, memberships and imports respond as documented", async () => {
  const [app, model] = RESOURCES.find(({ segment }) => segment === "locations")!.model!.split(".");
  const files = `attachments/?app=${app}&model=${model}&object_id=${IDS.shelf}`;
  const { id } = await follow([[`POST ${files}`, 201, "a;b"]], {});
  await follow(
    [
      [`GET ${files}`, 200],
      ["GET attachments/{id}/", 200],
      ["PUT attachments/{id}/", 200, "a;c"],
      ["PATCH attachments/{id}/", 200, { name: "x.csv" }],
      ["DELETE attachments/{id}/", 204],
      ["GET attachments/{id}/history/", 200],
      ["POST attachments/{id}/restore/", 200, { version: 1 }],
      ["DELETE attachments/{id}/", 204],
      ["POST attachments/{id}/purge/", 204],
    ],
    { id: String(id) },
  );
  const grants = "locations/{id}/permissions/";
  const to = { users: [{ user: "bob", view: true }] };
  const shared = await follow([[`PUT ${grants}`, 200, to]], { id: IDS.shelf });
  const [{ grant }] = shared.users as { grant: string }[];
  await follow(
    [
      [`GET ${grants}{grant}/history/`, 200],
      [`PUT ${grants}`, 200, { users: [] }],
      [`POST ${grants}{grant}/restore/`, 200, {}],
      [`PUT ${grants}`, 200, { users: [] }],
      [`POST ${grants}{grant}/purge/`, 204],
    ],
    { id: IDS.shelf, grant },
  );
  const member = "groups/{group}/members/{member}/";
  await follow(
    [
      [`PUT ${member}`, 204, {}],
      ["GET groups/{group}/history/", 200],
      ["GET users/{user}/history/", 404],
      [`DELETE ${member}`, 204],
      [`GET ${member}history/`, 200],
      [`POST ${member}restore/`, 200, {}],
      [`DELETE ${member}`, 204],
      [`POST ${member}purge/`, 204],
    ],
    { group: "Imaging", user: "Imaging", member: "alice" },
  );
  await follow(
    [
      ["POST locations/import/?dry_run=1", 200, "label;place\nX;A 101\n"],
      ["POST locations/import/?progress=1", 200, "label;place\nX;A 101\n"],
      ["POST locations/import/", 400, "label;place\nY;nowhere\n"],
      ["GET users/{user}/history/", 200],
    ],
    { user: "alice" },
  );
  for (const path of ["attachments/", "locations/import/"])
    expect((await lab.send("admin", "OPTIONS", path)).body).toMatchObject({
      name: path.slice(0, -1),
      parses: expect.arrayContaining(["multipart/form-data"]),
    });
});

test("Allow lists the documented methods", async () => {
  for (const { segment } of RESOURCES) {
    const list = await lab.send("admin", "GET", `${segment}/`);
    expect(list.headers.get("content-type")).toBe("application/json");
    expect(list.headers.get("vary")).toStartWith("Accept");
    const [{ id }] = list.body.results as { id: Json }[];
    for (const pattern of [`${segment}/`, `${segment}/{id}/`]) {
      const { headers } = await lab.send("admin", "OPTIONS", pattern.replace("{id}", String(id)));
      const allowed = headers.get("allow")!.split(", ");
      const documented = Object.keys(paths[`/api/v2/${pattern}`.slice(0, -1)]).map((word) =>
        word.toUpperCase(),
      );
      expect({ pattern, allowed: allowed.toSorted() }).toEqual({
        pattern,
        allowed: [...documented, "HEAD", "OPTIONS"].toSorted(),
      });
    }
  }
});
