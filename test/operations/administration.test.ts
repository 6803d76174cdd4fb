import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import { VERSION } from "../../src/version.ts";
import { labd } from "../commands/labd.ts";
import { listOperations } from "../described.ts";
import { E7, runJobMessage } from "../executable/messages.ts";
import { waitFor } from "../wait.ts";

/** The administration API in memory; its tasks run commands in processes. */

setDefaultTimeout(300_000);

const directory = mkdtempSync(join(tmpdir(), "labd-administration-"));
let app: App;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  const flags = {
    data_dir: directory,
    backup_hours: "0",
    log: "off",
    workers: "1",
    max_message_bytes: "100000",
  };
  app = await open(resolveConfig({ flags, environment: {} }).config);
  for (const [username, superuser] of [
    ["ada", true],
    ["bob", false],
  ] as const) {
    await app.accounts.addUser({ username, superuser });
    tokens[username] = app.accounts.addToken(username, "test", null, "write");
  }
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

interface Answered {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- of many forms
  body: any;
}

async function ask(
  method: string,
  path: string,
  body?: BodyInit,
  user: string | null = "ada",
): Promise<Answered> {
  const headers: Record<string, string> = user === null ? {} : { Authorization: `Token ${tokens[user]}` };
  const response = await app.answer(
    new Request(`http://labd/${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
  );
  const text = await response.text();
  if (path.startsWith("api/admin") && response.ok)
    expect(response.headers.get("cache-control")).toBe("no-store");
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}
const admin = (method: string, path: string, body?: BodyInit): Promise<Answered> =>
  ask(method, `api/admin/${path}`, body);

/** Waits for the end of a started task. */
async function ended(started: Answered): Promise<Answered["body"]> {
  expect([started.status, started.body.state]).toEqual([202, "running"]);
  return waitFor(async () => {
    const { body: task } = await admin("GET", `tasks/${started.body.id}`);
    return task.state !== "running" && task;
  });
}

test("every operation is for administrators only", async () => {
  const { body } = await ask("GET", "docs/json");
  const operations = Object.entries(listOperations(body))
    .filter(([path]) => path.startsWith("/api/admin/"))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path]));
  expect(operations.length).toBeGreaterThan(18);
  for (const [method, template] of operations) {
    const path = template.slice(1).replace(/\{\w+\}/g, "ada");
    expect([method, path, (await ask(method, path, undefined, null)).status]).toEqual([method, path, 401]);
    const { status, body } = await ask(method, path, undefined, "bob");
    expect([method, path, status, body.message]).toEqual([
      method,
      path,
      403,
      "Administrators only. Ask ada.",
    ]);
  }
});

const fasta = (name: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `>${name}${i}\n${E7.slice(i % 20)}\n`).join("");
const add = (name: string, body: string): Promise<Answered> => admin("POST", `corpora?name=${name}`, body);
const corpora = async (): Promise<[string, boolean][]> =>
  (await admin("GET", "corpora")).body.results.map(({ name, active }: { name: string; active: boolean }) => [
    name,
    active,
  ]);

test("adds, uses, verifies and removes a corpus, also one above max_message_bytes", async () => {
  expect(await ended(await add("small", fasta("A", 20)))).toMatchObject({
    state: "done",
    said: "20 proteins were added.",
    by: "ada",
    fraction: 1,
  });
  const large = fasta("B", 2000);
  expect(large.length).toBeGreaterThan(100_000);
  expect((await ended(await add("large", large))).said).toBe("2,000 proteins were added.");
  expect((await ended(await add("again", fasta("A", 20)))).said).toContain(
    "already exist under another name",
  );
  const bad = await ended(await add("bad", ">A\nAC!DE\n"));
  expect([bad.state, bad.said]).toEqual(["failed", expect.stringContaining("line 2")]);
  expect(readdirSync(join(directory, "uploads"))).toEqual([]);
  const nameless = await admin("POST", "corpora", ">A\nACDE\n");
  expect([nameless.status, Object.keys(nameless.body)]).toEqual([400, expect.arrayContaining(["name"])]);
  expect((await admin("POST", "corpora?name=empty")).status).toBe(400);
  expect(await corpora()).toEqual([
    ["small", true],
    ["large", false],
  ]);
  expect((await admin("DELETE", "corpora/small")).status).toBe(409);
  expect((await admin("POST", "corpora/large/use")).body.active).toBeTrue();
  expect(await ended(await admin("POST", "corpora/large/verify"))).toMatchObject({
    state: "done",
    said: "large is intact: every byte is as it was written.",
  });
  expect((await admin("DELETE", "corpora/small")).status).toBe(204);
  expect(await corpora()).toEqual([["large", true]]);
  for (const [method, path] of [
    ["DELETE", "corpora/none"],
    ["POST", "corpora/none/use"],
    ["POST", "corpora/none/verify"],
    ["GET", "tasks/none"],
    ["DELETE", "tasks/none"],
    ["DELETE", "jobs/none"],
    ["POST", "backups/none/verify"],
  ])
    expect([path, (await admin(method, path)).status]).toEqual([path, 404]);
});

test("features are imported, listed and removed", async () => {
  const [protein] = (await admin("GET", "corpora")).body.results;
  const accession = protein.name === "large" ? "B1" : "A1";
  const bed = `${accession}\t0\t3\tdomain\nnone\t0\t3\n${accession}\t5\t99999\n`;
  const add = (query: string, body: string) => admin("POST", `features${query}`, body);
  const task = await ended(await add("?name=core.bed", bed));
  expect(task).toMatchObject({
    state: "done",
    said: "2 features of 1 protein were imported. The file was read as BED. 1 feature of 1 identifier matched no protein of the corpus.",
  });
  expect((await admin("GET", "features")).body.results).toMatchObject([
    {
      name: "core.bed",
      format: "BED",
      groups: { Domains: 1, Regions: 1 },
      flagged: { "end after the last residue": 1 },
      unmatched: { proteins: 1, features: 1, examples: ["none"] },
    },
  ]);
  const bad = await ended(await add("?name=bad.gff&format=gff3", bed));
  expect([bad.state, bad.said]).toEqual(["failed", expect.stringContaining("line 1: 4 columns")]);
  expect(readdirSync(join(directory, "uploads"))).toEqual([]);
  for (const [query, status] of [
    ["?name=-x", 400],
    ["", 400],
    ["?name=x&format=doc", 400],
  ] as const)
    expect((await add(query, bed)).status).toBe(status);
  expect((await admin("DELETE", "features/core.bed")).status).toBe(204);
  expect((await admin("DELETE", "features/core.bed")).status).toBe(404);
});

test("an upload can be cancelled, leaves no files, and excludes a second one", async () => {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode(fasta("C", 100)));
      await Bun.sleep(20);
    },
  });
  const sent = admin("POST", "corpora?name=broken", body).catch(() => null);
  const find = async () =>
    (await admin("GET", "tasks")).body.results.find(
      ({ subject }: { subject: string }) => subject === "broken",
    );
  await waitFor(async () => (await find())?.said.startsWith("Receiving"));
  const second = await add("other", ">A\nACDE\n");
  expect([second.status, second.body.message]).toEqual([
    409,
    expect.stringContaining("started by ada, is still running"),
  ]);
  const cancelled = await admin("DELETE", `tasks/${(await find()).id}`);
  expect([cancelled.status, cancelled.body.state]).toEqual([200, "cancelled"]);
  expect((await admin("DELETE", `tasks/${(await find()).id}`)).status).toBe(409);
  await sent;
  expect(readdirSync(join(directory, "uploads"))).toEqual([]);
});

test("validates a table of motif classes row by row, imports it as a whole, and removes it", async () => {
  const before = (await admin("GET", "motif-classes")).body.classes;
  const table = "ELMIdentifier\tRegex\nNEW_ONE\tP..P\nBROKEN\t((\n";
  const { body: judged } = await admin("PUT", "motif-classes?dry_run=1", table);
  expect(judged.rows.map((row: { line: number; verdict: string }) => [row.line, row.verdict])).toEqual([
    [2, "new"],
    [3, "wrong"],
  ]);
  expect((await admin("PUT", "motif-classes", table)).status).toBe(400);
  expect((await admin("GET", "motif-classes")).body).toEqual({ classes: before, imported: null });
  const good = table.replace("BROKEN\t((\n", "");
  const { body: imported } = await admin("PUT", "motif-classes?name=elm.tsv", good);
  expect(imported).toMatchObject({ classes: before + 1, imported: { name: "elm.tsv", size: 1 } });
  const verdict = async (text: string): Promise<string> =>
    (await admin("PUT", "motif-classes?dry_run=1", text)).body.rows[0].verdict;
  expect([await verdict(good), await verdict(good.replace("P..P", "P.P"))]).toEqual(["same", "changed"]);
  expect((await admin("DELETE", "motif-classes")).body).toEqual({ classes: before, imported: null });
  expect((await admin("DELETE", "motif-classes")).status).toBe(404);
});

test("lists jobs with their clients, and cancels one", async () => {
  const body = runJobMessage({ sequence: E7, patterns: ["L.C.E"] });
  const headers = { "Content-Type": "text/xml" };
  const sent = await app.answer(
    new Request("http://labd/soap/ConservationScorer", { method: "POST", headers, body }),
  );
  expect(sent.status).toBe(200);
  const { body: found } = await admin("GET", "jobs");
  expect(found.results[0]).toMatchObject({ name: "test", residues: E7.length, failure: null });
  expect(found.results[0].submitted).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect([found.workers.length, found.memory.bytes < found.memory.limit]).toEqual([1, true]);
  const { status } = await admin("DELETE", `jobs/${found.results[0].id}`);
  const [job] = (await admin("GET", "jobs?state=")).body.results;
  // The worker may have been faster.
  expect([
    [204, "cancelled"],
    [409, "finished"],
  ]).toContainEqual([status, job.state]);
  expect((await admin("GET", `jobs?state=${job.state}`)).body.results).toHaveLength(1);
  expect((await admin("GET", "jobs?state=running")).body.results).toEqual([]);
  expect((await admin("GET", "jobs")).body.queue_seconds).toBe(0);
  expect((await admin("GET", "jobs?state=asleep")).status).toBe(400);
  expect((await admin("GET", "farm")).body).toEqual({ enabled: false });
});

test("creates and verifies a backup, and runs the checks of labd doctor", async () => {
  const made = await ended(await admin("POST", "backups"));
  const { body: backups } = await admin("GET", "backups");
  expect(backups).toMatchObject({ hours: 0, directory: join(directory, "backups") });
  const [{ name, rows, corpora }] = backups.results;
  expect([made.said, rows > 0, corpora]).toEqual([`${name} was made, checked and read back.`, true, 1]);
  const verified = await ended(await admin("POST", `backups/${name}/verify`));
  expect(verified.said).toBe(`${name} is intact and can be restored.`);
  expect((await admin("POST", "backups/..%2Flabd.sqlite/verify")).status).toBe(404);
  const { said, result } = await ended(await admin("POST", "health/examination"));
  expect(said).toMatch(
    /^(1 problem|(?!1 )\d+ problems), (1 warning|(?!1 )\d+ warnings), (1 check|(?!1 )\d+ checks) passed\.$/,
  );
  const states = Object.fromEntries(result.map(({ about, state }: Record<string, string>) => [about, state]));
  expect(states).toMatchObject({ database: "ok", corpus: "ok", disk: expect.anything(), clock: "ok" });
  expect(states.server).toBeUndefined();
  const { body: health } = await admin("GET", "health");
  expect(health).toMatchObject({ version: VERSION, data_directory: directory });
  expect([health.disk.free > 0, health.database.bytes > 0, health.uptime > 0]).toEqual([true, true, true]);
});

test("audit entries of commands run by a task name the user who started the task", async () => {
  const { stdout } = await labd(["audit", "export", "--action", "backup.make", "--data-dir", directory]);
  expect(JSON.parse(stdout.split("\n")[0]).actor).toMatch(/^uid:\d+ .*\bada$/);
});
