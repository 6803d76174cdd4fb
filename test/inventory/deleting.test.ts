import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab, START } from "./harness.ts";
import { IDS } from "./sample.ts";

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.database.close());

const send = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> =>
  lab.send(as, method, path, body);
/** Creates a location as alice. */
const add = async (body: object = { label: "Box" }, path = "locations/"): Promise<string> => {
  const answer = await send("POST", path, body);
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
  return String(answer.body.id);
};
const total = async (path: string, as = "admin"): Promise<Json> =>
  (await lab.ask("GET", path, { as })).body.total;

describe("deleting records", () => {
  test("hides a record from lists and keeps it", async () => {
    const id = await add();
    const before = await total("locations/");
    lab.clock.set(START + 1000);
    const { status, text, headers } = await send("DELETE", `locations/${id}`);
    expect([status, text, headers.get("content-type")]).toEqual([204, "", null]);
    expect(await total("locations/")).toBe(Number(before) - 1);
    expect((await send("GET", `locations/${id}/`)).status).toBe(404);
    expect((await send("DELETE", `locations/${id}/`)).status).toBe(404);
    expect((await send("PATCH", `locations/${id}/?deleted=true`, { label: "x" })).status).toBe(404);
    const query = "deleted=true&fields=deleted,deleted_by,deleted_date,label&response_format=flat";
    expect((await send("GET", `locations/${id}/?${query}`)).body.results).toEqual({
      label: "Box",
      deleted: true,
      deleted_by: "alice",
      deleted_date: "2026-01-01T00:00:01.000000+00:00",
    });
    for (const query of ["deleted=true", "deleted=all", "deleted=True&deleted_by=alice"])
      expect(await total(`locations/?${query}&label=Box`, "alice")).toBe(1);
    expect(await total("locations/?deleted=true", "bob")).toBe(0);
    const expression = encodeURIComponent('{"category":"deleted","operator":"==","value":"true"}');
    expect(await total(`locations/?query_expression=${expression}`, "alice")).toBe(1);
  });

  test("rejects deleting a record that others refer to", async () => {
    const { status, body } = await send("DELETE", `places/${IDS.a102}/`, undefined, "admin");
    expect(status).toBe(409);
    expect(body.detail).toContain("it is the place of records in locations");
    expect((await send("GET", `places/${IDS.a102}/`)).status).toBe(200);
  });

  test("deletes all of the given records or none, in every accepted form", async () => {
    const make = async (): Promise<string[]> => [await add({ label: "a" }), await add({ label: "b" })];
    const forms: [string, string, (ids: string[]) => string, (ids: string[]) => unknown][] = [
      ["DELETE", "as specified", ([a, b]) => `bulk_delete/?id=${a},id=${b}`, () => undefined],
      ["POST", "repeated", ([a, b]) => `bulk_delete?id=${a}&id=${b}`, () => undefined],
      ["DELETE", "doubled slash", ([a, b]) => `/bulk_delete/?ids=${a},${b}`, () => undefined],
      ["POST", "a list", () => "bulk_delete/", (ids) => ids],
      ["DELETE", "a list of objects", () => "bulk_delete/", (ids) => ids.map((id) => ({ id }))],
      ["POST", "an object", () => "bulk_delete/", (ids) => ({ ids })],
    ];
    for (const [method, form, path, body] of forms) {
      const ids = await make();
      const { status, body: answer } = await send(method, `locations/${path(ids)}`, body(ids));
      expect([form, status, answer]).toEqual([form, 200, { deleted: 2, ids }]);
      expect((await send("GET", `locations/${ids[0]}/`)).status).toBe(404);
    }
    const [a, b] = await make();
    expect((await send("DELETE", `locations/bulk_delete/?id=${a}&id=${IDS.shelf}`)).body.detail).toBe(
      "You do not have permission to delete this record.",
    );
    expect((await send("DELETE", `locations/bulk_delete/?id=${a}&id=${IDS.note}`)).status).toBe(404);
    expect((await send("DELETE", "locations/bulk_delete/")).body).toMatchObject({
      id: [expect.stringContaining("Name the records")],
    });
    const get = await send("GET", "locations/bulk_delete/");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST, DELETE, OPTIONS"]);
    for (const id of [a, b]) expect((await send("GET", `locations/${id}/`)).status).toBe(200);
  });

  test("deletes a location together with the locations inside it", async () => {
    const outer = await add({ label: "outer" });
    const inner = await add({ label: "inner", parent: outer });
    expect((await send("DELETE", `locations/${outer}/`)).status).toBe(409);
    expect((await send("DELETE", `locations/bulk_delete/?id=${outer},${inner}`)).status).toBe(200);
  });
});
