import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** Many records at once: by id and by filter, tried out first, done as tried out, and taken back in one call. */

let lab: Lab;
let ids: string[];
beforeEach(async () => {
  lab = await openLab();
  const made = await ask(
    "POST",
    "locations/",
    ["a", "b", "c", "d"].map((label) => ({ label: `Box ${label}` })),
  );
  ids = (made.body as unknown as { id: string }[]).map(({ id }) => id);
});
afterEach(() => lab.database.close());

const ask = (
  method: string,
  path: string,
  body?: unknown,
  { as = "alice", headers }: { as?: string; headers?: Record<string, string> } = {},
): Promise<Answered> =>
  lab.ask(method, path, { as, ...(body === undefined ? {} : { body }), ...(headers ? { headers } : {}) });
/** Every record of a list with all that can be told of it. */
const all = async (segment = "locations"): Promise<Json> =>
  (await lab.ask("GET", `${segment}/?page_size=max&fields=*&deleted=all&ordering=id`, { as: "admin" })).body
    .results;
const labels = async (): Promise<Json> =>
  ((await ask("GET", "locations/?name=Box&fields=label,description")).body.results as Json[]).map((record) =>
    Object.values(record as object).join("|"),
  );

describe("bulk changes by a filter", () => {
  const EXPECTED = ["Box a|", "Box b|new", "Box c|new", "Box d|"];
  test.each<[string, string, unknown]>([
    ["in the address", "locations/?label__gte=Box b&label__lt=Box d", { description: "new" }],
    [
      "in the address, a patch",
      "locations/?label__gte=Box b&label__lt=Box d",
      { patch: [{ op: "replace", path: "/description", value: "new" }] },
    ],
    [
      "in the address, operations",
      "locations/?label__gte=Box b&label__lt=Box d",
      [{ op: "add", path: "/description", value: "new" }],
    ],
    [
      "as an expression",
      'locations/?query_expression={"category":"label","operator":">=","value":"Box b"},{"category":"label","operator":"<","value":"Box d"}',
      { description: "new" },
    ],
    [
      "in the body",
      "locations/",
      { filters: { label__gte: "Box b", label__lt: "Box d" }, description: "new" },
    ],
    [
      "in the body, as an expression and a patch",
      "locations/",
      {
        filters: {
          query_expression: [
            { category: "label", operator: ">=", value: "Box b" },
            { category: "label", operator: "<", value: "Box d" },
          ],
        },
        patch: [{ op: "add", path: "/description", value: "new" }],
      },
    ],
  ])("%s", async (_, path, body) => {
    const answer = await ask("PATCH", path, body);
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
    expect((answer.body as unknown as unknown[]).length).toBe(2);
    expect(await labels()).toEqual(EXPECTED);
  });

  test("changes only the records that a body names, even with a filter in the address", async () => {
    const [id] = ids;
    for (const [i, body] of [
      [],
      [{ id, description: "1" }],
      [{ op: "add", path: `/${id}/description`, value: "2" }],
      { ids: [id], patch: [{ op: "add", path: "/description", value: "3" }] },
      { items: [id], description: "4" },
    ].entries()) {
      const answer = await ask("PATCH", "locations/?name=Box", body);
      expect({ body, status: answer.status, text: answer.text }).toMatchObject({ body, status: 200 });
      expect(await labels()).toEqual([`Box a|${i || ""}`, "Box b|", "Box c|", "Box d|"]);
    }
  });

  test("deletes by filter in the URL or body, and deletes nothing if no record matches", async () => {
    const none = await ask("DELETE", "locations/bulk_delete/?label=none");
    expect(none.body).toEqual({ deleted: 0, ids: [] });
    expect((await ask("DELETE", "locations/bulk_delete/?label__gte=Box c&name=Box")).body).toEqual({
      deleted: 2,
      ids: ids.slice(2),
    });
    const rest = await ask("POST", "locations/bulk_delete/", { filters: { name: "Box" } });
    expect(rest.body.ids).toEqual(ids.slice(0, 2));
  });

  test("requires a filter, and rejects page parameters and unknown names", async () => {
    for (const [method, path, body, key] of [
      ["PATCH", "locations/", { filters: {}, label: "x" }, "filters"],
      ["PATCH", "locations/", { label: "x" }, "non_field_errors"],
      ["PATCH", "locations/?fields=label&format=json", { label: "x" }, "non_field_errors"],
      ["PATCH", "locations/?labl=Box", { label: "x" }, "labl"],
      ["PATCH", "locations/?name=Box", { patch: [], label: "x" }, "patch"],
      ["PATCH", "locations/?name=Box", "5", "non_field_errors"],
      ["PATCH", "locations/?name=Box&page=1", { label: "x" }, "page"],
      ["DELETE", "locations/bulk_delete/", undefined, "id"],
      ["DELETE", "locations/bulk_delete/?labl=Box", undefined, "labl"],
      // A script's variable that was empty would mean all records.
      ["DELETE", "locations/bulk_delete/?query=", undefined, "query"],
      ["DELETE", "locations/bulk_delete/?label__icontains=&name=+", undefined, "label__icontains"],
      ["PATCH", "locations/", { filters: { description: "" }, label: "x" }, "description"],
    ] as const) {
      const before = await all();
      const answer = await ask(method, path, body);
      expect({ path, status: answer.status, key: Object.keys(answer.body)[0] }).toEqual({
        path,
        status: 400,
        key,
      });
      expect(await all()).toEqual(before);
    }
  });

  test("rejects records of other users one by one", async () => {
    const answer = await ask("PATCH", "locations/?deleted=false", { description: "mine" });
    expect(answer.status).toBe(403);
    // Three public ones, and the one of alice's group that belongs to the program.
    expect(answer.body.refused).toBe(4);
    expect(answer.body.rows).toContainEqual({
      row: expect.any(Number),
      id: IDS.shelf,
      status: 403,
      code: "forbidden",
      message: "You do not have permission to perform this action. Ask admin.",
    });
    expect(await labels()).toEqual(["Box a|", "Box b|", "Box c|", "Box d|"]);
    expect((await ask("PATCH", "locations/?can_change=true", { description: "mine" })).status).toBe(200);
  });
});

describe("reports of rejected records", () => {
  test("lists every rejected record with the reason", async () => {
    const unknown = "00000000-0000-4000-8000-00000000ffff";
    const answer = await ask("PATCH", "locations/", [
      { id: ids[0], label: "fine" },
      { id: ids[1], label: "" },
      { id: unknown, label: "x" },
      { id: IDS.shelf, label: "x" },
      { id: ids[2], place: "Nowhere" },
    ]);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      message: "[1].label: This field may not be blank.",
      "[1].label": ["This field may not be blank."],
      "[4].place": ['Object with name="Nowhere" does not exist.'],
      refused: 4,
      rows: [
        { row: 1, id: ids[1], status: 400, errors: { label: ["This field may not be blank."] } },
        { row: 2, id: unknown, status: 404 },
        { row: 3, id: IDS.shelf, status: 403 },
        { row: 4, id: ids[2], status: 400 },
      ],
    });
    const removal = await ask("DELETE", `locations/bulk_delete/?id=${ids[0]},${unknown},${IDS.bench}`);
    expect(removal.body).toMatchObject({
      refused: 2,
      rows: [
        { row: 1, status: 404 },
        { row: 2, status: 403 },
      ],
    });
    const referred = await ask("POST", "locations/bulk_delete/", [IDS.drawer, IDS.shelf], { as: "admin" });
    expect(referred.body.deleted).toBe(2);
    const places = await ask("POST", "places/bulk_delete/", [IDS.a101, IDS.a102], { as: "admin" });
    expect(places.body).toMatchObject({
      refused: 2,
      rows: [
        { id: IDS.a101, status: 409 },
        { id: IDS.a102, status: 409 },
      ],
    });
  });
});

describe("dry runs", () => {
  const path = "locations/?name=Box";
  test("a dry run writes nothing and returns the planned changes", async () => {
    const before = await all();
    const dry = await ask("PATCH", `${path}&dry_run=1`, { label: "Case" });
    expect({ status: dry.status, body: dry.body }).toMatchObject({
      status: 200,
      body: {
        dry_run: true,
        count: 4,
        changes: ids.map((id, i) => ({
          resource: "locations",
          id,
          op: "update",
          version: 2,
          before: { label: `Box ${"abcd"[i]}` },
          after: { label: "Case" },
        })),
      },
    });
    expect(dry.headers.get("batch-id")).toBeNull();
    // A response may list fewer changes than it counts and confirms.
    const few = (await ask("PATCH", `${path}&dry_run=1&changes=1`, { label: "Case" }))
      .body as typeof dry.body;
    expect(few).toMatchObject({ count: 4, confirm: (dry.body as { confirm: string }).confirm });
    expect((few as { changes: unknown[] }).changes).toHaveLength(1);
    expect((await ask("PATCH", `${path}&dry_run=1&changes=few`, { label: "Case" })).status).toBe(400);
    expect(await all()).toEqual(before);
    expect((await ask("DELETE", "locations/bulk_delete/?name=Box&dry_run=true")).body).toMatchObject({
      count: 4,
    });
    expect((await ask("POST", "locations/?dry_run=1", [{ label: "x" }])).body).toMatchObject({
      changes: [{ id: null, op: "create", before: null, after: { label: "x" } }],
    });
    expect((await ask("PATCH", `locations/${ids[0]}/?dry_run=1`, { label: "x" })).body.count).toBe(1);
    expect((await ask("PATCH", `${path}&dry_run=1`, { label: "" })).status).toBe(400);
    expect((await ask("PATCH", `${path}&dry_run=maybe`, { label: "x" })).status).toBe(400);
    expect(await all()).toEqual(before);
    const history = await ask("GET", `locations/${ids[0]}/history/`);
    expect(history.body.total).toBe(1);
  });

  test("with confirm, writes exactly what the dry run showed, or nothing if records have changed", async () => {
    const body = { label: "Case" };
    const { confirm } = (await ask("PATCH", `${path}&dry_run=1`, body)).body;
    const go = (what: unknown = body, as = "alice") =>
      ask("PATCH", `${path}&confirm=${String(confirm)}`, what, { as });
    expect((await go({ label: "Other" })).status).toBe(409);
    expect((await go(body, "admin")).status).toBe(409);
    await ask("PATCH", `locations/${ids[2]}/`, { description: "touched" });
    expect((await go()).status).toBe(409);
    const second = (await ask("PATCH", `${path}&dry_run=1`, body)).body;
    expect(second.confirm).not.toBe(confirm);
    await ask("POST", "locations/", { label: "Box e" });
    expect((await ask("PATCH", `${path}&confirm=${String(second.confirm)}`, body)).status).toBe(409);
    expect(await labels()).toEqual(["Box a|", "Box b|", "Box c|touched", "Box d|", "Box e|"]);
    const third = (await ask("PATCH", `${path}&dry_run=1`, body)).body;
    const done = await ask("PATCH", `${path}&confirm=${String(third.confirm)}`, body);
    expect({ status: done.status, count: (done.body as unknown as unknown[]).length }).toEqual({
      status: 200,
      count: 5,
    });
    const removal = "locations/bulk_delete/?name=Case";
    const dry = (await ask("DELETE", `${removal}&dry_run=1`)).body;
    lab.clock.set(lab.clock.now() + 5000);
    const removed = await ask("DELETE", `${removal}&confirm=${String(dry.confirm)}`);
    expect(removed.body.deleted).toBe(5);
    const undo = `batches/${removed.headers.get("batch-id")}/undo/`;
    const before = await all();
    const tried = await ask("POST", `${undo}?dry_run=1`);
    expect(tried.body.count).toBe(5);
    expect(await all()).toEqual(before);
    expect((await ask("POST", `${undo}?confirm=${String(tried.body.confirm)}`)).status).toBe(200);
  });

  test("returns no body if the client prefers minimal responses", async () => {
    const answer = await ask("PATCH", path, { label: "Case" }, { headers: { Prefer: "return=minimal" } });
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: "" });
    expect(answer.headers.get("preference-applied")).toBe("return=minimal");
    expect(answer.headers.get("batch-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

test("creates, changes, deletes and restores 2,000 records in about a second each", async () => {
  const big = Array.from({ length: 2_000 }, (_, i) => ({ label: `Tube ${i}`, place: IDS.a101 }));
  const timed = async (work: () => Promise<Answered>): Promise<Answered> => {
    const started = process.cpuUsage();
    const answer = await work();
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(5_000);
    expect(answer.status).toBeLessThan(300);
    return answer;
  };
  await timed(() => ask("POST", "locations/", big));
  const tubes = "locations/?name=Tube&page_size=1";
  await timed(() => ask("PATCH", "locations/?name=Tube", { description: "all" }));
  expect((await ask("GET", `${tubes}&description=all`)).body.total).toBe(2_000);
  const removed = await timed(() => ask("DELETE", "locations/bulk_delete/?name=Tube"));
  expect(removed.body.deleted).toBe(2_000);
  await timed(() => ask("POST", `batches/${removed.headers.get("batch-id")}/undo/`));
  expect((await ask("GET", tubes)).body.total).toBe(2_000);
}, 300_000);
