import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve, type Server } from "./labd.ts";
import { waitFor } from "../wait.ts";

/** A database with a damaged page: whichever process meets it, nothing is written any more, and the log stays JSON. */

const LIST = "/api/v2/locations/";
/** So many records that a long list has begun when it meets the damage. */
const RECORDS = 6000;

/** Overwrites a page with records of the middle of the table. */
function garble(path: string): void {
  const database = new Database(path, { readonly: true });
  const pages = database
    .query("SELECT pageno FROM dbstat WHERE name = 'location' AND pagetype = 'leaf' ORDER BY path")
    .all() as { pageno: number }[];
  const { page_size: size } = database.query("PRAGMA page_size").get() as { page_size: number };
  database.close();
  const file = openSync(path, "r+");
  const page = pages[Math.floor(pages.length * 0.8)];
  writeSync(file, new Uint8Array(size).fill(0xa5), 0, size, (page.pageno - 1) * size);
  closeSync(file);
}

async function openLab(data: string) {
  const env = { LABD_DATA_DIR: data };
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "a password\n" });
  const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
  const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
  const start = () => serve(data, ["--log", "problems", "--workers", "1"]);
  const lab = {
    env,
    start,
    server: await start(),
    ask: (method: string, path: string, body?: unknown) =>
      fetch(lab.server.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }),
  };
  for (let i = 0; i < RECORDS; i += 2000) {
    const some = Array.from({ length: 2000 }, (_, k) => ({
      label: `l ${i + k}`,
      description: "x".repeat(300),
    }));
    expect((await lab.ask("POST", LIST, some)).status).toBe(201);
  }
  await lab.server.end("SIGTERM");
  return lab;
}

/** Nothing is written, the metric says so, and every line of the log is JSON. */
async function hasStopped(lab: Awaited<ReturnType<typeof openLab>>): Promise<void> {
  const ready = await lab.ask("GET", "/readyz");
  expect([ready.status, await ready.text()]).toEqual([
    503,
    expect.stringContaining("The database is damaged"),
  ]);
  const write = await lab.ask("POST", LIST, { label: "refused" });
  expect([write.status, await write.json()]).toEqual([
    503,
    expect.objectContaining({ code: "database_damaged" }),
  ]);
  expect(await (await fetch(`${lab.server.url}/metrics`)).text()).toContain("\nlabd_database_damaged 1\n");
}

const events = (server: Server): string[] =>
  server
    .log()
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { event: string }).event);

test("damage that a request process meets amid a list stops all writing, also after a restart", async () => {
  using place = scratch();
  const lab = await openLab(place.directory);
  garble(join(place.directory, "labd.sqlite"));
  lab.server = await lab.start();
  const cut = await lab.ask("GET", `${LIST}?page_size=max`);
  expect(cut.status).toBe(200);
  expect(await cut.text().catch(() => "cut off")).toBe("cut off");
  await hasStopped(lab);
  expect(await lab.server.end("SIGTERM")).toBe(0);
  expect(events(lab.server)).toContain("database damaged");
  expect(events(lab.server)).toContain("response cut off");
  // The mark stays until the database is intact.
  lab.server = await lab.start();
  await hasStopped(lab);
  expect((await lab.ask("GET", `${LIST}?page_size=10`)).status).toBe(200);
  await lab.server.end("SIGTERM");
  events(lab.server);
}, 120_000);

test("damage that a command meets stops the server from writing, until the database is restored", async () => {
  using place = scratch();
  const lab = await openLab(place.directory);
  const path = join(place.directory, "labd.sqlite");
  const intact = await Bun.file(path).bytes();
  garble(path);
  lab.server = await lab.start();
  expect((await lab.ask("GET", "/readyz")).status).toBe(200);
  const backup = await labd(["backup"], { env: lab.env });
  expect([backup.code, backup.stderr]).toEqual([74, expect.stringContaining("malformed")]);
  await hasStopped(lab);
  await lab.server.end("SIGTERM");
  expect(events(lab.server)).toContain("database damaged");
  await Bun.write(path, intact);
  // The copy is older than what the server has noted.
  rmSync(join(place.directory, "labd.committed"));
  lab.server = await lab.start();
  expect((await lab.ask("GET", "/readyz")).status).toBe(200);
  expect((await lab.ask("POST", LIST, { label: "accepted" })).status).toBe(201);
  await lab.server.end("SIGTERM");
}, 120_000);

test.skipIf(process.platform !== "linux")(
  "the report of a crash of a request process is a line of the log",
  async () => {
    using place = scratch();
    const lab = await openLab(place.directory);
    lab.server = await lab.start();
    await (await lab.ask("GET", `${LIST}?page_size=max`)).text();
    const { pid } = lab.server.process;
    for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" "))
      process.kill(Number(child), "SIGSEGV");
    await waitFor(() => lab.server.log().includes("request process ended"));
    await lab.server.end("SIGTERM");
    expect(events(lab.server)).toContain("request process");
  },
  120_000,
);
