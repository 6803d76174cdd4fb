import { afterEach, beforeEach, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Database, openDatabase } from "../../src/platform/sqlite.ts";
import { Problem } from "../../src/problem.ts";
import type { Report, Task, TaskKind } from "../../src/tasks/task.ts";
import { Tasks } from "../../src/tasks/tasks.ts";
import { openMigrated } from "../database.ts";
import { waitFor } from "../wait.ts";

let database: Database;
let now: number;
let problems: string[];
const clock = { ...systemClock, now: () => now };
const log = {
  info: () => {},
  problem: (_: string, about?: object) => void problems.push(JSON.stringify(about)),
};
beforeEach(() => {
  database = openMigrated();
  now = 1_000_000;
  problems = [];
});
afterEach(() => database.close());

/** A process with these kinds. */
function open(...kinds: TaskKind<string>[]): Tasks {
  const tasks = new Tasks({ database, clock, log });
  for (const kind of kinds) tasks.register(kind);
  tasks.open();
  return tasks;
}

const KIND: TaskKind<string> = {
  name: "copy",
  title: "Copying",
  readers: "owner",
  whileRunning: "run",
  keep: { inAll: 100 },
};
const ADA = { subject: "x", client: "user ada" };

/** Work that ends when it is told to. */
function manual() {
  const reports: Report[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const work = async (_: Task, report: Report) => {
    const end = Promise.withResolvers<void>();
    reports.push(report);
    ends.push(end);
    report.signal.addEventListener("abort", () => end.reject(report.signal.reason));
    await end.promise;
    return { message: "Copied.", result: { files: 2 } };
  };
  return { reports, ends, work };
}

/** Overwrites the first page of an index, also in the memory of SQLite. */
function damageIndex(path: string, name: string): void {
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const { page, size } = database
    .query("SELECT rootpage AS page, page_size AS size FROM sqlite_schema, pragma_page_size WHERE name = ?")
    .get(name) as { page: number; size: number };
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
  closeSync(file);
  database.run("PRAGMA shrink_memory");
}

async function ended(tasks: Tasks, id: string): Promise<Task> {
  for (;;) {
    const task = tasks.find(id);
    if (task.ended !== null) return task;
    const changed = Promise.withResolvers<void>();
    tasks.changed = changed.resolve;
    await changed.promise;
  }
}

test("shows progress while a task runs, and keeps its outcome in the database", async () => {
  const { ends, reports, work } = manual();
  const tasks = open(KIND);
  const { id } = tasks.start(KIND, ADA, work);
  expect(tasks.find(id)).toMatchObject({
    state: "running",
    message: "Starting.",
    fraction: null,
    ended: null,
  });
  reports[0].say("Half.");
  reports[0].at(0.5);
  reports[0].show({ files: 1 });
  expect(tasks.find(id)).toMatchObject({ message: "Half.", fraction: 0.5, result: { files: 1 } });
  now += 7;
  ends[0].resolve();
  const expected = { state: "finished", message: "Copied.", fraction: 1, result: { files: 2 }, ended: now };
  expect(await ended(tasks, id)).toMatchObject(expected);
  expect(open(KIND).find(id)).toMatchObject({ ...expected, owner: "user ada", created: 1_000_000 });
});

test("a failed task says why", async () => {
  const tasks = open(KIND);
  const start = (error: Error) => tasks.start(KIND, ADA, () => Promise.reject(error));
  const known = await ended(tasks, start(new Problem("disk_full", "There is no space left.")).id);
  expect(known).toMatchObject({ state: "failed", message: "There is no space left.", fraction: null });
  const defect = await ended(tasks, start(new Error("secret /path")).id);
  expect(defect.message).not.toContain("secret");
  expect(problems[1]).toContain("secret /path");
});

test("opens for readers while nothing can be written, and ends tasks left behind at the next start", () => {
  const { id } = open(KIND).start(KIND, ADA, manual().work);
  database.run("PRAGMA query_only = ON");
  const reading = open(KIND);
  expect(reading.find(id)).toMatchObject({ state: "running", ended: null });
  expect(problems).toEqual([expect.stringContaining("readonly database")]);
  database.run("PRAGMA query_only = OFF");
  expect(open(KIND).find(id)).toMatchObject({ state: "failed", ended: now });
});

test("the engine throws errors at its start unless they come from the disk", () => {
  database.run("ALTER TABLE task RENAME TO lost");
  expect(() => open(KIND)).toThrow("no such table: task");
});

test("a damaged database does not take the end of a task, which counts as failed and is tried once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "labd-tasks-"));
  database.close();
  database = openDatabase(join(folder, "labd.sqlite"), MIGRATIONS);
  const { ends, work } = manual();
  const kind: TaskKind<string> = { ...KIND, whileRunning: "wait", run: work };
  const tasks = open(kind);
  const { id } = tasks.start(kind, ADA);
  await waitFor(() => ends.length === 1);
  damageIndex(join(folder, "labd.sqlite"), "task_unfinished");
  ends[0].resolve();
  const message =
    "The outcome could not be stored. The database is damaged. Stop labd, copy the data directory elsewhere, and restore the last backup.";
  expect(await ended(tasks, id)).toMatchObject({ state: "failed", ended: now, message });
  await expect(tasks.cancel(id)).rejects.toThrow("already ended: it is failed");
  // The second one is that of the search for the next task.
  await waitFor(() => problems.length === 2);
  expect(ends).toHaveLength(1);
  rmSync(folder, { recursive: true });
});

test("the end of a task is tried again until the service stops", async () => {
  const { ends, work } = manual();
  const tasks = open(KIND);
  const { id } = tasks.start(KIND, ADA, work);
  database.run("PRAGMA query_only = ON");
  ends[0].resolve();
  await waitFor(() => problems.length === 1);
  expect(tasks.find(id)).toMatchObject({ state: "running" });
  await tasks.close();
  expect(problems).toEqual([expect.stringContaining("readonly database")]);
  database.run("PRAGMA query_only = OFF");
});

test("cancelling waits until the work has ended", async () => {
  const done: string[] = [];
  const kind: TaskKind<string> = { ...KIND, cancelled: ({ id }) => void done.push(`cancelled ${id}`) };
  const tasks = open(kind);
  const { id } = tasks.start(kind, ADA, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    done.push("aborted");
    return { message: "" };
  });
  expect(await tasks.cancel(id)).toMatchObject({ state: "cancelled", message: "Cancelled." });
  expect(done).toEqual(["aborted", `cancelled ${id}`]);
  await expect(tasks.cancel(id)).rejects.toThrow("already ended: it is cancelled");
  await expect(tasks.cancel("none")).rejects.toThrow("No task has this identifier");
  await expect(tasks.cancel(id, ["other"])).rejects.toThrow("No task has this identifier");
});

test.each(["stopped", "killed"])(
  "after the server was %s, the tasks of a kind continue or fail as declared",
  async (how) => {
    const { reports, ends, work } = manual();
    const resumed: TaskKind<string> = { ...KIND, name: "resumed", run: work };
    const first = open(KIND, resumed);
    const lost = first.start(KIND, ADA, work).id;
    const kept = first.start(resumed, { ...ADA, request: "what to do" }).id;
    if (how === "stopped") await first.close();
    const second = open(KIND, resumed);
    expect(second.find(lost)).toMatchObject({
      state: "failed",
      message: "The server stopped while the task was running. Start it again.",
    });
    expect(second.find<string>(kept)).toMatchObject({ state: "running", request: "what to do" });
    expect(reports.map(({ task }) => task)).toEqual([lost, kept, kept]);
    ends[2].resolve();
    expect((await ended(second, kept)).state).toBe("finished");
  },
);

test("a kind of task refuses a second one, or queues it", async () => {
  const { ends, reports, work } = manual();
  const alone: TaskKind<string> = { ...KIND, name: "alone", whileRunning: "refuse" };
  const queue: TaskKind<string> = { ...KIND, name: "queue", whileRunning: "wait", run: work };
  const tasks = open(alone, queue);
  tasks.start(alone, ADA, work);
  expect(() => tasks.start(alone, { ...ADA, client: "user bob" }, work)).toThrow(
    "started by ada, is still running",
  );
  const ids = [1, 2, 3].map(() => tasks.start(queue, ADA).id);
  const states = () => ids.map((id) => tasks.find(id).state);
  expect(states()).toEqual(["running", "queued", "queued"]);
  await tasks.cancel(ids[1]);
  ends[1].resolve();
  await waitFor(() => reports.length >= 3);
  expect(states()).toEqual(["finished", "cancelled", "running"]);
  expect(reports.map(({ task }) => task).slice(1)).toEqual([ids[0], ids[2]]);
  await tasks.close();
  expect(() => tasks.start(queue, ADA)).toThrow("The service is stopping.");
});

test.each([
  [{ inAll: 2 }, 2],
  [{ inAll: 3 }, 3],
  [{ inAll: 100 }, 6],
  [{ inAll: 100, perClient: 2 }, 2],
  [{ inAll: 100, milliseconds: 1999 }, 2],
  [{ inAll: 100, milliseconds: 2000 }, 3],
  [{ inAll: 100, milliseconds: null }, 6],
])("with %p, of six tasks that end one after the other the newest %i are kept", async (keep, left) => {
  const removed: string[] = [];
  const kind: TaskKind<string> = {
    ...KIND,
    keep,
    removed: (tasks) => void removed.push(...tasks.map(({ id }) => id)),
  };
  const tasks = open(kind);
  const { work } = manual();
  const running = tasks.start(kind, ADA, work).id;
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) {
    now += 1000;
    const { id } = tasks.start(kind, ADA, () => Promise.resolve({ message: "" }));
    await ended(tasks, id);
    ids.push(id);
  }
  const kept = tasks.list(["copy"]).map(({ id }) => id);
  // The oldest of all, but it still runs.
  expect(kept).toEqual([...ids.slice(-left).toReversed(), running]);
  expect(removed.toSorted()).toEqual(ids.slice(0, 6 - left).toSorted());
});

test("lists the tasks of an owner or of all, also from other tables", () => {
  const { work } = manual();
  const tasks = open(KIND);
  const job = (id: string, owner: string, created: number): Task => ({
    id,
    kind: "job",
    subject: "",
    client: owner,
    owner,
    state: "queued",
    created,
    started: null,
    ended: null,
    message: "",
    fraction: null,
    result: null,
  });
  const jobs = [job("j2", "user bob", now + 50), job("j1", "user ada", now - 50)];
  tasks.addSource({
    kind: { name: "job", title: "Scoring", readers: "link" },
    list: (keys, limit) => jobs.filter(({ owner }) => keys?.includes(owner) !== false).slice(0, limit),
    find: (id) => jobs.find((one) => one.id === id) ?? null,
    cancel: () => {
      throw new Error("not here");
    },
  });
  const anonymous = tasks.start(KIND, { ...ADA, client: "192.0.2.1", owner: "key" }, work).id;
  const ada = tasks.start(KIND, ADA, work).id;
  const ids = (...args: Parameters<Tasks["listAll"]>) => tasks.listAll(...args).map(({ id }) => id);
  expect(ids(["user ada"], 10)).toEqual([ada, "j1"]);
  expect(ids(["key"], 10)).toEqual([anonymous]);
  expect(ids([], 10)).toEqual([]);
  expect(ids(null, 10)).toEqual(["j2", ada, anonymous, "j1"]);
  expect(ids(null, 1)).toEqual(["j2"]);
  expect(ids(null, 10, ["copy"])).toEqual([ada, anonymous]);
  const count = (...args: Parameters<Tasks["count"]>) => tasks.count(...args);
  expect([count(["user ada"], ["copy", "job"], 10), count(["user ada", "key"], ["copy"], 10)]).toEqual([
    2, 2,
  ]);
  expect([count(["user ada"], ["copy", "job"], 1), count([], ["copy", "job"], 10)]).toEqual([1, 0]);
  expect([tasks.findAny("j1").kind, tasks.findAny(ada).kind]).toEqual(["job", "copy"]);
});
