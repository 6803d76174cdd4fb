import { afterEach, beforeEach, expect, test } from "bun:test";
import { RESOURCES } from "../../src/inventory/index.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { complaints, type Operation, type Schema } from "../described.ts";
import { type Lab, openLab, PASSWORD, pathsOf } from "./harness.ts";
import { IDS } from "./sample.ts";

/**
 * Calls every operation of the OpenAPI document, anonymously and as an administrator, and compares every response with
 * the document: its status is documented, and its body matches the schema.
 */

let lab: Lab;
let paths: Record<string, Record<string, Operation>> = {};
beforeEach(async () => {
  lab = await openLab({ passwords: true });
  paths = await pathsOf<Operation>(lab);
});
afterEach(() => lab.database.close());

const segmentOf = (path: string): string =>
  path
    .replace(/^\/api\/v2\//, "")
    .replace(/\/(\{|bulk_delete).*$/, "")
    .replace(/\/$/, "");

let copies = 0;
/** A body with the documented fields: those of an existing record with another name. */
async function bodyFor(segment: string, schema: Schema): Promise<Json> {
  const { body } = await lab.send("admin", "GET", `${segment}/?fields=*&response_format=flat&page_size=1`);
  const [known] = (body.results as Record<string, Json>[] | undefined) ?? [];
  const fields = Object.keys(schema.properties ?? {});
  const made = Object.fromEntries(
    fields.filter((name) => known && name in known).map((name) => [name, known[name]]),
  );
  for (const name of ["name", "label", "room", "username"])
    if (typeof made[name] === "string")
      made[name] = `${made[name].replace(/_copy_\d+$/, "")}_copy_${++copies}`;
  return made;
}

async function newId(segment: string): Promise<string | undefined> {
  const create = paths[`/api/v2/${segment}/`]?.post;
  const schema = create?.requestBody?.content["application/json"]?.schema;
  if (!schema) return undefined;
  const made = await lab.send("admin", "POST", `${segment}/`, await bodyFor(segment, schema));
  return made.body.id === undefined ? undefined : String(made.body.id);
}

/** Bodies of operations that belong to no resource. */
const BODIES: Record<string, Json> = {
  "/api/v2/token-auth/": { username: "alice", password: PASSWORD },
};

test("every operation responds as documented", async () => {
  const found: string[] = [];
  const done = new Set<string>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [word, operation] of Object.entries(methods)) {
      const method = word.toUpperCase();
      const segment = segmentOf(path);
      const schema = operation.requestBody?.content["application/json"]?.schema;
      // Each call gets its own record, which it may delete.
      const writes = method !== "GET" && /\{id\}(?!.*\{)/.test(path);
      const first = await lab.send("admin", "GET", `${segment}/?page_size=1`);
      const [known] = (first.body.results as Record<string, Json>[] | undefined) ?? [];
      const id = (writes ? await newId(segment) : undefined) ?? String(known?.id ?? IDS.shelf);
      const address = path
        .replace("/api/v2/", "")
        .replace("{id}", id)
        .replace("{name}", "alice")
        .replace(/\{\w+\}/g, "1");
      const needsId = operation.parameters?.some(
        ({ name, in: at, schema }) => name === "id" && at === "query" && schema?.type === "array",
      );
      const query = needsId ? `?id=${(await newId(segment)) ?? id}` : "";
      const several = schema?.items !== undefined;
      const body =
        BODIES[path] ??
        (schema === undefined
          ? undefined
          : several
            ? [
                {
                  id: (await newId(segment)) ?? id,
                  ...((await bodyFor(
                    segment,
                    paths[`/api/v2/${segment}/`].post.requestBody!.content["application/json"].schema,
                  )) as object),
                },
              ]
            : await bodyFor(segment, schema));
      for (const as of [undefined, "admin"]) {
        const answer = await lab.ask(method, `${address}${query}`, {
          ...(as === undefined ? {} : { as }),
          ...(body === undefined ? {} : { body }),
        });
        found.push(...complaints(operation, method, path, answer));
        if (answer.status < 300) done.add(`${method} ${path}`);
      }
    }
  }
  expect(found).toEqual([]);
  // Errors are documented too, but the operations of the specification must succeed.
  const expected = RESOURCES.flatMap(({ segment }) => {
    const list = `/api/v2/${segment}/`;
    const all = [
      ["GET", list],
      ["POST", list],
      ["PUT", list],
      ["PATCH", list],
      ["DELETE", `${list}bulk_delete/`],
    ];
    const one = ["GET", "PUT", "PATCH", "DELETE"].map((method) => [method, `${list}{id}/`]);
    return [...all, ...one]
      .filter(([method, path]) => paths[path]?.[method.toLowerCase()])
      .map((pair) => pair.join(" "));
  }).filter((name) => !/\/(users|groups)\//.test(name));
  expect(expected.filter((name) => !done.has(name))).toEqual([]);
  expect(expected.length).toBeGreaterThan(70);
}, 300_000);

test("every error has the documented form", async () => {
  const list = paths["/api/v2/locations/"];
  const item = paths["/api/v2/locations/{id}/"];
  const tries: [
    Operation,
    string,
    string,
    { as?: string; body?: unknown; headers?: Record<string, string> },
    number,
  ][] = [
    [list.get, "GET", "locations/?labl=x", {}, 400],
    [list.get, "GET", "locations/", { headers: { Authorization: "Token wrong" } }, 401],
    [list.get, "GET", "locations/?page=99", {}, 404],
    [list.get, "GET", "locations/?can_view=true", {}, 406],
    [list.get, "GET", "locations/", { headers: { Accept: "image/png" } }, 406],
    [list.post, "POST", "locations/", { as: "alice", body: {} }, 400],
    [list.post, "POST", "locations/", { as: "alice", body: "{" }, 400],
    [list.post, "POST", "locations/", { body: { label: "x" } }, 401],
    [
      list.post,
      "POST",
      "locations/",
      { as: "alice", body: "x", headers: { "Content-Type": "text/csv" } },
      415,
    ],
    [list.patch, "PATCH", "locations/", { as: "alice", body: [{ id: IDS.shelf, label: "x" }] }, 403],
    [list.patch, "PATCH", "locations/", { as: "alice", body: [{ id: IDS.note, label: "x" }] }, 404],
    [item.get, "GET", `locations/${IDS.secret}/`, {}, 404],
    [item.patch, "PATCH", `locations/${IDS.shelf}/`, { as: "alice", body: { label: "x" } }, 403],
    [item.patch, "PATCH", `locations/${IDS.secret}/`, { as: "bob", body: { label: "x" } }, 404],
    [item.delete, "DELETE", `locations/${IDS.shelf}/`, { as: "alice" }, 403],
  ];
  for (const [operation, method, path, options, status] of tries) {
    const answer = await lab.ask(method, path, options);
    expect({ path, method, status: answer.status }).toEqual({ path, method, status });
    expect(complaints(operation, method, path, answer)).toEqual([]);
    expect(answer.headers.get("content-type")).toBe("application/json");
  }
});

test("sub-resources, files and imports respond as documented", async () => {
  const record = `locations/${IDS.shelf}/`;
  const described = (method: string, path: string) => paths[`/api/v2/${path}`][method.toLowerCase()];
  const hold = async (method: string, path: string, address: string, status: number, body?: unknown) => {
    const headers = typeof body === "string" ? { "Content-Type": "text/csv" } : {};
    const answer = await lab.ask(method, address, {
      as: "admin",
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect({ method, address, status: answer.status, text: answer.text }).toEqual({
      method,
      address,
      status,
      text: answer.text,
    });
    expect(complaints(described(method, path), method, path, answer)).toEqual([]);
    return answer.body;
  };
  for (const [what, body] of [
    ["annotations", { annotation_type_id: "note", value: "x" }],
    ["notes", { content: "x" }],
  ] as const) {
    const list = `locations/{id}/${what}/`;
    const made = await hold("POST", list, `${record}${what}/`, 201, body);
    expect(made.id).toBeString();
    expect((await hold("GET", list, `${record}${what}/`, 200)).results).toEqual([made]);
    const own = `${record}${what}/${String(made.id)}/`;
    await hold("GET", `${list}{sub_id}/`, own, 200);
    const another = Object.fromEntries(Object.keys(body).map((name) => [name, "note"]));
    for (const [method, sent] of [
      ["PUT", another],
      ["PATCH", body],
    ] as const)
      await hold(method, `${list}{sub_id}/`, own, 200, sent);
    await hold("DELETE", `${list}{sub_id}/`, own, 204);
    const told = await hold("GET", `${list}{sub_id}/history/`, `${own}history/`, 200);
    expect(told.total).toBe(4);
    await hold("POST", `${list}{sub_id}/restore/`, `${own}restore/`, 200, { version: 2 });
    await hold("POST", `${list}{sub_id}/purge/`, `${own}purge/`, 409);
    await hold("DELETE", `${list}{sub_id}/`, own, 204);
    await hold("POST", `${list}{sub_id}/purge/`, `${own}purge/`, 204);
    const { body: options } = await lab.send("admin", "OPTIONS", `${record}${what}/`);
    const fields = (options.actions as { POST: Record<string, { required: boolean }> }).POST;
    expect(Object.keys(fields).sort()).toEqual(Object.keys(body).sort());
    expect((await lab.ask("OPTIONS", `${record}${what}/`)).body.actions).toBeUndefined();
  }
  const [app, model] = RESOURCES.find(({ segment }) => segment === "locations")!.model!.split(".");
  const of = `attachments/?app=${app}&model=${model}&object_id=${IDS.shelf}`;
  const file = await hold("POST", "attachments/", of, 201, "a;b");
  await hold("GET", "attachments/", of, 200);
  await hold("GET", "attachments/{id}/", `attachments/${String(file.id)}/`, 200);
  const bytes = `attachments/${String(file.id)}/`;
  await hold("PUT", "attachments/{id}/", bytes, 200, "a;c");
  expect((await lab.send("admin", "PATCH", bytes, { name: "x.csv" })).body.version).toBe(3);
  await hold("DELETE", "attachments/{id}/", bytes, 204);
  await hold("GET", "attachments/{id}/history/", `${bytes}history/`, 200);
  await hold("POST", "attachments/{id}/restore/", `${bytes}restore/`, 200, { version: 1 });
  await hold("DELETE", "attachments/{id}/", bytes, 204);
  await hold("POST", "attachments/{id}/purge/", `${bytes}purge/`, 204);
  const shared = await hold("PUT", "locations/{id}/permissions/", `${record}permissions/`, 200, {
    users: [{ user: "bob", view: true }],
  });
  const [{ grant }] = shared.users as { grant: string }[];
  const right = `${record}permissions/${grant}/`;
  await hold("GET", "locations/{id}/permissions/{grant}/history/", `${right}history/`, 200);
  await hold("PUT", "locations/{id}/permissions/", `${record}permissions/`, 200, { users: [] });
  await hold("POST", "locations/{id}/permissions/{grant}/restore/", `${right}restore/`, 200, {});
  await hold("PUT", "locations/{id}/permissions/", `${record}permissions/`, 200, { users: [] });
  await hold("POST", "locations/{id}/permissions/{grant}/purge/", `${right}purge/`, 204);
  const member = "groups/Imaging/members/alice/";
  await hold("PUT", "groups/{name}/members/{member}/", member, 204, {});
  await hold("GET", "groups/{name}/history/", "groups/Imaging/history/", 200);
  await hold("GET", "users/{name}/history/", "users/alice/history/", 200);
  await hold("DELETE", "groups/{name}/members/{member}/", member, 204);
  await hold("GET", "groups/{name}/members/{member}/history/", `${member}history/`, 200);
  await hold("POST", "groups/{name}/members/{member}/restore/", `${member}restore/`, 200, {});
  await hold("DELETE", "groups/{name}/members/{member}/", member, 204);
  await hold("POST", "groups/{name}/members/{member}/purge/", `${member}purge/`, 204);
  await hold("POST", "locations/import/", "locations/import/?dry_run=1", 200, "label;place\nX;A 101\n");
  await hold("POST", "locations/import/", "locations/import/?progress=1", 200, "label;place\nX;A 101\n");
  await hold("POST", "locations/import/", "locations/import/", 400, "label;place\nY;nowhere\n");
  for (const address of ["attachments/", "locations/import/"])
    expect((await lab.send("admin", "OPTIONS", address)).body).toMatchObject({
      name: address.slice(0, -1),
      parses: expect.arrayContaining(["multipart/form-data"]),
    });
});

test("Allow lists the documented methods", async () => {
  for (const { segment } of RESOURCES) {
    const list = await lab.send("admin", "GET", `${segment}/`);
    expect([list.headers.get("content-type"), list.headers.get("vary")]).toEqual([
      "application/json",
      expect.stringMatching(/^Accept\b/),
    ]);
    const id = String((list.body.results as { id: Json }[])[0].id);
    for (const [path, address] of [
      [`/api/v2/${segment}/`, `${segment}/`],
      [`/api/v2/${segment}/{id}/`, `${segment}/${id}/`],
    ]) {
      const { headers } = await lab.send("admin", "OPTIONS", address);
      const allowed = headers
        .get("allow")!
        .split(", ")
        .filter((name) => name !== "HEAD" && name !== "OPTIONS");
      expect({ path, allowed: allowed.sort() }).toEqual({
        path,
        allowed: Object.keys(paths[path])
          .map((word) => word.toUpperCase())
          .sort(),
      });
    }
  }
});
