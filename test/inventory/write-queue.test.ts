import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Statements } from "../../src/inventory/records/statements.ts";
import { WriteQueue } from "../../src/inventory/records/write-queue.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";
import { getWriteLock } from "../../src/platform/write-lock.ts";
import { openLab } from "./harness.ts";
import { runPending } from "../wait.ts";

/** Writes that arrive together: one commit, and each as if it were alone. */

const MIGRATIONS = [{ name: "0001-a.sql", sql: "CREATE TABLE a (n INTEGER PRIMARY KEY)" }];

function queueOn(path: string) {
  const database = openDatabase(path, MIGRATIONS);
  const statements = new Statements(database);
  let undone = 0;
  const queue = new WriteQueue(statements, getWriteLock(database), () => undone++);
  const insert = (n: number) => () =>
    statements.writing(() => statements.run({ text: "INSERT INTO a VALUES (?)", args: [n] }));
  const stored = () => database.query("SELECT n FROM a ORDER BY n").values().flat();
  return { database, statements, queue, insert, stored, undone: () => undone };
}

test("concurrent writes share one transaction and return after its commit", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-queue-"));
  const { database, queue, insert, undone } = queueOn(join(directory, "a.sqlite"));
  const other = openDatabase(join(directory, "a.sqlite"), MIGRATIONS);
  const seen = () => (other.query("SELECT count(*) AS n FROM a").get() as { n: number }).n;
  const within: number[] = [];
  const works = [1, 2, 3, 4].map((n) => () => {
    insert(n)();
    // Another connection sees nothing before the commit.
    within.push(seen());
    return n;
  });
  const answers = await Promise.all(works.map((work) => queue.add(work).then((n) => [n, seen()])));
  expect(answers).toEqual([1, 2, 3, 4].map((n) => [n, 4]));
  expect(within).toEqual([0, 0, 0, 0]);
  expect(undone()).toBe(0);
  other.close();
  database.close();
  rmSync(directory, { recursive: true });
});

test("rolls back only the rejected write of a transaction", async () => {
  const { statements, queue, insert, stored, undone } = queueOn(":memory:");
  const refused = () =>
    statements.writing(() => {
      insert(10)();
      throw new Error("no");
    });
  /** Tried out: taken back within, and answered. */
  const tried = () => {
    try {
      return refused();
    } catch {
      return "tried";
    }
  };
  const settled = await Promise.allSettled(
    [insert(1), refused, tried, insert(1), insert(2)].map((work) => queue.add<unknown>(work)),
  );
  expect(settled.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(stored()).toEqual([1, 2]);
  expect(undone()).toBe(1);
});

test("while another writer holds the lock, writes wait and reads do not", async () => {
  const { database, queue, insert, stored } = queueOn(":memory:");
  const turn = getWriteLock(database);
  const other = Promise.withResolvers<void>();
  const held = turn.hold(() => other.promise);
  let done = false;
  const write = queue.add(insert(1)).then(() => (done = true));
  await runPending();
  expect({ done, stored: stored() }).toEqual({ done: false, stored: [] });
  other.resolve();
  await Promise.all([held, write]);
  expect(stored()).toEqual([1]);
  expect(turn.free()).toBeUndefined();
  expect(database.query("PRAGMA busy_timeout").get()).toEqual({ timeout: 500 });
});

test("responds to concurrent writes separately", async () => {
  const lab = await openLab();
  const bodies = [
    { label: "together a" },
    {},
    { label: "together b" },
    { label: "together c", place: "nowhere" },
  ];
  const answers = await Promise.all([
    ...bodies.map((body) => lab.ask("POST", "locations/", { as: "alice", body })),
    lab.ask("POST", "locations/?dry_run=1", { as: "alice", body: { label: "together d" } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([201, 400, 201, 400, 200]);
  const batches = answers.map(({ headers }) => headers.get("batch-id"));
  expect(new Set([batches[0], batches[2]]).size).toBe(2);
  expect([batches[1], batches[3], batches[4]]).toEqual([null, null, null]);
  const made = await lab.ask("GET", "locations/?name=together&fields=label", { as: "alice" });
  expect(made.body.results).toEqual([{ label: "together a" }, { label: "together b" }]);
  lab.database.close();
});
