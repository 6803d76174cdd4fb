import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../../db/index.ts";
import { closeDatabase, lockFile, openDatabase } from "../../../src/platform/sqlite.ts";
import type { CheckResult } from "../../../src/platform/check-result.ts";
import { checkBackups, checkClock, checkDatabase } from "../../../src/operations/health/check-database.ts";
import { checkSignIns } from "../../../src/operations/health/check-sign-ins.ts";
import { Accounts } from "../../../src/accounts/accounts.ts";
import { attempt } from "../../accounts/stage.ts";
import {
  checkCertificate,
  checkDisk,
  checkLimits,
  lockHolder,
  checkPermissions,
} from "../../../src/operations/health/check-machine.ts";
import { OPENSSL, selfSigned } from "../../executable/certificate.ts";

setDefaultTimeout(300_000);

const NOW = Date.parse("2026-11-21T12:00:00Z");
const HOUR = 3_600_000;
let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-doctor-"));
  path = join(directory, "labd.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true }));

/** State and text of the worst result; every other than ok has a remedy. */
function worst(findings: CheckResult[]): [CheckResult["state"], string] {
  for (const { state, remedy } of findings) expect((remedy ?? "") !== "").toBe(state !== "ok");
  const order = ["problem", "warning", "ok"] as const;
  const found = order.flatMap((state) => findings.filter((finding) => finding.state === state))[0];
  return [found.state, found.found];
}
const said = (text: string): string => expect.stringContaining(text) as unknown as string;

test("checkDatabase finds missing, outdated, newer, inconsistent, damaged and foreign files", () => {
  const [first] = MIGRATIONS;
  const second = { name: "0002-more.sql", sql: "SELECT 1" };
  expect(worst(checkDatabase(path, MIGRATIONS))).toEqual(["warning", said("does not exist yet")]);
  closeDatabase(openDatabase(path, [first]));
  expect(worst(checkDatabase(path, [first]))).toEqual(["ok", said("intact")]);
  const before = readFileSync(path);
  expect(worst(checkDatabase(path, [first, second]))).toEqual(["warning", said("pending: 0002-more.sql")]);
  expect(readFileSync(path).equals(before)).toBeTrue();
  const newer = join(directory, "newer.sqlite");
  closeDatabase(openDatabase(newer, [first, second]));
  expect(worst(checkDatabase(newer, [first]))).toEqual(["problem", said("newer version")]);
  const database = new Database(path);
  database.run("PRAGMA foreign_keys = OFF");
  database.run("INSERT INTO membership (user_rid, group_rid) VALUES (7777, 8888)");
  database.close();
  expect(worst(checkDatabase(path, [first]))).toEqual(["problem", said("membership")]);
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096 * 3, 4096 * 6);
  writeFileSync(path, bytes);
  expect(worst(checkDatabase(path, [first]))).toEqual(["problem", said("damaged")]);
  writeFileSync(path, "this is text");
  expect(worst(checkDatabase(path, MIGRATIONS))).toEqual(["problem", said("not a labd database")]);
});

test("checkClock compares the clock with the newest record", () => {
  const database = openDatabase(path, MIGRATIONS);
  const applied = Date.now();
  closeDatabase(database);
  expect(worst(checkClock(path, applied + HOUR, true))).toEqual(["ok", said("after the newest")]);
  expect(worst(checkClock(path, applied + HOUR, false))).toEqual(["warning", said("not synchronized")]);
  expect(worst(checkClock(path, applied - HOUR, undefined))).toEqual([
    "problem",
    said("newest record is from"),
  ]);
});

test("checkBackups finds missing backups, old backups, and backups on the same disk", () => {
  const backups = join(directory, "backups");
  expect(worst(checkBackups(backups, directory, 24, NOW))).toEqual(["warning", said("There is no backup")]);
  mkdirSync(backups);
  const made = (hours: number): void =>
    writeFileSync(
      join(backups, "labd-20261121T000000Z.json"),
      JSON.stringify({
        format: 1,
        created: new Date(NOW - hours * HOUR).toISOString(),
        database: { sha256: "", compressedBytes: 1_234_567 },
        corpora: [],
      }),
    );
  made(3);
  expect(worst(checkBackups(backups, directory, 24, NOW))).toEqual([
    "warning",
    said("same disk as the data"),
  ]);
  expect(worst(checkBackups(backups, join(directory, "elsewhere"), 24, NOW))).toEqual([
    "ok",
    said("1.23 MB"),
  ]);
  made(60);
  expect(worst(checkBackups(backups, directory, 24, NOW))).toEqual(["problem", said("60 hours ago")]);
});

test.skipIf(process.platform === "win32")(
  "checkPermissions and checkDisk find other owners, open modes and full disks",
  () => {
    const uid = process.getuid!();
    chmodSync(directory, 0o750);
    expect(worst(checkPermissions(join(directory, "none"), uid))).toEqual([
      "problem",
      said("no data directory"),
    ]);
    expect(worst(checkPermissions(directory, uid))).toEqual(["ok", said("belong to this account")]);
    expect(worst(checkPermissions(directory, uid + 1))).toEqual(["problem", said("belongs to user")]);
    chmodSync(directory, 0o755);
    expect(worst(checkPermissions(directory, uid))).toEqual(["warning", said("0755")]);
    expect(checkDisk(directory, 0).map(({ found }) => found)).toEqual([said("free")]);
    expect(worst(checkDisk(directory, 1e18))).toEqual(["warning", said("twice that")]);
    mkdirSync(join(directory, ".labd-doctor"));
    expect(worst(checkDisk(directory, 0))).toEqual(["problem", said("cannot be written")]);
  },
);

test("checkLimits reads the limits of the server, or of this process if no server runs", () => {
  const write = (pid: number | string, name: string, text: string): void => {
    mkdirSync(join(directory, `proc/${pid}`), { recursive: true });
    writeFileSync(join(directory, `proc/${pid}/${name}`), text);
  };
  const openFiles = (soft: string): string =>
    `Limit   Soft Limit  Hard Limit\nMax open files   ${soft}   4096   files\n`;
  write("self", "limits", openFiles("65536"));
  write(77, "limits", openFiles("1024"));
  expect(worst(checkLimits(77, directory))).toEqual([
    "warning",
    said("The server (process 77) may open only 1024"),
  ]);
  expect(worst(checkLimits(undefined, directory))).toEqual([
    "ok",
    said("A server started from here may open 65536"),
  ]);
  write(77, "limits", openFiles("unlimited"));
  write(77, "cgroup", "0::/labd.service\n");
  mkdirSync(join(directory, "sys/fs/cgroup/labd.service"), { recursive: true });
  writeFileSync(join(directory, "sys/fs/cgroup/labd.service/memory.max"), "2000000000\n");
  expect(worst(checkLimits(77, directory))).toEqual([
    "ok",
    said("Infinity files and connections, and use 2.00 GB"),
  ]);
  expect(checkLimits(1, directory)).toEqual([]);
});

test.skipIf(process.platform !== "linux")("lockHolder finds the process that holds a lock", () => {
  const path = join(directory, "labd.lock");
  expect(lockHolder(path)).toBeUndefined();
  const lock = lockFile(path)!;
  expect(lockHolder(path)).toBe(process.pid);
  lock.release();
  expect(lockHolder(path)).toBeUndefined();
});

test.skipIf(OPENSSL === null)("checkCertificate finds expired, unreadable and mismatched pairs", () => {
  const [certificate, key] = ["lab.crt", "lab.key"].map((name) => join(directory, name));
  selfSigned({ certificate, key }, "lab", 90);
  const after = (days: number): number => Date.now() + days * 24 * HOUR;
  expect(checkCertificate("", "", NOW)).toEqual([]);
  expect(worst(checkCertificate(certificate, key, after(1)))).toEqual(["ok", said("valid until")]);
  expect(worst(checkCertificate(certificate, key, after(80)))).toEqual(["warning", said("more days")]);
  expect(worst(checkCertificate(certificate, key, after(91)))).toEqual(["problem", said("expired")]);
  const other = join(directory, "other.key");
  Bun.spawnSync([OPENSSL!, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", other]);
  expect(worst(checkCertificate(certificate, other, NOW))).toEqual(["problem", said("not the key")]);
  expect(worst(checkCertificate(key, key, NOW))).toEqual(["problem", said("cannot be read")]);
});

test("checkSignIns names accounts and addresses of throttled sign-ins for a day", async () => {
  const database = openDatabase(path, MIGRATIONS);
  const clock = { now: () => NOW, newId: () => crypto.randomUUID() };
  const accounts = new Accounts(database, clock);
  await accounts.addUser({ username: "kim", password: "correct horse" });
  expect(worst(checkSignIns(path, NOW))).toEqual(["ok", said("No sign-ins")]);
  for (let i = 0; i < 11; i++)
    await attempt(accounts, { username: "kim", password: "wrong" }, "198.51.100.7");
  expect(worst(checkSignIns(path, NOW + HOUR))).toEqual([
    "warning",
    "Sign-ins as kim were throttled in the last 24 hours (recorded 1 times, from 198.51.100.7).",
  ]);
  expect(worst(checkSignIns(path, NOW + 25 * HOUR))).toEqual(["ok", said("No sign-ins")]);
  closeDatabase(database);
});
