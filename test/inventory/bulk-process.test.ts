import { afterAll, beforeAll, expect, jest, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RequestPool } from "../../src/inventory/index.ts";
import type { Answer } from "../../src/platform/http.ts";
import { openLog } from "../../src/platform/log.ts";
import { closeDatabase } from "../../src/platform/sqlite.ts";
import { getWriteLock } from "../../src/platform/write-lock.ts";
import type { Problem } from "../../src/problem.ts";
import { VERSION } from "../../src/version.ts";
import { type Lab, openLab } from "./harness.ts";
import { waitFor } from "../wait.ts";

/** Bulk changes, which another process writes. */

const RECORDS = 2000;
const directory = mkdtempSync(join(tmpdir(), "labd-bulk-"));
const pool = new RequestPool({ version: VERSION, log: openLog("off", () => {}, Date.now) });
/** Equal records: in a file, and in memory, where everything is written on the thread of the server. */
let lab: Lab;
let reference: Lab;
let away: Answer;

beforeAll(async () => {
  lab = await openLab({ path: join(directory, "labd.sqlite") });
  reference = await openLab();
  for (const { accounts, database } of [lab, reference]) {
    const alice = accounts.userId("alice");
    const [[group]] = database.query("SELECT rid FROM user_group WHERE name = 'Genomics'").values() as [
      [number],
    ];
    database.run(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${RECORDS - 1})
       INSERT INTO location (id, label, label_fold, description, created, modified, created_by, modified_by, owner, owned_by, public)
       SELECT printf('20000000-0000-4000-8000-%012d', i), 'Box ' || i, 'box ' || i, 'old ' || i,
         1700000000000000 + i, 1700000000000000 + i, ${alice}, ${alice}, ${alice}, ${group}, i % 5 = 0 FROM n`,
    );
  }
  away = lab.through(pool);
});

afterAll(() => {
  pool.close();
  closeDatabase(lab.database);
  rmSync(directory, { recursive: true, force: true });
});

interface Sent {
  status: number;
  batch: string | null;
  body: Record<string, unknown>;
}

async function send(
  answer: Answer,
  method: string,
  path: string,
  body?: unknown,
  as = "alice",
): Promise<Sent> {
  const { tokens } = answer === away ? lab : reference;
  const response = await answer(
    new Request(`http://lab/api/v2/${path}`, {
      method,
      headers: { Authorization: `Token ${tokens[as]}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const parsed = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { status: response.status, batch: response.headers.get("batch-id"), body: parsed };
}

const readRows = ({ database }: Lab) =>
  database.query("SELECT id, label, description, public, version, deleted FROM location ORDER BY rid").all();
const readChanges = ({ database }: Lab) =>
  database.query("SELECT object_kind, object_rid, op, version FROM record_change ORDER BY seq").values();
const FILTER = "label__startswith=Box";
const readDescriptions = () =>
  lab.database
    .query(`SELECT DISTINCT substr(description, 1, 3) FROM location WHERE label LIKE 'Box%'`)
    .values();

test("writes and responds as the thread of the server does", async () => {
  const here = reference.through(undefined);
  const both = async (method: string, path: (batch: string) => string, body?: unknown, as?: string) => {
    const expected = await send(here, method, path(last.here), body, as);
    const got = await send(away, method, path(last.away), body, as);
    const shown = ({ status, body: { count, refused, code, deleted, message } }: Sent) => ({
      status,
      count,
      refused,
      code,
      deleted,
      message,
    });
    expect({ path: path(""), ...shown(got) }).toEqual({ path: path(""), ...shown(expected) });
    expect(readRows(lab)).toEqual(readRows(reference));
    expect(readChanges(lab)).toEqual(readChanges(reference));
    last.here = expected.batch ?? last.here;
    last.away = got.batch ?? last.away;
    return got.status;
  };
  const last = { here: "", away: "" };
  const list = (parameters: string) => () => `locations/?${parameters}`;
  const undo = (batch: string) => `batches/${batch}/undo/`;
  const statuses = [
    await both("PATCH", list(`${FILTER}&dry_run=1&changes=2`), { description: "new" }),
    await both("PATCH", list(FILTER), { description: "new" }),
    await both("PATCH", list(FILTER), { label: "" }),
    await both("PATCH", list(FILTER), { description: "theirs" }, "bob"),
    await both("POST", undo, {}),
    await both("PATCH", list(""), { filters: { label__startswith: "Box 1" }, description: "newer" }),
    await both("DELETE", () => `locations/bulk_delete/?${FILTER}`),
    await both("POST", undo, {}),
    await both(
      "POST",
      list(""),
      Array.from({ length: 600 }, (_, i) => ({ label: `Tray ${i}` })).concat({ label: "" }),
    ),
  ];
  expect(statuses).toEqual([200, 200, 400, 403, 200, 200, 200, 200, 400]);
  expect(pool.pids.length).toBe(1);
}, 120_000);

test("allows reads meanwhile, and writes afterwards", async () => {
  const bulk = send(away, "DELETE", `locations/bulk_delete/?${FILTER}&dry_run=1&changes=0`);
  await Bun.sleep(20);
  const write = send(away, "POST", "locations/", { label: "Written meanwhile" }, "bob");
  let turns = 0;
  for (let ended: unknown; ended === undefined; turns++) {
    expect((await send(away, "GET", "places/?page_size=3")).status).toBe(200);
    ended = await Promise.race([bulk, Bun.sleep(2)]);
  }
  expect({ bulk: (await bulk).status, write: (await write).status }).toEqual({ bulk: 200, write: 201 });
  // On one thread the first read would have to wait for the end.
  expect(turns).toBeGreaterThan(1);
}, 60_000);

test("a bulk change allows other writes until it writes, and includes them", async () => {
  const box = "20000000-0000-4000-8000-000000000007";
  const bulk = send(away, "PATCH", `locations/?${FILTER}`, { description: "bulk" });
  const one = send(away, "PATCH", `locations/${box}/`, { barcode: "before", description: "one" });
  const statuses = [(await one).status, (await bulk).status];
  const [[row]] = lab.database.query(`SELECT rid FROM location WHERE id = '${box}'`).values();
  const changes = lab.database
    .query(
      "SELECT after ->> 'barcode', after ->> 'description' FROM record_change WHERE object_kind = 'location' AND object_rid = ? ORDER BY seq DESC LIMIT 2",
    )
    .values(Number(row));
  expect({ statuses, changes }).toEqual({
    statuses: [200, 200],
    changes: [
      ["before", "bulk"],
      ["before", "one"],
    ],
  });
  expect(readDescriptions()).toEqual([["bul"]]);
}, 60_000);

test("previews a change while another process holds the write lock", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = getWriteLock(lab.database).hold(() => promise);
  const preview = await send(away, "PATCH", `locations/?${FILTER}&dry_run=1&changes=1`, {
    description: "dry",
  });
  expect({ status: preview.status, count: preview.body.count }).toEqual({ status: 200, count: RECORDS });
  resolve();
  await held;
});

test("a write that waited too long for the lock is told to try again", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const lock = getWriteLock(lab.database);
  const held = lock.hold(() => promise);
  jest.useFakeTimers();
  try {
    const waiting = lock.free()!.catch((error: Problem) => error);
    jest.advanceTimersByTime(10_000);
    expect(await waiting).toMatchObject({ code: "busy", headers: { "Retry-After": "10" } });
  } finally {
    jest.useRealTimers();
    resolve();
    await held;
  }
});

test("leaves no log of the transaction that the server would have to write back", async () => {
  expect((await send(away, "PATCH", `locations/?${FILTER}`, { description: "logged" })).status).toBe(200);
  const log = () =>
    lab.database.query("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number };
  await waitFor(() => {
    const now = log();
    return now.checkpointed >= now.log;
  });
}, 30_000);

test("writes nothing when its process is killed, and the next one writes", async () => {
  const before = readRows(lab);
  await send(away, "PATCH", `locations/?${FILTER}&dry_run=1&changes=0`, { description: "dry" });
  // Seconds for all records, so that the process is killed in the middle.
  lab.database.run(
    `CREATE TRIGGER slow AFTER UPDATE ON location BEGIN
       SELECT (WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT count(*) FROM n);
     END`,
  );
  const bulk = send(away, "DELETE", `locations/bulk_delete/?${FILTER}`);
  await Bun.sleep(500);
  for (const pid of pool.pids) process.kill(pid, "SIGKILL");
  expect(await bulk).toMatchObject({
    status: 503,
    body: { code: "busy", message: expect.stringContaining("all of them were written, or none") },
  });
  lab.database.run("DROP TRIGGER slow");
  expect(readRows(lab)).toEqual(before);
  expect((await send(away, "PATCH", `locations/?${FILTER}`, { description: "yes" })).status).toBe(200);
  expect(readDescriptions()).toEqual([["yes"]]);
}, 60_000);
