import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LIMITS } from "../../src/inventory/model/limits.ts";
import { exceeded, LIMITS as PLATFORM_LIMITS } from "../../src/platform/limits.ts";
import { type Lab, openLab, PASSWORD } from "./harness.ts";
import { IDS } from "./sample.ts";

/** POST `<list>/search/`: the list by the parameters in a body, for those that are too long for a URL. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ passwords: true });
});
afterAll(() => lab.database.close());

const search = (path: string, body: unknown, as?: string) => lab.ask("POST", path, { as, body });
const comparison = (value: string) => ({ category: "label", operator: "==", value });
const either = (count: number) => ({
  or: Array.from({ length: count }, (_, i) => comparison(i === 0 ? "drawer" : `Box ${"x".repeat(400)} ${i}`)),
});

describe("returns what GET returns for", () => {
  test.each<[string, string, object]>([
    ["no parameters", "", {}],
    ["a filter", "label=drawer", { label: "drawer" }],
    ["several values", `id=${IDS.shelf}&id=${IDS.bench}`, { id: [IDS.shelf, IDS.bench] }],
    ["values in one text", `id=${IDS.shelf},${IDS.bench}`, { id: `${IDS.shelf},${IDS.bench}` }],
    ["flags and numbers", "public=true&page_size=1&page=2", { public: true, page_size: 1, page: 2 }],
    ["null", "equipment=null", { equipment: null }],
    ["ordering and fields", "ordering=-label&fields=label,id", { ordering: ["-label"], fields: "label,id" }],
    [
      "an expression as JSON",
      `query_expression=${JSON.stringify(comparison("drawer"))}`,
      { query_expression: comparison("drawer") },
    ],
    [
      "an expression as a list",
      `query_expression=${JSON.stringify([comparison("drawer")])}`,
      { query_expression: [comparison("drawer")] },
    ],
    [
      "an expression as text",
      `query_expression=${JSON.stringify(comparison("drawer"))}`,
      { query_expression: JSON.stringify(comparison("drawer")) },
    ],
    ["a nested form", "response_format=nested&fields=*", { response_format: "nested", fields: "*" }],
    ["CSV", "format=csv&fields=label", { format: "csv", fields: "label" }],
    ["a page", "format=api&fields=label", { format: "api", fields: "label" }],
    ["the past", "as_of=2026-01-01", { as_of: "2026-01-01" }],
    ["an unknown parameter", "labl=x", { labl: "x" }],
    ["contradictory parameters", "can_change=true&can_change=false", { can_change: [true, false] }],
    ["a page that does not exist", "page=9", { page: 9 }],
  ])("%s", async (_, query, body) => {
    for (const as of [undefined, "alice"]) {
      const expected = await lab.ask("GET", `locations/?${query}`, { as });
      const found = await search("locations/search/", body, as);
      const parts = ({ status, text, headers }: typeof found) => {
        const names = ["content-type", "content-disposition", "vary", "cache-control", "etag"];
        return { status, text, headers: names.map((name) => headers.get(name)) };
      };
      expect(parts(found)).toEqual(parts(expected));
    }
  });

  test("accepts parameters in the URL and in a form", async () => {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const sent = { headers, body: "label=drawer&label=Shelf+1" };
    const { body } = await lab.ask("POST", "locations/search?fields=label", sent);
    expect(body).toMatchObject({ total: 2, results: [{ label: "Shelf 1" }, { label: "drawer" }] });
  });
});

test("every list has a search operation, also at its aliases and without a slash", async () => {
  for (const path of [
    "stocks/equipment/search/",
    "equipment/search",
    "vocabularies/terms/search/",
    "stocktakes/search/",
  ])
    expect([path, (await search(path, { page_size: 1 })).body.current]).toEqual([path, 1]);
  for (const path of ["users/search/", "groups/search/"]) {
    expect((await search(path, {})).status).toBe(401);
    expect((await search(path, { page_size: 1 }, "alice")).body.current).toBe(1);
  }
});

test("accepts 200 comparisons, which are too long for a URL", async () => {
  const { max } = LIMITS.conditions;
  const long = await lab.ask(
    "GET",
    `locations/?query_expression=${encodeURIComponent(JSON.stringify(either(max)))}`,
  );
  expect([long.status, long.body.message]).toEqual([414, exceeded(PLATFORM_LIMITS.url)]);
  const found = await search("locations/search/", { query_expression: either(max), fields: "label" });
  expect(found.body).toMatchObject({ total: 1, results: [{ label: "drawer" }] });
  expect((await search("locations/search/", { query_expression: either(max + 1) })).status).toBe(400);
});

test("POST searches return only records that the caller may view", async () => {
  const total = async (as?: string) =>
    (await search("locations/search/", { label: "Secret" }, as)).body.total;
  expect([await total(), await total("bob"), await total("alice")]).toEqual([0, 0, 1]);
});

test("POST searches work with a read-only token, a session without CSRF token, and a password", async () => {
  const { body: made } = await lab.send("alice", "POST", "tokens/", {
    name: "reader",
    scope: "read",
    days: 1,
  });
  const opened = await lab.ask("POST", "session/", { body: { username: "alice", password: PASSWORD } });
  const Cookie = opened.headers.getSetCookie()[0].split(";")[0];
  for (const headers of [{ Authorization: `Token ${String(made.token)}` }, { Cookie }] as Record<
    string,
    string
  >[]) {
    const sent = { headers, body: { label: "Secret" } };
    expect((await lab.ask("POST", "locations/search/", sent)).body.total).toBe(1);
    expect((await lab.ask("POST", "locations/", sent)).status).toBe(403);
  }
  const wrong = { headers: { Authorization: "Token wrong" }, body: {} };
  expect((await lab.ask("POST", "locations/search/", wrong)).status).toBe(401);
});

test("a POST search needs credentials if reading the list needs them", async () => {
  const closed = await openLab({ anonymousRead: false });
  expect((await closed.ask("POST", "locations/search/", { body: {} })).status).toBe(401);
  expect((await closed.send("alice", "POST", "locations/search/", {})).status).toBe(200);
  closed.database.close();
});

test("a preview writes nothing", async () => {
  const last = async () => (await lab.send("admin", "GET", "batches/?page_size=1")).body.total;
  const before = await last();
  const headers = { "Idempotency-Key": "one" };
  for (const label of ["drawer", "Secret"])
    expect(
      (await lab.ask("POST", "locations/search/", { as: "alice", headers, body: { label } })).body.total,
    ).toBe(1);
  expect(await last()).toBe(before);
});

test("remembers long searches in little memory", async () => {
  const heap = () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed;
  };
  const ask = async (i: number) => {
    const { body } = await search("locations/search/", { barcode__icontains: `${i}${"x".repeat(100_000)}` });
    expect(body.total).toBe(0);
  };
  await ask(0);
  const before = heap();
  for (let i = 1; i <= 100; i++) await ask(i);
  expect(heap() - before).toBeLessThan(6_000_000);
}, 60_000);

test.each<[string, unknown, number, string]>([
  ["a list", [], 400, "Expected an object with the parameters of the list."],
  ["no values", { id: [] }, 400, "id: Expected at least one value."],
  ["an object as a value", { id: { in: [] } }, 400, "id: Expected a value, or a list of values."],
  ["a list in a list", { id: [[IDS.shelf]] }, 400, "id: Expected a value, or a list of values."],
  ["too long a body", { label: "x".repeat(LIMITS.search.max) }, 413, exceeded(LIMITS.search)],
  ["broken JSON", "{", 400, "JSON"],
])("rejects %s", async (_, body, status, message) => {
  const refused = await search("locations/search/", body);
  expect([refused.status, refused.body.message]).toEqual([status, expect.stringContaining(message)]);
});

test("other methods get 405", async () => {
  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
    const { status, headers } = await lab.ask(method, "locations/search/", { as: "alice" });
    expect([method, status, headers.get("allow")]).toEqual([method, 405, "POST, OPTIONS"]);
  }
});
