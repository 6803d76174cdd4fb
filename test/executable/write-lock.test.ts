import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve } from "./labd.ts";

/** Commands beside a process that writes: they wait as long as requests do, and fail without having changed anything. */

const FEATURES = "P04637\t0\t5\tdomain\n";
const FASTA =
  ">sp|P04637|P53_HUMAN Cellular tumor antigen p53 OS=Homo sapiens OX=9606 GN=TP53\nMEEPQSDPSVEPPLSQETFSDLWKLLPENN\n";

async function openLab(directory: string) {
  const env = { LABD_DATA_DIR: join(directory, "data") };
  writeFileSync(join(directory, "p53.fasta"), FASTA);
  writeFileSync(join(directory, "p53.bed"), FEATURES);
  const run = (...words: string[]) => labd(words, { env, cwd: directory, stdin: "a password\n" });
  expect((await run("corpus", "add", "p53.fasta")).code).toBe(0);
  const database = new Database(join(env.LABD_DATA_DIR, "labd.sqlite"));
  database.run("PRAGMA busy_timeout = 60000");
  return {
    run,
    env,
    database,
    /** Holds the lock of the database for so many milliseconds, from now on. */
    async hold(milliseconds: number) {
      database.run("BEGIN IMMEDIATE");
      await Bun.sleep(milliseconds);
      database.run("ROLLBACK");
    },
    features: () =>
      readdirSync(join(env.LABD_DATA_DIR, "features")).map((name) =>
        Bun.hash(readFileSync(join(env.LABD_DATA_DIR, "features", name))),
      ),
    entries: (action: string) =>
      (database.query("SELECT count(*) AS n FROM audit WHERE action = ?").get(action) as { n: number }).n,
  };
}

test("commands wait for a process that writes for three seconds", async () => {
  using place = scratch();
  const lab = await openLab(place.directory);
  for (const words of [
    ["user", "add", "ada", "--password-stdin"],
    ["features", "add", "p53.bed"],
    ["corpus", "add", "--sample"],
    ["corpus", "use", "sample"],
    ["user", "disable", "ada"],
    ["user", "list"],
  ]) {
    const [{ code, stderr }] = await Promise.all([lab.run(...words), lab.hold(3000)]);
    expect([words, code, stderr]).toEqual([words, 0, expect.any(String)]);
  }
}, 120_000);

test("a command that cannot write names the writing process, and keeps the imported features", async () => {
  using place = scratch();
  const lab = await openLab(place.directory);
  expect((await lab.run("features", "add", "p53.bed")).code).toBe(0);
  const before = lab.features();
  writeFileSync(join(place.directory, "p53.bed"), `${FEATURES}P04637\t7\t9\tsite\n`);
  const [refused] = await Promise.all([lab.run("features", "add", "p53.bed"), lab.hold(14_000)]);
  expect([refused.code, refused.stderr]).toEqual([
    75,
    expect.stringMatching(/The database was not free within 10 seconds: process \d+ \(.+\) is writing/),
  ]);
  expect(lab.features()).toEqual(before);
  expect(lab.entries("features.add")).toBe(1);
  expect((await lab.run("features", "add", "p53.bed")).code).toBe(0);
  expect(lab.features()).not.toEqual(before);
  expect(lab.entries("features.add")).toBe(2);
}, 120_000);

test("users, corpora and features are added beside imports of records without failure", async () => {
  using place = scratch();
  const lab = await openLab(place.directory);
  await lab.run("user", "add", "ada", "--admin", "--password-stdin");
  const token = (await lab.run("token", "add", "ada")).stdout.trim();
  await using server = await serve(lab.env.LABD_DATA_DIR, ["--workers", "1", "--log", "problems"]);
  const over = new AbortController();
  /** Imports one after the other, each of which holds the lock for about a second. */
  const bulk = async (name: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; !over.signal.aborted; i++) {
      const rows = Array.from({ length: 20_000 }, (_, k) => `${name} ${i} ${k},${"x".repeat(200)}\n`).join(
        "",
      );
      const response = await fetch(`${server.url}/api/v2/locations/import/?match=none`, {
        method: "POST",
        headers: { Authorization: `Token ${token}`, "Content-Type": "text/csv" },
        body: `label,description\n${rows}`,
      });
      statuses.push(response.status);
    }
    return statuses;
  };
  const writers = [bulk("a"), bulk("b")];
  const outcomes: [string, number, string][] = [];
  for (let i = 0; i < 5; i++) {
    writeFileSync(join(place.directory, "p53.bed"), `${FEATURES}P04637\t${i + 7}\t${i + 9}\tsite\n`);
    for (const words of [
      ["user", "add", `user${i}`, "--password-stdin"],
      ["corpus", "add", "p53.fasta", "--name", `other${i}`],
      ["features", "add", "p53.bed"],
    ]) {
      const { code, stderr } = await lab.run(...words);
      if (code !== 0) outcomes.push([words.join(" "), code, stderr]);
    }
  }
  over.abort();
  expect(outcomes).toEqual([]);
  expect(new Set((await Promise.all(writers)).flat())).toEqual(new Set([200]));
  expect(lab.entries("features.add")).toBe(5);
}, 300_000);
