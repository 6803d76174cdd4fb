import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Answered, type Lab, openLab, START } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Concurrent writers and readers of one record, and repeated requests. */

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.database.close());

const ask = (
  method: string,
  path: string,
  { body, headers, as = "alice" }: { body?: unknown; headers?: Record<string, string>; as?: string } = {},
): Promise<Answered> =>
  lab.ask(method, path, { as, ...(body === undefined ? {} : { body }), ...(headers ? { headers } : {}) });
const add = async (): Promise<Answered> => ask("POST", "locations/", { body: { label: "Box" } });
const total = async (path: string): Promise<unknown> => (await ask("GET", path, { as: "admin" })).body.total;

describe("entity tags", () => {
  test("an entity tag contains the version of the record, changes with every write, and differs by format", async () => {
    const made = await add();
    const path = `locations/${made.body.id}/`;
    const tag = made.headers.get("etag")!;
    expect(tag).toMatch(/^"1-\w+"$/);
    expect((await ask("GET", path)).headers.get("etag")).toBe(tag);
    for (const form of ["fields=label", "format=api", "response_format=flat"])
      expect((await ask("GET", `${path}?${form}`)).headers.get("etag")).not.toBe(tag);
    const changed = await ask("PATCH", path, { body: { label: "Case" } });
    expect(changed.headers.get("etag")).toMatch(/^"2-\w+"$/);
    expect((await ask("GET", path)).headers.get("etag")).toBe(changed.headers.get("etag"));
  });

  test("returns 304 for If-None-Match until something is written", async () => {
    const made = await add();
    for (const path of [
      `locations/${made.body.id}/`,
      `locations/${made.body.id}/?response_format=flat`,
      "locations/?ordering=-label",
      `locations/${made.body.id}/history/`,
      "changes/",
    ]) {
      const first = await ask("GET", path);
      const headers = { "If-None-Match": `"other", ${first.headers.get("etag")}` };
      for (const method of ["GET", "HEAD"]) {
        const again = await ask(method, path, { headers });
        expect({ path, status: again.status, text: again.text }).toEqual({ path, status: 304, text: "" });
        expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
      }
      await ask("PATCH", `locations/${made.body.id}/`, { body: { label: `Box ${path}` } });
      const after = await ask("GET", path, { headers });
      expect({ path, status: after.status }).toEqual({ path, status: 200 });
      expect(after.headers.get("etag")).not.toBe(first.headers.get("etag"));
    }
    expect((await ask("GET", "locations/")).headers.get("etag")).toStartWith("W/");
  });

  test("renaming a referenced record changes the entity tag of a record that shows it, but not its version", async () => {
    const made = await ask("POST", "locations/", { body: { label: "Box", place: IDS.a101 } });
    const path = `locations/${made.body.id}/?response_format=nested`;
    const first = await ask("GET", path);
    await ask("PATCH", `places/${IDS.a101}/`, { body: { room: "1" }, as: "admin" });
    const headers = { "If-None-Match": first.headers.get("etag")! };
    expect((await ask("GET", path, { headers })).status).toBe(200);
    const write = { body: { label: "Case" }, headers: { "If-Match": first.headers.get("etag")! } };
    expect((await ask("PATCH", path, write)).status).toBe(200);
  });

  test.each(["PUT", "PATCH", "DELETE"])(
    "%s with If-Match writes only the version that it names",
    async (method) => {
      const made = await add();
      const path = `locations/${made.body.id}/`;
      const old = made.headers.get("etag")!;
      await ask("PATCH", path, { body: { label: "Case" } });
      const body = method === "DELETE" ? {} : { body: { label: "Lost" } };
      for (const stale of [old, '"1"', `W/${old}`, '"x"', '"3", "1-abc"']) {
        const refused = await ask(method, path, { ...body, headers: { "If-Match": stale } });
        expect({ stale, status: refused.status }).toEqual({ stale, status: 412 });
        expect(refused.body.message).toContain("version 2");
        expect(refused.headers.get("etag")).toBe('"2"');
      }
      expect((await ask("GET", path)).body.label).toBe("Case");
      const fresh = { ...body, headers: { "If-Match": '"9", "2"' } };
      expect((await ask(method, path, fresh)).status).toBe(method === "DELETE" ? 204 : 200);
    },
  );

  test("If-Match * matches any version, If-None-Match * matches no version", async () => {
    const path = `locations/${(await add()).body.id}/`;
    const body = { label: "Case" };
    expect((await ask("PATCH", path, { body, headers: { "If-None-Match": "*" } })).status).toBe(412);
    expect((await ask("PATCH", path, { body, headers: { "If-Match": "*" } })).status).toBe(200);
  });

  test("the second of two concurrent writers gets 412", async () => {
    const made = await add();
    const path = `locations/${made.body.id}/`;
    const headers = { "If-Match": made.headers.get("etag")! };
    const write = (label: string) => ask("PATCH", path, { body: { label }, headers });
    const both = await Promise.all([write("one"), write("two")]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect((await ask("GET", `${path}?fields=version`)).body.version).toBe(2);
  });
});

describe("Idempotency-Key", () => {
  const headers = { "Idempotency-Key": "order 66" };

  test("replays the response without writing again", async () => {
    for (const [path, body] of [
      ["locations/", { label: "Once" }],
      ["locations/", [{ label: "Once" }, { label: "Once" }]],
    ] as const) {
      const key = { "Idempotency-Key": JSON.stringify(body) };
      const first = await ask("POST", path, { body, headers: key });
      expect(first.status).toBe(201);
      const before = await total("locations/?label=Once");
      await ask("PATCH", "locations/?label=Once", { body: { description: "changed since" } });
      const again = await ask("POST", path, { body, headers: key });
      expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
      for (const name of ["location", "etag", "batch-id", "content-type"])
        expect(again.headers.get(name)).toBe(first.headers.get(name));
      expect(again.headers.get("idempotency-replayed")).toBe("true");
      expect(first.headers.get("idempotency-replayed")).toBeNull();
      expect(await total("locations/?label=Once")).toBe(before as number);
    }
  });

  test("rejects an idempotency key with another body or URL; keys belong to one user and expire after a day", async () => {
    const body = { label: "Once" };
    await ask("POST", "locations/", { body, headers });
    const other = await ask("POST", "locations/", { body: { label: "Twice" }, headers });
    expect([other.status, await total("locations/?label=Twice")]).toEqual([422, 0]);
    expect((await ask("POST", "equipment/", { body: { name: "Once" }, headers })).status).toBe(422);
    expect((await ask("POST", "locations/", { body, headers, as: "bob" })).status).toBe(201);
    for (const [after, replayed] of [
      [24 * 3600_000 - 1, "true"],
      [24 * 3600_000 + 1, null],
    ] as const) {
      lab.clock.set(START + after);
      const again = await ask("POST", "locations/", { body, headers });
      expect(again.headers.get("idempotency-replayed")).toBe(replayed);
    }
    expect(await total("locations/?label=Once")).toBe(3);
  });

  test("does not store error responses under an idempotency key", async () => {
    expect((await ask("POST", "locations/", { body: { label: "" }, headers })).status).toBe(400);
    expect((await ask("POST", "locations/", { body: { label: "Now" }, headers })).status).toBe(201);
    const wrong = { body: { label: "x" }, headers: { "Idempotency-Key": "x".repeat(256) } };
    expect((await ask("POST", "locations/", wrong)).status).toBe(400);
  });

  test("rejects a key for files, which cannot be replayed", async () => {
    const answer = await ask("POST", "locations/?format=xlsx", { body: { label: "File" }, headers });
    expect([answer.status, await total("locations/?label=File")]).toEqual([406, 0]);
  });

  test("accepts a key for purging, members of groups and registration", async () => {
    const made = await ask("POST", "locations/", { body: { label: "Old" } });
    const path = `locations/${made.body.id}/`;
    await ask("DELETE", path);
    const datasets = [{ name: "Run 7", datafiles: [{ uri: "/data/run7.fastq.gz" }] }];
    for (const [target, body] of [
      [`${path}purge/`, undefined],
      ["groups/Imaging/members/", ["alice"]],
      ["data_management/datasetcollections/register/", { datasets }],
    ] as const) {
      const send = () =>
        ask("POST", target, { as: "admin", body, headers: { "Idempotency-Key": `of ${target}` } });
      const first = await send();
      const again = await send();
      expect([target, first.status, first.text]).toEqual([target, again.status, again.text]);
      expect(first.status).toBeLessThan(300);
      expect(again.headers.get("idempotency-replayed")).toBe("true");
    }
  });

  test("accepts a key for bulk deletion by POST, restore and undo", async () => {
    const made = await ask("POST", "locations/", { body: [{ label: "a" }, { label: "b" }] });
    const ids = (made.body as unknown as { id: string }[]).map(({ id }) => id);
    const remove = () => ask("POST", "locations/bulk_delete/", { body: { ids }, headers });
    const first = await remove();
    expect(first.body).toEqual({ deleted: 2, ids });
    expect((await remove()).text).toBe(first.text);
    const undo = () =>
      ask("POST", `batches/${first.headers.get("batch-id")}/undo/`, { headers: { "Idempotency-Key": "u" } });
    const undone = await undo();
    expect(undone.status).toBe(200);
    expect((await undo()).text).toBe(undone.text);
    expect(await total("locations/?label=a")).toBe(1);
  });
});

describe("JSON Patch on a record", () => {
  const patch = (path: string, body: unknown, type = "application/json-patch+json") =>
    ask("PATCH", path, { body, headers: { "Content-Type": type } });

  test("a JSON Patch adds, replaces, removes, moves, copies and tests, also inside lists", async () => {
    const value_choices = ["a", "b"].map((name) => [name, name.toUpperCase()]);
    const type = { name: "dose", type: "TEXT", help_text: "some", value_choices };
    const made = await ask("POST", "annotationtypes/", { body: type });
    const path = `annotationtypes/${made.body.id}/`;
    const answer = await patch(path, [
      { op: "test", path: "/name", value: "dose" },
      { op: "test", path: "/version", value: 1 },
      { op: "replace", path: "/label", value: "Dose" },
      { op: "copy", from: "/help_text", path: "/description" },
      { op: "add", path: "/value_choices/-", value: ["c", "C"] },
      { op: "replace", path: "/value_choices/0/1", value: "first" },
      { op: "remove", path: "/value_choices/1" },
      { op: "add", path: "/value_choices/0", value: ["z", "Z"] },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ label: "Dose", description: "some", help_text: "some" });
    expect(JSON.stringify(answer.body.value_choices)).toBe('[["z","Z"],["a","first"],["c","C"]]');
    const gone = await patch(path, [{ op: "remove", path: "/value_choices" }], "application/json");
    expect(gone.body.value_choices).toBeNull();
    const tested = await patch(path, [{ op: "test", path: "/label", value: "Dose" }]);
    expect([tested.status, tested.headers.get("batch-id")]).toEqual([200, null]);
  });

  const replace = { op: "replace", path: "/label", value: "x" };
  test.each<[string, unknown[], number, string]>([
    ["a failing test", [{ op: "test", path: "/label", value: "x" }], 409, "operation 0"],
    ["an unknown field", [{ op: "add", path: "/labl", value: "x" }], 400, "[0].path"],
    ["__proto__", [{ op: "add", path: "/__proto__/x", value: "x" }], 400, "[0].path"],
    ["a read-only field", [{ op: "replace", path: "/version", value: 9 }], 400, "[0].path"],
    ["a path that does not exist", [{ op: "add", path: "/label/x", value: 1 }], 400, "[0].path"],
    ["a missing value", [{ op: "add", path: "/label" }], 400, "[0].value"],
    ["an unknown operation", [{ op: "merge", path: "/label", value: "x" }], 400, "[0].op"],
    ["an invalid value", [{ op: "replace", path: "/label", value: "" }], 400, "label"],
    ["a second operation", [replace, { op: "test", path: "/label", value: "y" }], 409, "operation 1"],
  ])("rejects %s, and writes nothing", async (_, operations, status, text) => {
    const path = `locations/${(await add()).body.id}/`;
    const answer = await patch(path, operations);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
    expect((await ask("GET", `${path}?fields=label,version`)).body).toEqual({ label: "Box", version: 1 });
  });
});
