import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../../db/index.ts";
import { knownBackups } from "../../../src/operations/backup/places.ts";
import {
  checkBackup,
  readStoredBackup,
  restoreBackup,
} from "../../../src/operations/backup/restore-backup.ts";
import { backUpToStore, listStore, thinStore } from "../../../src/operations/backup/store-backup.ts";
import { type Problem } from "../../../src/problem.ts";
import { ObjectStore } from "../../../src/platform/object-store.ts";
import { closeDatabase } from "../../../src/platform/sqlite.ts";
import { randomBytes } from "node:crypto";
import { type ObjectServer, objectServer } from "../../platform/object-server.ts";
import { openMigrated } from "../../database.ts";
import { openCorpus, packCorpus, readFasta } from "../../../src/motif/index.ts";

const DAY = 86_400_000;
const KNOWN = MIGRATIONS.map(({ name }) => name);
/** File name of the corpus in the data directory. */
let CORPUS: string;

let server: ObjectServer;
let place: string;
let data: string;
let store: ObjectStore;
beforeAll(async () => {
  server = await objectServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "labd-backup-"));
  data = join(place, "data");
  const database = openMigrated(join(data, "labd.sqlite"));
  database.run("CREATE TABLE filling (bytes BLOB)");
  closeDatabase(database);
  mkdirSync(join(data, "corpora"));
  writeCorpus(10_000);
  store = new ObjectStore(server.address(), server.access);
});
afterEach(() => {
  server.faults.length = 0;
  rmSync(place, { recursive: true });
});

const corpora = new Map<number, Uint8Array>();

/** A corpus of so many random residues. */
function writeCorpus(residues: number): void {
  const bytes = corpora.get(residues) ?? randomCorpus(residues);
  corpora.set(residues, bytes);
  CORPUS = `${openCorpus(bytes).hash}.labc`;
  writeFileSync(join(data, "corpora", CORPUS), bytes);
}

function randomCorpus(residues: number): Uint8Array {
  const sequence = randomBytes(residues).map((byte) => "ACDEFGHIKLMNPQRSTVWY".charCodeAt(byte % 20));
  return packCorpus("random", readFasta(`>P1\n${Buffer.from(sequence).toString("latin1")}\n`));
}

/** Makes database and corpus too large for one part of an upload. */
function fill(): void {
  const database = openMigrated(join(data, "labd.sqlite"));
  database.query("INSERT INTO filling VALUES (?)").run(randomBytes(11_000_000));
  closeDatabase(database);
  rmSync(join(data, "corpora", CORPUS));
  writeCorpus(10_000_000);
}

const NOW = Date.parse("2026-11-21T12:00:00Z");
const backUp = (now = NOW): ReturnType<typeof backUpToStore> =>
  backUpToStore({ from: data, database: "labd.sqlite", store, reason: "asked", version: "1", now });
const names = async (): Promise<string[]> => (await store.list()).map(({ name }) => name);
const catchProblem = (work: Promise<unknown>): Promise<Problem> =>
  work.then(
    () => {
      throw new Error("it was not refused");
    },
    (error: Problem) => error,
  );
const isDatabase = (method: string, url: string): boolean => method === "PUT" && url.includes(".sqlite.zst");
const restore = async (path: string): Promise<string> => {
  const to = join(place, "restored");
  const backup = await readStoredBackup(store, path.slice(store.address.length + 1));
  await restoreBackup({ backup, to, database: "labd.sqlite", known: KNOWN, now: NOW });
  return to;
};

test("uploads in parts, verifies, sends corpora once, and restores despite broken connections", async () => {
  fill();
  const { path, manifest } = await backUp();
  expect(path).toMatch(/^s3:\/\/lab\/p\d+\/deep\/labd-\d{8}T\d{6}Z\.json$/);
  expect(server.asked.filter((line) => /^PUT .*sqlite.zst\?partNumber=/.test(line)).length).toBe(2);
  const before = server.asked.length;
  // A backup in the same second gets another name. Existing objects are not sent again.
  const again = await backUp(NOW + 5);
  expect(again.path).toBe(path.replace(".json", "-2.json"));
  expect(
    server.asked.slice(before).filter((line) => line.startsWith("PUT") && line.includes("corpora")),
  ).toEqual([]);
  expect(await names()).toEqual(
    [
      `corpora/${CORPUS}.zst`,
      ...[path, again.path].flatMap((one) => [one, one.replace(".json", ".sqlite.zst")]),
    ]
      .map((one) => one.replace(`${store.address}/`, ""))
      .sort(),
  );
  const asked = server.asked.length;
  expect(knownBackups(data, join(data, "backups"))).toMatchObject([
    { path, address: store.address, manifest },
    { path: again.path },
  ]);
  expect(server.asked.length).toBe(asked);
  expect(readdirSync(join(data, "backups-outgoing"))).toEqual([]);
  const isGet = (method: string, url: string): boolean => method === "GET" && url.includes(".zst?");
  for (const bytes of [5_000_000, 3_000_000, 0]) server.faults.push({ when: isGet, cutAnswer: bytes });
  await checkBackup(await readStoredBackup(store, path.split("/").at(-1)!), KNOWN);
  expect(server.faults).toEqual([]);
  const to = await restore(path);
  expect(readFileSync(join(to, "corpora", CORPUS)).equals(readFileSync(join(data, "corpora", CORPUS)))).toBe(
    true,
  );
  // A machine that knows nothing of it finds it.
  expect((await listStore(store, join(place, "new"))).length).toBe(2);
});

test.each([
  ["the network is cut in the middle", { when: isDatabase, cutRequest: 3_000_000 }],
  ["the store fails", { when: isDatabase, status: 500 }],
  ["the keys may not write", { when: isDatabase, status: 403, code: "AccessDenied" }],
])(
  "after permanent %s the backup fails with a clear error, and the next one succeeds",
  async (_what, fault) => {
    // The others are refused at the first byte.
    if ("cutRequest" in fault) fill();
    for (let i = 0; i < 60; i++) server.faults.push(fault);
    const { code, message } = await catchProblem(backUp());
    expect(code).toBe("store_failed");
    expect(message).toMatch(/Check|Try again/);
    server.faults.length = 0;
    expect(await listStore(store, data)).toEqual([]);
    expect(knownBackups(data, join(data, "backups"))).toEqual([]);
    expect(readdirSync(join(data, "backups-outgoing"))).toEqual([]);
    expect(existsSync(join(data, "labd.sqlite"))).toBe(true);
    const { path } = await backUp();
    await restore(path);
  },
  300_000,
);

test("rejects a backup that was altered during the upload", async () => {
  server.faults.push({ when: isDatabase, alter: true });
  const { message } = await catchProblem(backUp());
  expect(message).toContain("was read back and differs from the data that was sent");
  expect((await names()).filter((name) => !name.startsWith("corpora/"))).toEqual([]);
});

test("removes uploads without a manifest after a day", async () => {
  const left = "labd-20200101T000000Z.sqlite.zst";
  await store.uploadText(left, "half");
  await backUp();
  expect(await names()).toContain(left);
  expect((await listStore(store, data)).length).toBe(1);
  expect((await catchProblem(readStoredBackup(store, left))).message).toContain("There is no backup");
  server.age(store.address, left, DAY + 60_000);
  await backUp(NOW + 1000);
  expect(await names()).not.toContain(left);
});

test("removes only staging folders of ended processes", async () => {
  const outgoing = join(data, "backups-outgoing");
  for (const name of ["999999999", "1", "odd"]) mkdirSync(join(outgoing, name), { recursive: true });
  await backUp();
  expect(readdirSync(outgoing)).toEqual(["1"]);
});

test("applies retention to an object store, its corpora and the local copies of manifests", async () => {
  const first = await backUp(NOW - 40 * DAY);
  rmSync(join(data, "corpora", CORPUS));
  const rest = [];
  for (const days of [3, 2, 1.9999, 0]) rest.push(await backUp(NOW - days * DAY));
  const before = server.asked.length;
  const retention = { days: 3, weeks: 0, months: 0 };
  expect(await thinStore(store, data, retention)).toEqual([first.path, rest[1].path]);
  const removals = server.asked.slice(before).filter((line) => line.startsWith("DELETE"));
  expect(removals.map((line) => /\.(json|sqlite)/.exec(line)![1])).toEqual([
    "json",
    "sqlite",
    "json",
    "sqlite",
  ]);
  // Somebody may be about to name it.
  expect(await names()).toContain(`corpora/${CORPUS}.zst`);
  server.age(store.address, `corpora/${CORPUS}.zst`, DAY + 60_000);
  expect(await thinStore(store, data, retention)).toEqual([`${store.address}/corpora/${CORPUS}.zst`]);
  expect(knownBackups(data, join(data, "backups")).map(({ path }) => path)).toEqual(
    [rest[0], rest[2], rest[3]].map(({ path }) => path),
  );
  await restore(rest[0].path);
}, 300_000);
