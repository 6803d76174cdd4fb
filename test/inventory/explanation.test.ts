import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const get = (path: string, as?: string) => lab.ask("GET", path, as ? { as } : {});

interface Statement {
  purpose: string;
  sql: string;
  arguments: Json[];
  plan: string[];
}
interface Verdict {
  may: boolean;
  because: { rule: Json; holds: boolean }[];
}

describe("explain on a list", () => {
  test("shows parameters, condition, rights and the statements of the page", async () => {
    const query = "place__room=101&name=s&ordering=-label&page_size=1&strict=0&colour=red";
    const { status, body } = await get(`locations/?${query}&explain=1`, "alice");
    expect(status).toBe(200);
    expect(body.parameters).toEqual([
      { name: "place__room", values: ["101"], use: "filter" },
      { name: "name", values: ["s"], use: "filter" },
      { name: "ordering", values: ["-label"], use: "ordering" },
      { name: "page_size", values: ["1"], use: "page_size" },
      { name: "strict", values: ["0"], use: "strict" },
      { name: "colour", values: ["red"], use: "ignored" },
      { name: "explain", values: ["1"], use: "explain" },
    ]);
    expect(body.filter).toEqual({
      and: [
        { category: "deleted", operator: "==", value: false },
        { category: "place__room", operator: "==", value: "101" },
        { category: "label", operator: "istartswith", value: "s" },
      ],
    });
    expect(body.ordering).toEqual(["-label", "id"]);
    const rules = (body.visible as { or: Json[] }).or;
    expect(rules).toContainEqual({ category: "public", operator: "==", value: true });
    expect(rules).toContainEqual({ category: "owner", operator: "==", value: "alice" });
    expect(rules).toContainEqual({ category: "owned_by", operator: "==", value: "Genomics" });
    const list = await get(`locations/?${query}`, "alice");
    expect(body.total).toBe(list.body.total);
    const [count, page] = body.statements as unknown as Statement[];
    expect(lab.database.query(count.sql).get(...(count.arguments as string[]))).toEqual({
      total: body.total,
    });
    const [row] = lab.database.query(page.sql).all(...(page.arguments as string[])) as { rid: number }[];
    const [shown] = list.body.results as { id: string }[];
    expect(lab.database.query("SELECT id FROM location WHERE rid = ?").get(row.rid)).toEqual({
      id: shown.id,
    });
    for (const { plan } of body.statements as unknown as Statement[])
      expect(plan.join("\n")).toMatch(/SCAN|SEARCH/);
  });

  test("shows the filter as an equivalent advanced filter", async () => {
    for (const query of [
      "name=s",
      "equipment__name__icontains=FREE&public=true",
      "id__contains=-",
      "parent=null",
    ]) {
      const { body } = await get(`locations/?${query}&explain=1`, "admin");
      const again = await get(
        `locations/?deleted=all&query_expression=${encodeURIComponent(JSON.stringify(body.filter))}`,
        "admin",
      );
      expect({ query, total: again.body.total }).toEqual({ query, total: body.total });
      expect(Number(body.total)).toBeGreaterThan(0);
    }
  });

  test("shows that text searches use the trigram index", async () => {
    const { body } = await get("locations/?query=shelf&explain=1", "admin");
    expect((body.statements as unknown as Statement[])[0].plan.join("\n")).toContain("VIRTUAL TABLE INDEX");
  });

  test("requires credentials and valid parameters", async () => {
    expect((await get("locations/?explain=1")).status).toBe(401);
    expect((await get("locations/?explain=0")).body.total).toBe(3);
    expect((await get("locations/?explain=1&labl=x", "alice")).status).toBe(400);
  });
});

describe("explain on a record", () => {
  test("shows rule by rule what the caller may do", async () => {
    const { status, body } = await get(`locations/${IDS.secret}/?explain=1`, "alice");
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: IDS.secret, resource: "location", caller: "alice", deleted: false });
    const view = body.view as unknown as Verdict;
    expect(view.may).toBe(true);
    expect(view.because).toContainEqual({
      rule: { category: "owned_by", operator: "==", value: "Genomics" },
      holds: true,
    });
    expect(view.because).toContainEqual({
      rule: { category: "public", operator: "==", value: true },
      holds: false,
    });
    expect((body.change as unknown as Verdict).may).toBe(false);
  });

  test("returns 404 for a record the caller may not view", async () => {
    expect((await get(`locations/${IDS.secret}/?explain=1`, "bob")).status).toBe(404);
    expect((await get(`locations/${IDS.secret}/?explain=1`)).status).toBe(401);
  });

  test("lets administrators ask about other accounts", async () => {
    const bob = await get(`locations/${IDS.secret}/?explain=bob`, "admin");
    expect(bob.body).toMatchObject({ caller: "bob", view: { may: false }, change: { may: false } });
    const alice = await get(`locations/${IDS.secret}/?explain=alice`, "admin");
    expect(alice.body).toMatchObject({ caller: "alice", view: { may: true } });
    expect((await get(`locations/${IDS.shelf}/?explain=bob`, "alice")).status).toBe(403);
    expect((await get(`locations/${IDS.shelf}/?explain=nobody`, "admin")).status).toBe(400);
    expect((await get(`locations/${IDS.shelf}/?explain=1`, "admin")).body).toMatchObject({
      administrator: true,
      change: { may: true, because: [{ rule: "everything, for this caller", holds: true }] },
    });
  });

  test("notes how to find a deleted record", async () => {
    const made = await lab.send("alice", "POST", "locations/", { label: "short-lived" });
    await lab.send("alice", "DELETE", `locations/${made.body.id}/`);
    const { body } = await get(`locations/${made.body.id}/?explain=1`, "alice");
    expect(body).toMatchObject({ deleted: true, view: { may: true } });
    expect((await get(`locations/${made.body.id}/?explain=1`, "bob")).status).toBe(404);
  });
});

describe("strict", () => {
  test("0 ignores unknown parameters and names them", async () => {
    const { status, headers, body } = await get("locations/?labl=x&strict=0&ordering=nothing,-label");
    expect({ status, total: body.total }).toEqual({ status: 200, total: 3 });
    expect(headers.get("warning")).toBe('299 labd "Ignored: labl, ordering=nothing"');
    const plain = await get("locations/?ordering=-label");
    expect(body.results).toEqual(plain.body.results);
    expect(plain.headers.get("warning")).toBeNull();
    const hostile = await get("locations/?strict=0&%22%0d%0aX-A:%20b=1");
    expect(hostile.headers.get("warning")).toBe('299 labd "Ignored: unprintable name"');
  });

  test("1, the default, rejects unknown parameters; invalid values are always rejected", async () => {
    expect((await get("locations/?labl=x")).status).toBe(400);
    expect((await get("locations/?labl=x&strict=1")).status).toBe(400);
    expect((await get("locations/?public=maybe&strict=0")).status).toBe(400);
    expect((await get("locations/?strict=maybe")).status).toBe(400);
  });

  test("of a record ignores unknown parameters, and rejects them with 1", async () => {
    const lax = await get(`locations/${IDS.shelf}/?colour=red`);
    expect({ status: lax.status, warning: lax.headers.get("warning") }).toEqual({
      status: 200,
      warning: '299 labd "Ignored: colour"',
    });
    const strict = await get(`locations/${IDS.shelf}/?colour=red&strict=1`);
    expect({ status: strict.status, key: Object.keys(strict.body)[0] }).toEqual({
      status: 400,
      key: "colour",
    });
    expect(
      (await get(`locations/${IDS.shelf}/?deleted=False&response_format=flat`)).headers.get("warning"),
    ).toBeNull();
  });
});

test("returns metadata for OPTIONS at the root", async () => {
  const { status, headers, body } = await lab.ask("OPTIONS", "");
  expect({ status, allow: headers.get("allow") }).toEqual({ status: 200, allow: "GET, HEAD, OPTIONS" });
  expect(body).toMatchObject({ name: "Api Root", renders: ["application/json"] });
});

test("explains the state at a past time", async () => {
  const lab = await openLab();
  const made = await lab.send("alice", "POST", "locations/", { label: "Then" });
  const then = made.headers.get("batch-id")!;
  const path = `locations/${String(made.body.id)}/`;
  await lab.send("alice", "PATCH", path, { label: "Now" });
  await lab.send("alice", "DELETE", path);
  const list = async (more: string, as = "alice") =>
    (await lab.send(as, "GET", `locations/?label=Then&explain=1${more}`)).body;
  const past = await list(`&as_of=${then}`);
  expect([past.total, (await list("")).total, (past.as_of as { batch: string }).batch]).toEqual([1, 0, then]);
  expect((await list(`&as_of=${then}`, "bob")).total).toBe(0);
  expect((await list(`&as_of=${then}&can_change=true`)).total).toBe(1);
  // The plan is that of the statements that read the past: history and not the table's own index.
  expect(JSON.stringify(past.statements)).toContain("record_change");
  const one = async (more: string) => (await lab.send("alice", "GET", `${path}?explain=1${more}`)).body;
  expect([(await one(`&as_of=${then}`)).deleted, (await one("")).deleted]).toEqual([false, true]);
  expect((await lab.send("alice", "GET", `${path}?explain=1&as_of=2025-01-01`)).status).toBe(404);
  lab.database.close();
});

test("leaves no open statements", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-explain-"));
  const lab = await openLab({ path: join(directory, "labd.sqlite") });
  for (const path of ["locations/?explain=1", "locations/?explain=1&as_of=2026-06-01"])
    expect((await lab.send("alice", "GET", path)).status).toBe(200);
  // As the program does when it ends; refused while a statement is still reading.
  await lab.send("alice", "GET", "locations/?query=x");
  lab.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  lab.database.close(true);
  rmSync(directory, { recursive: true });
});
