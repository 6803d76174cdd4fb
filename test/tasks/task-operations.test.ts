import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import { waitFor } from "../wait.ts";
import { P53 } from "../scoring/scoring-harness.ts";

/** Tasks of all kinds, over HTTP. */

setDefaultTimeout(300_000);

const directory = mkdtempSync(join(tmpdir(), "labd-tasks-"));
const { config } = resolveConfig({
  flags: { data_dir: directory, backup_hours: "0", log: "off", workers: "1" },
  environment: {},
});
let app: App;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  app = await open(config);
  for (const [username, superuser] of [
    ["ada", true],
    ["bob", false],
  ] as const) {
    await app.accounts.addUser({ username, superuser });
    tokens[username] = app.accounts.addToken(username, "test", null, "write");
  }
  tokens.reader = app.accounts.addToken("bob", "read", null, "read");
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

/** Headers by which callers are known: the name of a token, an owner key, or nothing. */
type Caller = Record<string, string>;
const KEY: Caller = { "Owner-Key": "a secret of twenty letters".replaceAll(" ", "-") };
const ANONYMOUS_IDENTITY: Caller = {};
const as = (name: string): Caller => ({ Authorization: `Token ${tokens[name]}` });

async function ask(method: string, path: string, caller: Caller, body?: object) {
  const response = await app.answer(
    new Request(`http://labd/api/${path}`, {
      method,
      headers: { ...caller, ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }),
  );
  const text = await response.text();
  // oxlint-disable-next-line typescript/no-explicit-any -- of many forms
  return { status: response.status, text, body: (text.startsWith("{") ? JSON.parse(text) : null) as any };
}

/** A job that does not start: a worker of this process has an earlier one. */
const startJob = async (caller: Caller, identifier: string): Promise<string> =>
  (await ask("POST", "scoring/jobs", caller, { identifier, querySequence: P53, patterns: ["P..P"] })).body.id;
const listed = async (caller: Caller, query = ""): Promise<string[]> =>
  (await ask("GET", `tasks/${query}`, caller)).body.results.map(({ id }: { id: string }) => id);

test("owners list their tasks, administrators list all tasks, and other callers get none", async () => {
  const bob = await startJob(as("bob"), "one");
  const key = await startJob(KEY, "two");
  const examination = (await ask("POST", "admin/health/examination", as("ada"))).body.id;
  expect(await listed(as("bob"))).toEqual([bob]);
  expect(await listed({ ...as("bob"), ...KEY })).toEqual([key, bob]);
  expect(await listed(KEY)).toEqual([key]);
  expect(await listed(ANONYMOUS_IDENTITY)).toEqual([]);
  expect(await listed(as("ada"))).toEqual([examination, key, bob]);
  expect(await listed(as("ada"), "?kind=job")).toEqual([key, bob]);
  expect(await listed(as("ada"), "?owner=me")).toEqual([examination]);
  expect(await listed(as("bob"), "?owner=all")).toEqual([bob]);
  expect(await listed(as("ada"), "?kind=examination")).toEqual([examination]);
  expect(await listed(as("ada"), "?limit=1")).toEqual([examination]);
});

test("a batch is one result of its owner, and its jobs are none", async () => {
  const counts = async (caller: Caller) => (await ask("GET", "scoring/counts", caller)).body.results;
  const kinds = "?kind=job,batch,proteome-search&owner=me";
  const [before, former] = [await counts(as("bob")), await listed(as("bob"), kinds)];
  const batch = await ask("POST", "scoring/batches", as("bob"), {
    proteins: [{ identifier: "three", querySequence: P53 }],
    patterns: ["P..P"],
  });
  const path = `scoring/batches/${batch.body.id}`;
  await waitFor(async () => (await ask("GET", path, as("bob"))).body.jobs.waiting === 0);
  expect(await listed(as("bob"), kinds)).toEqual([batch.body.id, ...former]);
  expect([await counts(as("bob")), await counts(ANONYMOUS_IDENTITY)]).toEqual([before + 1, 0]);
});

test.each([
  ["tasks/?kind=none", 400, "kind: expected one of"],
  ["tasks/?limit=0", 400, "limit:"],
  ["tasks/none", 404, "No task has this identifier"],
  ["tasks/none/events", 404, "No task has this identifier"],
] as const)("GET %s is answered with %d", async (path, status, message) => {
  const answer = await ask("GET", path, ANONYMOUS_IDENTITY);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});

test("anyone with the link may read a job, and only administrators read tasks of administrators", async () => {
  const job = await startJob(KEY, "named");
  const { body } = await ask("GET", `tasks/${job}`, ANONYMOUS_IDENTITY);
  expect(body).toMatchObject({
    id: job,
    kind: "job",
    title: "Scoring",
    subject: "named",
    mayChange: false,
    links: {
      self: `http://labd/api/tasks/${job}`,
      events: `http://labd/api/tasks/${job}/events`,
      resource: `http://labd/api/scoring/jobs/${job}`,
    },
  });
  expect((await ask("GET", `tasks/${job}`, KEY)).body.mayChange).toBe(true);
  const [examination] = await listed(as("ada"), "?kind=examination");
  for (const caller of [ANONYMOUS_IDENTITY, as("bob"), KEY])
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/events"],
      ["DELETE", ""],
    ])
      expect((await ask(method, `tasks/${examination}${path}`, caller)).status).toBe(404);
  expect((await ask("GET", `tasks/${examination}`, as("ada"))).body.kind).toBe("examination");
});

test("only the owner and administrators cancel a task", async () => {
  const job = await startJob(as("bob"), "mine");
  for (const caller of [ANONYMOUS_IDENTITY, KEY, as("reader")]) {
    const { status } = await ask("DELETE", `tasks/${job}`, caller);
    expect(status).toBe(403);
  }
  const cancelled = await ask("DELETE", `tasks/${job}`, as("bob"));
  // It may have finished before.
  if (cancelled.status === 200)
    expect(cancelled.body).toMatchObject({ state: "cancelled", ended: expect.any(String) });
  else expect(cancelled.status).toBe(409);
});

test("wrong credentials are refused", async () => {
  const wrong = { Authorization: "Token none" };
  for (const path of ["tasks/", "tasks/x", "tasks/x/events"])
    expect((await ask("GET", path, wrong)).status).toBe(401);
});

test("events end with the final state", async () => {
  const job = await startJob(KEY, "watched");
  const { text } = await ask("GET", `tasks/${job}/events`, ANONYMOUS_IDENTITY);
  const events = [...text.matchAll(/^event: (\w+)\nid: (\S+)\ndata: (.*)$/gm)];
  expect(JSON.parse(events.at(-1)![3])).toMatchObject({ id: job, state: "finished", fraction: 1 });
  const again = await ask("GET", `tasks/${job}/events`, { "Last-Event-ID": events.at(-1)![2] });
  expect(again.status).toBe(204);
});

test("an import is a task of its user", async () => {
  const response = await app.answer(
    new Request("http://labd/api/v2/consumables/import/", {
      method: "POST",
      headers: { ...as("bob"), "Content-Type": "text/csv", Prefer: "respond-async" },
      body: "name\nred\n",
    }),
  );
  const { id } = (await response.json()) as { id: string };
  expect(response.status).toBe(202);
  expect(await listed(as("bob"), "?kind=import")).toEqual([id]);
  expect(await listed(as("ada"), "?kind=import")).toEqual([id]);
  expect(await listed(KEY, "?kind=import")).toEqual([]);
  expect((await ask("GET", `tasks/${id}`, KEY)).status).toBe(404);
  expect((await ask("DELETE", `tasks/${id}`, KEY)).status).toBe(404);
  const { text } = await ask("GET", `tasks/${id}/events`, as("bob"));
  expect(text).toContain('"state":"finished"');
  expect((await ask("GET", `tasks/${id}`, as("bob"))).body).toMatchObject({
    kind: "import",
    subject: expect.any(String),
    state: "finished",
    mayChange: true,
    links: { resource: `http://labd/api/v2/imports/${id}/` },
  });
  expect((await ask("DELETE", `tasks/${id}`, as("bob"))).status).toBe(409);
});

test("a backup that a stopped server leaves behind counts as failed, with the reason", async () => {
  const started = await ask("POST", "admin/backups", as("ada"));
  expect(started.status).toBe(202);
  await app.close();
  app = await open(config);
  const { body } = await ask("GET", `admin/tasks/${started.body.id}`, as("ada"));
  expect(body).toMatchObject({ state: "failed", said: expect.stringContaining("The server stopped") });
  expect((await ask("GET", `tasks/${started.body.id}`, as("ada"))).body.state).toBe("failed");
});
