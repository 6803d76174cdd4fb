import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../../db/index.ts";
import { openCorpus, packCorpus, readFasta } from "../../../src/motif/index.ts";
import { createBackupKey } from "../../../src/operations/backup/encryption.ts";
import { makeBackup } from "../../../src/operations/backup/make-backup.ts";
import type { Manifest } from "../../../src/operations/backup/manifest.ts";
import { readLocalBackup, restoreBackup } from "../../../src/operations/backup/restore-backup.ts";
import { keepers, thin } from "../../../src/operations/backup/retention.ts";
import { checkContents } from "../../../src/operations/health/check-contents.ts";
import { checkBackups } from "../../../src/operations/health/check-database.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { closeDatabase, type Database as Opened, openDatabase } from "../../../src/platform/sqlite.ts";
import { FeatureFiles } from "../../../src/scoring/features/feature-files.ts";
import { importFeatures } from "../../../src/scoring/features/import.ts";
import { packPrediction, storeResult } from "../../../src/scoring/jobs/packed-prediction.ts";
import { familiesPath, writeFamilies } from "../../../src/scoring/corpus/families-file.ts";
import { SAMPLE } from "../../scoring/sample-prediction.ts";
import { openMigrated } from "../../database.ts";

const KNOWN = MIGRATIONS.map(({ name }) => name);
const DAY = 86_400_000;
const NOW = Date.parse("2026-11-21T12:00:00Z");
const CORPUS = packCorpus("test", readFasta(">sp|P04637|P53_HUMAN p53\nMEEPQSDPSVEPPLSQETFSDLWKLL\n"));
const { hash } = openCorpus(CORPUS);

let place: string;
let data: string;
let database: Opened;
let backups: string;
let corpus: string;
beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "labd-contents-"));
  [data, backups] = [join(place, "data"), join(place, "backups")];
  database = openMigrated(join(data, "labd.sqlite"));
  const result = storeResult(
    database,
    "d",
    { corpus: "c", method: "m" },
    packPrediction(SAMPLE.prediction),
    0,
  );
  database.run(
    `INSERT INTO job (id, state, client, request, digest, submitted, ended, result) VALUES ('j1', 'finished', '', '{}', 'd', 0, 0, ${result})`,
  );
  const content = Buffer.from("a file");
  const sum = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  database.run("INSERT INTO attachment_content (sha256, content) VALUES (?, ?)", [sum, content]);
  database.run(
    `INSERT INTO corpus (hash, name, sequences, residues, bytes, added, active) VALUES (?, 'test', 1, 26, ?, 0, 1)`,
    [hash, CORPUS.length],
  );
  corpus = join(data, "corpora", `${hash}.labc`);
  writeFamilies({ path: corpus, hash }, [{ protein: 0, record: Buffer.from("record"), sizes: [1, 2] }]);
  writeFileSync(corpus, CORPUS);
  await addFeatures("P04637\t1\t20\ttransactivation\n");
});
afterEach(() => {
  database.close();
  rmSync(place, { recursive: true });
});

/** Imports features, replacing those of before. */
async function addFeatures(bed: string): Promise<void> {
  const files = new FeatureFiles(data);
  const request = { source: new Blob([bed]), name: "domains", corpus: openCorpus(CORPUS) };
  await importFeatures(request, { files, database, clock: systemClock });
  files.close();
}

const featurePath = (): string => {
  const name = readdirSync(join(data, "features")).find((one) => one.endsWith(".features"))!;
  return join(data, "features", name);
};

/** Features of the protein in the feature files of a directory. */
function namesIn(directory: string): string[] {
  const files = new FeatureFiles(directory);
  const names =
    files
      .findByAccession(["P04637"])
      .get("P04637")
      ?.features.map(({ name }) => name) ?? [];
  files.close();
  return names;
}

const backUp = (now = NOW, key?: ReturnType<typeof createBackupKey>) =>
  makeBackup({
    from: data,
    database: "labd.sqlite",
    to: backups,
    reason: "schedule",
    version: "1",
    now,
    key,
  });

const restore = (path: string, to: string, key?: ReturnType<typeof createBackupKey>) =>
  restoreBackup({ backup: readLocalBackup(path, key), to, database: "labd.sqlite", known: KNOWN, now: NOW });

const deep = async (): Promise<string[]> =>
  (await checkContents(join(data, "labd.sqlite"), backups, () => {})).map(({ found }) => found);

/** Flips a bit in the middle of a file. */
function garble(path: string, at = 0.5): void {
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length * at)] ^= 4;
  writeFileSync(path, bytes);
}

/** Changes a letter in the rows of a file of features, as a failing disk would, so that SQLite does not notice. */
function alterFeatures(): void {
  const file = new Database(featurePath());
  file.run("UPDATE known SET features = replace(features, 'transactivation', 'transactivatiom')");
  file.close();
}

test.each([false, true])(
  "unchanged features are backed up once and restored; encrypted: %p",
  async (isEncrypted) => {
    const key = isEncrypted ? createBackupKey(join(place, "key")) : undefined;
    const first = await backUp(NOW, key);
    const second = await backUp(NOW + 1000, key);
    expect([first.manifest.features!.length, readdirSync(join(backups, "features")).length]).toEqual([1, 1]);
    expect(second.manifest.features).toEqual(first.manifest.features!);
    const other = join(place, "other");
    await restore(second.path, other, key);
    expect(namesIn(other)).toEqual(["transactivation"]);
    await addFeatures("P04637\t1\t20\tanother name\n");
    const third = await backUp(NOW + DAY, key);
    expect(third.manifest.features).not.toEqual(first.manifest.features!);
    database.close();
    await restore(first.path, data, key);
    expect(namesIn(data)).toEqual(["transactivation"]);
    const aside = readdirSync(join(data, "features")).filter((name) => name.includes(".before-"));
    copyFileSync(join(data, "features", aside[0]), featurePath());
    expect([aside.length, namesIn(data)]).toEqual([1, ["another name"]]);
    thin(backups, { days: 1, weeks: 0, months: 0 });
    expect(readdirSync(join(backups, "features"))).toEqual([third.manifest.features![0].file.slice(9)]);
  },
);

test("intact contents are counted by kind", async () => {
  await backUp();
  expect(await deep()).toEqual([
    "Intact: 1 prediction, 1 attachment, 1 feature file, 1 families file, 3 backup files.",
  ]);
});

const FAULTS: [string, () => void, string][] = [
  ["a prediction", () => database.run("UPDATE result_part SET bytes = x'1f8b08'"), "prediction of job j1"],
  ["an attachment", () => database.run("UPDATE attachment_content SET content = x'00'"), "attachment"],
  ["rows of features", alterFeatures, "features/"],
  ["a file of features", () => writeFileSync(featurePath(), "text"), "features/"],
  ["a corpus", () => garble(corpus), `corpora/${hash}.labc`],
];

test.each(FAULTS)(
  "backup and doctor name a damaged %s, and no intact backup is removed",
  async (what, damage, name) => {
    const whole = await backUp(NOW - DAY);
    const files = whole.manifest.features!.concat(whole.manifest.corpora).map(({ file }) => file);
    damage();
    if (what !== "a corpus") expect(await deep()).toEqual([expect.stringContaining(`${name}`)]);
    // Files of an earlier backup are not copied again.
    if (what === "a corpus")
      for (const file of files.filter((one) => one.endsWith(".labc.zst"))) rmSync(join(backups, file));
    const made = [];
    for (const days of [0, 1, 2, 3]) made.push(await backUp(NOW + days * DAY));
    expect(made[3].manifest.damaged).toEqual([expect.stringContaining(name)]);
    const [{ state, found }] = checkBackups(backups, data, 24, NOW + 3 * DAY);
    expect([state, found]).toEqual(["problem", expect.stringContaining(name)]);
    const removed = thin(backups, { days: 2, weeks: 0, months: 0 });
    expect(removed.filter((path) => path.endsWith(".json"))).toEqual(
      made.slice(0, 2).map(({ path }) => path),
    );
    expect(existsSync(whole.path)).toBe(true);
  },
);

test("families and backups that are damaged or missing are named", async () => {
  const families = familiesPath(corpus);
  garble(join(families, readdirSync(families)[0]));
  expect(await deep()).toEqual([
    expect.stringMatching(/^families \w+\.labf of test is damaged: .* was altered/),
  ]);
  rmSync(families, { recursive: true });
  const { manifest } = await backUp();
  const [path, feature] = [manifest.database.file, manifest.features![0].file].map((file) =>
    join(backups, file),
  );
  garble(path);
  rmSync(feature);
  expect(await deep()).toEqual([
    `backup ${path} is damaged: its SHA-256 is not that of the manifest.`,
    `backup ${feature} is damaged: it is missing.`,
  ]);
});

test("a damaged prediction that was computed again is no longer reported", async () => {
  database.run("UPDATE result_part SET bytes = x'00'");
  database.run("UPDATE result SET digest = 'damaged 1'");
  expect(await deep()).toHaveLength(1);
  storeResult(database, "d", { corpus: "c", method: "m" }, packPrediction(SAMPLE.prediction), 0);
  expect(await deep()).toEqual([expect.stringContaining("Intact")]);
});

test("backs up a database of an older version without the tables that it lacks", async () => {
  database.close();
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(data, `labd.sqlite${ending}`), { force: true });
  closeDatabase(openDatabase(join(data, "labd.sqlite"), MIGRATIONS.slice(0, 1)));
  expect((await backUp()).manifest.damaged).toBeUndefined();
});

test("backup_keep counts complete and damaged backups separately", () => {
  const at = (
    days: number,
    damaged?: string[],
  ): { manifest: Pick<Manifest, "created" | "reason" | "damaged"> } => ({
    manifest: {
      created: new Date(NOW + days * DAY).toISOString(),
      reason: "schedule",
      ...(damaged && { damaged }),
    },
  });
  const list = [at(0), at(1), at(2), ...[3, 4, 5, 6].map((day) => at(day, ["x"]))];
  const kept = keepers(list, { days: 2, weeks: 0, months: 0 });
  expect(list.map((one) => kept.has(one))).toEqual([false, true, true, false, false, true, true]);
});
