import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { RESOURCES } from "../../src/inventory/index.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { complaints, type Paths } from "../described.ts";
import { fillLists, type Lab, openLab, readPaths } from "./harness.ts";
import { IDS } from "./sample.ts";

/**
 * Compares responses with the OpenAPI document: the status is documented, and the body matches the schema. The examples
 * of all operations, which succeed, have a test of their own.
 */

let lab: Lab;
let paths: Paths = {};
beforeAll(async () => {
  const { database, ...opened } = await openLab();
  paths = await readPaths({ database, ...opened });
  database.close();
});
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.database.close());

/** True if a path is of a list other than locations, which stands for all: they come from the same declaration. */
const isOtherList = (path: string): boolean =>
  RESOURCES.some(({ segment }) => segment !== "locations" && path.startsWith(`/api/v2/${segment}`));

test("every operation responds as documented to anonymous callers and about what does not exist", async () => {
  const found: string[] = [];
  for (const [path, methods] of Object.entries(paths).filter(([each]) => !isOtherList(each)))
    for (const [word, operation] of Object.entries(methods)) {
      const method = word.toUpperCase();
      const address = path.replace(/\/api\/v2\/?/, "").replace(/\{\w+\}/g, "1");
      const body = operation.requestBody ? { body: {} } : {};
      for (const as of [{}, { as: "admin" }])
        found.push(
          ...complaints(operation, method, path, await lab.ask(method, address, { ...as, ...body })),
        );
    }
  expect(found).toEqual([]);
});

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

test("answers clients that fill in the path of a list and encode its slash", async () => {
  await fillLists(lab, paths);
  for (const { segment } of RESOURCES.filter((each) => each.segment.includes("/"))) {
    const encoded = encodeURIComponent(segment);
    const list = await lab.send("admin", "GET", `${segment}/?page=1`);
    expect((await lab.send("admin", "GET", `${encoded}/?page=1`)).body).toEqual(list.body);
    const [{ id }] = list.body.results as { id: string }[];
    const note = await lab.send("admin", "POST", `${encoded}/${id}/notes`, { content: "x" });
    expect([note.status, (await lab.send("admin", "GET", `${segment}/${id}/notes`)).body.total]).toEqual([
      201, 1,
    ]);
  }
});

test("Allow lists the documented methods", async () => {
  await fillLists(lab, paths);
  for (const { segment } of RESOURCES) {
    const list = await lab.send("admin", "GET", `${segment}/?page=1`);
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
