import { expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Random, random } from "../scoring/contract/random-message.ts";
import { ask, E7, element, LABD, labd, post, runJobMessage, scratch, serve, type Server } from "./labd.ts";
import { Disk, TRACED } from "./power-cut.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(3_600_000);

/**
 * The power goes: clients write while the system calls of the service are recorded, and the service starts on what a
 * disk may hold after a cut at any of them. Whatever was answered before the cut must be there. `LABD_CUTS=500` is the
 * long form; docs/reliability.md has its figures.
 */

const CUTS = Number(process.env.LABD_CUTS ?? 20);
const SEED = Number(process.env.LABD_CUTS_SEED ?? 1);
const WORDS = ["--workers", "1", "--backup-hours", "0", "--webhook-allow", "127.0.0.0/8"];
const STRACE = Bun.which("strace");
if (!STRACE) process.stderr.write("SKIPPED: there is no strace.\n");

const FASTA = readFileSync(join(import.meta.dir, "../../src/sample/proteins.fasta"), "utf8");

/** Something that a client was told, true from one moment until its next request about it; seconds since 1970. */
interface Promised {
  what: string;
  from: number;
  until: number;
  /** Reads it again. @returns what it is now */
  read: (visitor: Visitor) => Promise<unknown>;
  expected: unknown;
}

interface Answer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of many operations
  body: any;
}

const now = (): number => (performance.timeOrigin + performance.now()) / 1000;

/** A client with the promises it was given. */
class Visitor {
  constructor(
    readonly url: string,
    readonly token: string,
    readonly ledger: Promised[],
  ) {}

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const isText = typeof body === "string";
    const response = await fetch(this.url + path, {
      method,
      headers: {
        Authorization: `Token ${this.token}`,
        ...(body === undefined
          ? {}
          : { "Content-Type": isText ? "application/octet-stream" : "application/json" }),
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  }

  /** Makes a change, and notes what it reads afterwards. A promise about the same thing replaces the last one. */
  async promise(what: string, read: Promised["read"], change?: () => Promise<Answer>): Promise<void> {
    const last = this.ledger.findLast((one) => one.what === what);
    if (last) last.until = now();
    if (change) expect((await change()).status).toBeOneOf([200, 204]);
    const from = now();
    this.ledger.push({ what, from, until: Infinity, read, expected: await read(this) });
  }

  /** Waits for a task of the administration. */
  async finish(path: string, body: unknown): Promise<void> {
    const begun = await this.send("POST", path, body);
    expect([path, begun.status]).toEqual([path, 202]);
    const task = await waitFor(async () => {
      const { body: read } = await this.send("GET", `/api/admin/tasks/${begun.body.id}`);
      return read.state !== "running" && read;
    });
    expect(task).toMatchObject({ state: "done" });
  }
}

/** One person who makes, changes and removes boxes, one request after the other. */
async function keepBoxes(visitor: Visitor, name: string, next: Random, rounds: number): Promise<void> {
  const boxes: string[] = [];
  for (let i = 0; i < rounds; i++) {
    const label = `${name} ${i}`;
    const box = boxes[Math.floor(next() * boxes.length)];
    const read = (path: string) => (by: Visitor) =>
      by.send("GET", path).then(({ status, body }) => (status === 200 ? body.label : status));
    if (box === undefined || next() < 0.5) {
      const sent = { label, description: label.repeat(Math.floor(next() * 300)) };
      const made = await visitor.send("POST", "/api/v2/locations/", sent);
      expect(made.status).toBe(201);
      const path = `/api/v2/locations/${made.body.id}/`;
      boxes.push(path);
      await visitor.promise(path, read(path));
    } else if (next() < 0.8)
      await visitor.promise(box, read(box), () => visitor.send("PATCH", box, { label }));
    else {
      boxes.splice(boxes.indexOf(box), 1);
      await visitor.promise(box, read(box), () => visitor.send("DELETE", box));
    }
  }
}

async function submitJobs(visitor: Visitor, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const sequence = E7 + "A".repeat(i);
    const accepted = await post(visitor.url, runJobMessage({ sequence, patterns: ["L.C.E"] }));
    const job = element(accepted.text, "JobIdentifier")!;
    await visitor.promise(job, async (by) => (await ask(by.url, "GetStatus", job)).status);
  }
}

/** Data that an administrator adds: corpora, features, families, a backup, and a webhook, whose secret is encrypted. */
async function administrate(visitor: Visitor): Promise<void> {
  const hook = await visitor.send("POST", "/api/webhooks/", { url: "http://127.0.0.1:9/hook" });
  expect(hook.status).toBe(201);
  const readHook = (by: Visitor) => by.send("GET", `/api/webhooks/${hook.body.id}/`);
  await visitor.promise("webhook", async (by) => (await readHook(by)).status);
  const names = (list: string) => async (by: Visitor) =>
    (await by.send("GET", `/api/admin/${list}`)).body.results.map((one: { name: string }) => one.name);
  for (const name of ["first", "second"]) {
    const fasta = FASTA.slice(0, name === "first" ? undefined : 60_000).replace(/>[^>]*$/, "");
    await visitor.finish(`/api/admin/corpora?name=${name}&use=1`, fasta);
    await visitor.promise(`corpus ${name}`, (by) => by.finish(`/api/admin/corpora/${name}/verify`, {}));
    await visitor.finish(`/api/admin/features?name=${name}`, "P04637\t0\t30\tregion\n");
    await visitor.promise(`features ${name}`, async (by) => (await names("features")(by)).includes(name));
  }
  const build = await visitor.send("POST", "/api/admin/proteome/builds", { organism: "9606" });
  expect(build.status).toBe(202);
  const path = `/api/admin/proteome/builds/${build.body.id}`;
  await waitFor(async () => !/queued|running/.test((await visitor.send("GET", path)).body.state));
  await visitor.promise("families", async (by) => (await by.send("GET", "/api/scoring/proteome")).body);
  await visitor.finish("/api/admin/backups", {});
  await visitor.promise("backups", names("backups"));
}

/** Records a service at work. @returns the trace, and what clients were promised */
async function record(
  data: string,
  root: string,
  token: string,
): Promise<{ trace: string; ledger: Promised[] }> {
  const log = join(root, "trace");
  const traced = join(root, "labd-traced");
  // With -D the process is the service itself.
  writeFileSync(
    traced,
    `#!/bin/sh\nexec ${STRACE} -D -f --seccomp-bpf -qq -y -ttt -xx -s 1000000000 -e trace=${TRACED} -o ${log} ${LABD} "$@"\n`,
  );
  chmodSync(traced, 0o755);
  const ledger: Promised[] = [];
  {
    await using server = await serve(data, WORDS, {}, traced);
    const visitor = new Visitor(server.url, token, ledger);
    const next = random(SEED);
    await Promise.all([
      administrate(visitor),
      keepBoxes(visitor, "Ana", next, 60),
      keepBoxes(visitor, "Ben", next, 60),
      submitJobs(visitor, 15),
    ]);
    await server.end("SIGKILL");
  }
  return { trace: readFileSync(log, "latin1"), ledger };
}

/** Starts the service on what is left. @returns promises that were broken */
async function findBroken(data: string, at: number, token: string, ledger: Promised[]): Promise<string[]> {
  let server: Server;
  try {
    server = await serve(data, [...WORDS, "--log", "problems"]);
  } catch (error) {
    return [String(error)];
  }
  await using _ = server;
  const visitor = new Visitor(server.url, token, []);
  const broken: string[] = [];
  for (const { what, from, until, read, expected } of ledger) {
    if (from > at || until <= at) continue;
    const found = await read(visitor).catch(String);
    if (!Bun.deepEquals(found, expected))
      broken.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  }
  const problems = server
    .log()
    .split("\n")
    .filter((line) => line.includes('"severity":"error"'));
  return [...broken, ...problems];
}

test.skipIf(!STRACE)(`keeps every promise after ${CUTS} power cuts (LABD_CUTS=n)`, async () => {
  using place = scratch();
  const data = join(place.directory, "data");
  const before = join(place.directory, "before");
  const env = { LABD_DATA_DIR: data };
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "a password\n" });
  const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
  cpSync(data, before, { recursive: true });
  const { trace, ledger } = await record(data, place.directory, token);
  // Paths in the trace are those of the run.
  rmSync(data, { recursive: true });
  cpSync(before, data, { recursive: true });
  const moments = [...new Disk(data).replay(trace)];
  const next = random(SEED);
  const boundaries = moments.flatMap(({ isWrite }, i) => (isWrite ? [] : [i]));
  const chosen = new Set<number>();
  while (chosen.size < Math.min(CUTS, moments.length)) {
    // Half of the cuts at renames, removals and fsyncs, which are few.
    const from = chosen.size % 2 === 0 ? boundaries : [...moments.keys()];
    chosen.add(from[Math.floor(next() * from.length)]!);
  }
  process.stderr.write(`power cuts: ${moments.length} changes of the disk, ${ledger.length} promises\n`);
  const broken: string[] = [];
  const disk = new Disk(data);
  let number = 0;
  for (const { at } of disk.replay(trace)) {
    if (!chosen.has(number++)) continue;
    const left = join(place.directory, "left");
    rmSync(left, { recursive: true, force: true });
    mkdirSync(left);
    disk.cut(left, next);
    const found = await findBroken(left, at, token, ledger);
    broken.push(...found.map((line) => `after ${number} changes: ${line}`));
    if (found.length > 0 && process.env.LABD_CUTS_LOG)
      appendFileSync(
        process.env.LABD_CUTS_LOG,
        found.map((line) => `after ${number} changes: ${line}\n`).join(""),
      );
  }
  expect(broken).toEqual([]);
});
