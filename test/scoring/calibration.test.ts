import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode } from "../../src/motif/alphabet.ts";
import { METHOD } from "../../src/motif/index.ts";
import {
  calibrationPath,
  readCalibration,
  outdatedMethod,
  removeCalibrations,
} from "../../src/scoring/corpus/calibration-file.ts";
import { calibrateCorpus } from "../../src/scoring/batch/calibration.ts";
import { Corpora, openCorpusFile } from "../../src/scoring/corpus/corpus.ts";
import { starterClasses } from "../../src/scoring/corpus/motif-classes.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { openMigrated } from "../database.ts";

const directory = mkdtempSync(join(tmpdir(), "labd-calibration-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const database = openMigrated(join(directory, "labd.sqlite"));
const corpora = new Corpora(directory, database, { now: () => 1, newId: () => "unused" });
const classes = starterClasses();
// Enough for a null from few proteins: beside the classes, patterns that match everywhere.
const common = [..."ACDEFGHIKLMNPQRSTVWY"].map((one) => ({
  expression: `${one}.`,
  dialect: classes[0].dialect,
}));
const patterns = [...classes, ...common].map(({ expression, dialect }) => ({
  expression,
  dialect,
  name: null,
}));

function familiesAsFasta(families: number): string {
  const next = random(92);
  const proteins = Array.from({ length: families }, () => randomProtein(next, 60)).flatMap((founder) =>
    Array.from({ length: 5 }, () => mutated(next, founder, 0.2)),
  );
  return proteins.map((protein, i) => `>P${i}\n${decode(protein)}\n`).join("");
}

test("calibrates a corpus with equal results on one and two threads, and rejects an altered calibration", async () => {
  const corpus = await corpora.add({ name: "families", bytes: familiesAsFasta(14) });
  expect(corpora.scoringVersion()).toEqual({ corpus: corpus.hash, method: METHOD });
  const seen: number[][] = [];
  const report = (...counts: number[]): void => void seen.push(counts);
  const made = await calibrateCorpus({ corpus, patterns, workers: 2, report });
  const stored = readFileSync(calibrationPath(corpus.path), "utf8");
  expect(made.examined).toBe(70);
  expect(made.rows.continuous.reduce((sum, { matches }) => sum + matches, 0)).toBe(made.matches);
  expect(seen.at(-1)).toEqual([70, 70, made.matches]);
  expect(openCorpusFile(corpus.path).calibration).toEqual(made);
  const { hash } = readCalibration(corpus.path)!;
  // Results computed with the other null are not returned for this one.
  expect(corpora.scoringVersion()).toEqual({ corpus: corpus.hash, method: `${METHOD} ${hash}` });

  writeFileSync(calibrationPath(corpus.path), stored.replace(/\d(?=\])/, "9"));
  expect(() => openCorpusFile(corpus.path)).toThrow("was altered. Run labd corpus calibrate");
  await calibrateCorpus({ corpus, patterns, workers: 1 });
  expect(readFileSync(calibrationPath(corpus.path), "utf8")).toBe(stored);
  removeCalibrations(corpus.path);
  expect(openCorpusFile(corpus.path).calibration).toBeUndefined();
  // The next addition deletes the remains of a killed removal; the null of an existing corpus stays.
  const orphan = join(directory, "corpora", `${"0".repeat(64)}.${METHOD}.null`);
  writeFileSync(orphan, "");
  writeFileSync(calibrationPath(corpus.path), stored);
  await corpora.add({ name: "another", bytes: familiesAsFasta(2) });
  expect(existsSync(orphan)).toBe(false);
  expect(existsSync(calibrationPath(corpus.path))).toBe(true);
  corpora.use("another");
  corpora.remove("families");
  expect(existsSync(calibrationPath(corpus.path))).toBe(false);
}, 300_000);

test("a calibration for an earlier method is not used, and is replaced", async () => {
  const corpus = await corpora.add({ name: "upgraded", bytes: familiesAsFasta(7) });
  const earlier = calibrationPath(corpus.path).replace(METHOD, "labd-0");
  writeFileSync(earlier, "");
  expect(outdatedMethod(corpus.path)).toBe("labd-0");
  expect(openCorpusFile(corpus.path).calibration).toBeUndefined();
  await calibrateCorpus({ corpus, patterns, workers: 1 });
  expect(outdatedMethod(corpus.path)).toBeNull();
  expect(existsSync(earlier)).toBe(false);
  const stored = readFileSync(calibrationPath(corpus.path), "utf8");
  const body = stored.split("\n")[0].replace('"format":3', '"format":2');
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  writeFileSync(calibrationPath(corpus.path), `${body}\n${hash}\n`);
  expect(() => openCorpusFile(corpus.path)).toThrow(
    `.${METHOD}.null was made by another version of labd. Run labd corpus calibrate again, or delete it.`,
  );
  await calibrateCorpus({ corpus, patterns, workers: 1 });
  expect(readFileSync(calibrationPath(corpus.path), "utf8")).toBe(stored);
});

test("rejects calibration of a corpus that is too small", async () => {
  const corpus = await corpora.add({ name: "one family", bytes: familiesAsFasta(1) });
  expect(calibrateCorpus({ corpus, patterns, workers: 1 })).rejects.toThrow(
    /corpus one family: \d+ random matches in 5 proteins are too few/,
  );
  expect(readCalibration(corpus.path)).toBeNull();
});
