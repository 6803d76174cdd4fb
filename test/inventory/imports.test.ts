import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DECLARED } from "../../src/inventory/resources/index.ts";
import { Imports } from "../../src/inventory/imports/imports.ts";
import type { ImportRequest } from "../../src/inventory/imports/import-thread.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Answered, expectStatuses, type Lab, openLab } from "./harness.ts";
import { waitFor } from "../wait.ts";

/** Imports run in their own thread, report progress, and survive a restart. */

setDefaultTimeout(60_000);
let lab: Lab;
let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-imports-"));
  lab = await openLab({ path: join(directory, "labd.sqlite") });
  // Writing takes its time on any machine, so that it is seen.
  lab.database.run(
    `CREATE TRIGGER slow AFTER INSERT ON consumable WHEN NEW.rid % 50 = 0
     BEGIN SELECT length(hex(randomblob(2000000))); END`,
  );
});
afterEach(() => {
  lab.database.close();
  rmSync(directory, { recursive: true, force: true });
});

const csv = (rows: number, more = ""): string =>
  `name,description\n${Array.from({ length: rows }, (_, i) => `Thing ${i},one of ${rows}\n`).join("")}${more}`;
const send = (path: string, body: string, as = "alice"): Promise<Answered> =>
  lab.ask("POST", path, { as, body, headers: { "Content-Type": "text/csv" } });
const total = async (): Promise<Json> =>
  (await lab.send("alice", "GET", "consumables/?name=Thing&page_size=1")).body.total;
const IMPORT = "consumables/import/";

/** Waits until the import has one of these states. */
const waitForState = (path: string, ...states: string[]): Promise<Answered> =>
  waitFor(async () => {
    const answer = await lab.send("alice", "GET", path);
    expect(answer.status).toBe(200);
    if (states.includes(String(answer.body.state))) return answer;
    // One that has ended will not get there any more.
    if (answer.body.ended !== null) throw new Error(answer.text);
    return null;
  });
const parsePath = (answer: Answered): string => answer.headers.get("location")!.replace(/^.*\/api\/v2\//, "");

test("serves readers during an import while writers wait", async () => {
  const own = { ended: false };
  const imported = send(IMPORT, csv(3000)).finally(() => (own.ended = true));
  const { id } = await waitFor(
    async () => ((await lab.send("alice", "GET", "imports/")).body.results as { id: string }[])[0],
  );
  await waitForState(`imports/${id}/`, "writing");
  const written = lab.send("alice", "POST", "locations/", { label: "Meanwhile" });
  let reads = 0;
  while (!own.ended) {
    // All of it or nothing.
    expect([0, 3000]).toContain(Number(await total()));
    reads++;
    await Bun.sleep(1);
  }
  expect(reads).toBeGreaterThan(3);
  const { status, body } = await imported;
  expect([status, body.created, await total()]).toEqual([200, 3000, 3000]);
  expect((await written).status).toBe(201);
});

test("leaves no log of the transaction that the server would have to write back", async () => {
  expect((await send(IMPORT, csv(2000))).status).toBe(200);
  expect(lab.database.query("PRAGMA wal_checkpoint(NOOP)").get()).toMatchObject({ log: 0, checkpointed: 0 });
});

test("runs a background import and reports its progress and result", async () => {
  const headers = { "Content-Type": "text/csv", Prefer: "respond-async" };
  const accepted = await lab.ask("POST", IMPORT, { as: "alice", body: csv(2000), headers });
  expect([accepted.status, accepted.headers.get("preference-applied")]).toEqual([202, "respond-async"]);
  const path = parsePath(accepted);
  const seen = await waitForState(path, "writing");
  expect(seen.body).toMatchObject({ rows: 2000, rows_read: 2000, ended: null });
  const { body } = await waitForState(path, "finished");
  const report = { created: 2000, errors: [] };
  expect(body).toMatchObject({ rows_checked: 2000, rows_written: 2000, report });
  const batch = (body.report as { batch: string }).batch;
  await expectStatuses(lab, "alice", [[`GET batches/${batch}/`, 200]]);
  await expectStatuses(lab, "bob", [[`GET ${path}`, 404]]);
  await expectStatuses(lab, undefined, [[`GET ${path}`, 401]]);
  expect((await lab.send("bob", "GET", "imports/")).body.results).toEqual([]);
  expect((await lab.send("admin", "GET", "imports/")).body.results).toHaveLength(1);
  const stored = lab.database.query("SELECT file, outcome ->> 'state' AS state FROM import_file").get();
  expect(stored).toEqual({ file: null, state: "finished" });
  const wrong = await waitForState(
    parsePath(await send(`${IMPORT}?background=1`, "name,amount\na,many\n")),
    "refused",
  );
  expect([wrong.body.rows_written, wrong.body.message]).toEqual([
    0,
    "Row 2, amount: A valid number is required.",
  ]);
  const none = await waitForState(parsePath(await send(`${IMPORT}?background=1`, "")), "failed");
  expect(none.body.message).toBe("The file is empty. Its first row must name the columns.");
});

test("rolls back a cancelled import, and cancels a waiting one", async () => {
  const [first, second] = await Promise.all([1, 2].map(() => send(`${IMPORT}?background=1`, csv(6000))));
  await waitForState(parsePath(first), "writing");
  const waiting = await lab.send("alice", "DELETE", parsePath(second));
  expect(waiting.body.state).toBe("waiting");
  const off = await lab.send("alice", "DELETE", parsePath(first));
  expect([off.status, off.body.state]).toEqual([200, "cancelled"]);
  await waitForState(parsePath(second), "cancelled");
  expect(await total()).toBe(0);
  expect((await lab.send("alice", "DELETE", parsePath(first))).status).toBe(409);
  // The turn is given back.
  expect((await lab.send("alice", "POST", "locations/", { label: "x" })).status).toBe(201);
});

test("resumes an accepted import after a restart and runs it once", async () => {
  const { database, clock, accounts, tokens } = lab;
  const actor = accounts.authenticate(
    new Request("http://lab/", { headers: { Authorization: `Token ${tokens.alice}` } }),
  );
  const request: ImportRequest = {
    resource: DECLARED.get("consumable")!.name,
    options: {
      dryRun: false,
      listsChanges: false,
      listsWaiting: false,
      matching: "none",
      mapping: new Map([["name", "name"]]),
      partial: false,
      dates: undefined,
      unit: undefined,
      rows: new Map(),
    },
    actor,
    bytes: new TextEncoder().encode(csv(5000)),
  };
  const before = new Imports(database, clock);
  const { id } = await before.accept(request);
  await waitFor(() => before.get(id, actor).state === "writing");
  // As a process that is told to stop; one that is killed leaves the same behind.
  await before.close();
  expect(await total()).toBe(0);
  expect(database.query("SELECT outcome FROM import_file").get()).toEqual({ outcome: null });
  const after = new Imports(database, clock);
  await waitFor(() => after.get(id, actor).ended !== null);
  expect(after.get(id, actor)).toMatchObject({ state: "finished", report: { created: 5000 } });
  await after.close();
  const later = new Imports(database, clock);
  const finished = { state: "finished", rows_written: 5000, report: { created: 5000 } };
  expect(later.get(id, actor)).toMatchObject(finished);
  expect(later.list(actor)).toHaveLength(1);
  await later.close();
  expect(await total()).toBe(5000);
  // One that ended the process again and again is given up.
  database.run("UPDATE import_file SET outcome = NULL, file = x'', attempts = 3");
  const last = new Imports(database, clock);
  await waitFor(() => last.get(id, actor).ended !== null);
  expect(last.get(id, actor).state).toBe("failed");
  await last.close();
});
