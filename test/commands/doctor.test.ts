import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { openCorpus } from "../../src/motif/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";
import { Corpora } from "../../src/scoring/index.ts";
import type { CheckResult } from "../../src/platform/check-result.ts";
import { labd, scratch, serveHere } from "./labd.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

test("checks a running server, a stopped one, a damaged corpus, and a missing directory", async () => {
  using place = scratch();
  const data = join(place.directory, "data");
  const examine = async (...words: string[]) => {
    const { code, stdout } = await labd(["doctor", "--format", "json", "--data-dir", data, ...words]);
    const findings = JSON.parse(stdout) as CheckResult[];
    return { code, of: (about: string) => findings.filter((finding) => finding.about === about) };
  };
  const none = await examine();
  expect([none.code, none.of("permissions")[0].state]).toEqual([2, "problem"]);
  await labd(["corpus", "add", "--sample", "--data-dir", data]);
  const store = (await examine("--backup-dir", "s3://backups")).of("backup").map(({ found }) => found);
  expect(store).toContainEqual(expect.stringContaining("no keys"));
  chmodSync(data, 0o750);
  {
    await using server = await serveHere(data);
    await labd(["backup", "--data-dir", data]);
    const beside = await examine("--port", String(server.port));
    for (const about of ["settings", "permissions", "disk", "database", "corpus", "server"])
      expect([about, beside.of(about).map(({ state }) => state)]).toEqual([about, ["ok"]]);
    // The backup is on the disk of the data.
    expect([beside.code, beside.of("backup")[0].state]).toEqual([1, "warning"]);
    const elsewhere = await examine("--port", "1");
    expect(elsewhere.of("server")[0]).toMatchObject({
      state: "warning",
      found: expect.stringContaining("does not respond"),
    });
  }
  const text = await labd(["doctor", "--data-dir", data, "--host", "0.0.0.0"]);
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/^warning +settings +host 0\.0\.0\.0 .*\n +→ Set tls_certificate/m);
  const corpus = join(
    data,
    "corpora",
    readdirSync(join(data, "corpora")).find((name) => name.endsWith(".labc"))!,
  );
  const earlier = Bun.gunzipSync(readFileSync(join(import.meta.dir, "../fixtures/corpus-version-1.labc.gz")));
  const { hash } = openCorpus(earlier);
  writeFileSync(join(data, "corpora", `${hash}.labc`), earlier);
  const database = openDatabase(join(data, "labd.sqlite"), MIGRATIONS);
  new Corpora(data, database, systemClock).adopt(hash);
  database.close();
  expect((await examine()).of("corpus").map(({ found }) => found)).toContain(
    "first: an earlier version of labd packed it, without genes and whole names.",
  );
  expect((await labd(["corpus", "remove", "first", "--data-dir", data])).code).toBe(0);
  const bytes = readFileSync(corpus);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(corpus, bytes);
  const damaged = await examine();
  expect([damaged.code, damaged.of("corpus")[0].state]).toEqual([2, "problem"]);
});

test("a failed backup is reported with its cause by /readyz, metrics and doctor, until one is made", async () => {
  using place = scratch();
  const [data, to] = ["data", "backups"].map((name) => join(place.directory, name));
  writeFileSync(to, "a file, no directory");
  await using server = await serveHere(data, { backup_hours: "24", backup_dir: to }, { backupInterval: 10 });
  const ready = async () =>
    (await fetch(`${server.url}/readyz`)).json() as Promise<{ status: string; reasons?: string[] }>;
  const metric = async () =>
    (await (await fetch(`${server.url}/metrics`)).text()).match(/^labd_backup_failed \d/m)?.[0];
  const findings = async () => {
    const words = ["doctor", "--format", "json", "--data-dir", data, "--port", String(server.port)];
    const { stdout } = await labd([...words, "--backup-dir", to]);
    return (JSON.parse(stdout) as CheckResult[]).filter(({ about }) => about === "server");
  };
  await waitFor(async () => (await ready()).reasons !== undefined);
  const cause = new RegExp(`^The backup of 20\\S+Z failed: The backup to ${to} failed: .*EEXIST`);
  expect(await ready()).toEqual({ status: "ready", reasons: [expect.stringMatching(cause)] });
  expect(await metric()).toBe("labd_backup_failed 1");
  expect(await findings()).toMatchObject([{ state: "problem", found: expect.stringMatching(cause) }]);
  rmSync(to);
  expect((await labd(["backup", "--data-dir", data, "--to", to])).code).toBe(0);
  expect(await ready()).toEqual({ status: "ready" });
  expect(await metric()).toBe("labd_backup_failed 0");
  expect(await findings()).toMatchObject([{ state: "ok" }]);
});
