import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const get = (path: string, as?: string) => lab.ask("GET", path, as ? { as } : {});
const SECRET = `locations/${IDS.secret}/`;
const SHELF = `locations/${IDS.shelf}/`;
const equal = (category: string, value: Json) => ({ category, operator: "==", value });

interface Statement {
  sql: string;
  arguments: string[];
  plan: string[];
}
interface Verdict {
  may: boolean;
  because: { rule: Json; holds: boolean }[];
}

describe("explain on a list", () => {
  test("shows the parameters, condition, permissions and SQL statements of the page", async () => {
    const query = "place__room=101&name=s&ordering=-label&page_size=1&strict=0&colour=red";
    const { status, body } = await get(`locations/?${query}&explain=1`, "alice");
    expect(status).toBe(200);
    expect((body.parameters as { name: string; use: string }[]).map(({ name, use }) => [name, use])).toEqual([
      ["place__room", "filter"],
      ["name", "filter"],
      ["ordering", "ordering"],
      ["page_size", "page_size"],
      ["strict", "strict"],
      ["colour", "ignored"],
      ["explain", "explain"],
    ]);
    const name = { category: "label", operator: "istartswith", value: "s" };
    expect(body.filter).toEqual({ and: [equal("deleted", false), equal("place__room", "101"), name] });
    expect(body.ordering).toEqual(["-label", "id"]);
    const rights = [equal("public", true), equal("owner", "alice"), equal("owned_by", "Genomics")];
    expect((body.visible as { or: Json[] }).or).toEqual(expect.arrayContaining(rights));
    const list = await get(`locations/?${query}`, "alice");
    expect(body.total).toBe(list.body.total);
    const statements = body.statements as unknown as Statement[];
    const [count, page] = statements;
    expect(lab.database.query(count.sql).get(...count.arguments)).toEqual({ total: body.total });
    const [{ rid }] = lab.database.query(page.sql).all(...page.arguments) as { rid: number }[];
    const [{ id }] = list.body.results as { id: string }[];
    expect(lab.database.query("SELECT id FROM location WHERE rid = ?").get(rid)).toEqual({ id });
    for (const { plan } of statements) expect(plan.join("\n")).toMatch(/SCAN|SEARCH/);
  });

  test.each(["name=s", "equipment__name__icontains=FREE&public=true", "id__contains=-", "parent=null"])(
    "shows %s as an equivalent advanced filter",
    async (query) => {
      const { body } = await get(`locations/?${query}&explain=1`, "admin");
      const expression = encodeURIComponent(JSON.stringify(body.filter));
      const again = await get(`locations/?deleted=all&query_expression=${expression}`, "admin");
      expect(again.body.total).toBe(body.total);
      expect(Number(body.total)).toBeGreaterThan(0);
    },
  );

  test("shows that text searches use the trigram index", async () => {
    const { body } = await get("locations/?query=shelf&explain=1", "admin");
    const [{ plan }] = body.statements as unknown as Statement[];
    expect(plan.join("\n")).toContain("VIRTUAL TABLE INDEX");
  });
});

describe("explain on a record", () => {
  test("shows for each rule what the caller may do", async () => {
    const { body } = await get(`${SECRET}?explain=1`, "alice");
    expect(body).toMatchObject({ id: IDS.secret, resource: "location", caller: "alice", deleted: false });
    const view = body.view as unknown as Verdict;
    expect(view.may).toBe(true);
    expect(view.because).toContainEqual({ rule: equal("owned_by", "Genomics"), holds: true });
    expect(view.because).toContainEqual({ rule: equal("public", true), holds: false });
    expect((body.change as unknown as Verdict).may).toBe(false);
  });

  test("administrators may explain lists of other accounts", async () => {
    const may = { may: true };
    const mayNot = { may: false };
    const explained = async (path: string) => (await get(path, "admin")).body;
    expect(await explained(`${SECRET}?explain=bob`)).toMatchObject({
      caller: "bob",
      view: mayNot,
      change: mayNot,
    });
    expect(await explained(`${SECRET}?explain=alice`)).toMatchObject({ caller: "alice", view: may });
    const because = [{ rule: "everything, for this caller", holds: true }];
    expect(await explained(`${SHELF}?explain=1`)).toMatchObject({
      administrator: true,
      change: { may: true, because },
    });
  });

  test("explains how to find a deleted record", async () => {
    const made = await lab.send("alice", "POST", "locations/", { label: "short-lived" });
    const path = `locations/${String(made.body.id)}/`;
    await lab.send("alice", "DELETE", path);
    const { body } = await get(`${path}?explain=1`, "alice");
    expect(body).toMatchObject({ deleted: true, note: expect.any(String), view: { may: true } });
    expect((await get(`${path}?explain=1`, "bob")).status).toBe(404);
  });
});

test.each<[string, string | undefined, number]>([
  ["locations/?explain=1", undefined, 401],
  ["locations/?explain=0", undefined, 200],
  ["locations/?explain=1&labl=x", "alice", 400],
  [`${SECRET}?explain=1`, undefined, 401],
  [`${SECRET}?explain=1`, "bob", 404],
  [`${SHELF}?explain=bob`, "alice", 403],
  [`${SHELF}?explain=nobody`, "admin", 400],
  ["locations/?labl=x", undefined, 400],
  ["locations/?labl=x&strict=1", undefined, 400],
  ["locations/?labl=x&strict=0", undefined, 200],
  ["locations/?public=maybe&strict=0", undefined, 400],
  ["locations/?strict=maybe", undefined, 400],
  [`${SHELF}?colour=red`, undefined, 400],
  [`${SHELF}?colour=red&strict=0`, undefined, 200],
  ["locations/?fields=lable", undefined, 400],
  ["locations/?fields=lable&strict=0", undefined, 200],
  [`${SHELF}?fields=lable`, undefined, 400],
])("GET %s as %s returns %d", async (path, as, status) => {
  expect((await get(path, as)).status).toBe(status);
});

test.each([
  ["locations/?labl=x&strict=0&ordering=nothing,-label", '299 labd "Ignored: labl, ordering=nothing"'],
  ["locations/?strict=0&%22%0d%0aX-A:%20b=1", '299 labd "Ignored: unprintable name"'],
  [`${SHELF}?colour=red&strict=0`, '299 labd "Ignored: colour"'],
  ["locations/?ordering=-label", null],
  [`${SHELF}?deleted=False&response_format=flat`, null],
])("GET %s sends the warning %s", async (path, warning) => {
  expect((await get(path)).headers.get("warning")).toBe(warning);
});

test("returns metadata for OPTIONS at the root", async () => {
  const { status, headers, body } = await lab.ask("OPTIONS", "");
  expect({ status, allow: headers.get("allow") }).toEqual({ status: 200, allow: "GET, HEAD, OPTIONS" });
  expect(body).toMatchObject({ name: "Api Root", renders: ["application/json"] });
});

test("explains the state at a past time", async () => {
  const made = await lab.send("alice", "POST", "locations/", { label: "Then" });
  const then = made.headers.get("batch-id")!;
  const path = `locations/${String(made.body.id)}/`;
  await lab.send("alice", "PATCH", path, { label: "Now" });
  await lab.send("alice", "DELETE", path);
  const list = async (more: string, as = "alice") =>
    (await get(`locations/?label=Then&explain=1${more}`, as)).body;
  const past = await list(`&as_of=${then}`);
  expect([past.total, (await list("")).total, (past.as_of as { batch: string }).batch]).toEqual([1, 0, then]);
  expect((await list(`&as_of=${then}`, "bob")).total).toBe(0);
  expect((await list(`&as_of=${then}&can_change=true`)).total).toBe(1);
  // The plan is that of the statements that read the history.
  expect(JSON.stringify(past.statements)).toContain("record_change");
  const one = async (more: string) => (await get(`${path}?explain=1${more}`, "alice")).body.deleted;
  expect([await one(`&as_of=${then}`), await one("")]).toEqual([false, true]);
  expect((await get(`${path}?explain=1&as_of=2025-01-01`, "alice")).status).toBe(404);
});

test("leaves no SQL statements open", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-explain-"));
  const onDisk = await openLab({ path: join(directory, "labd.sqlite") });
  for (const path of ["locations/?explain=1", "locations/?explain=1&as_of=2026-06-01", "locations/?query=x"])
    expect((await onDisk.send("alice", "GET", path)).status).toBe(200);
  // Closing is refused while a statement is open.
  onDisk.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  onDisk.database.close(true);
  rmSync(directory, { recursive: true });
});
