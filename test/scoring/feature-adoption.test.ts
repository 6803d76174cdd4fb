import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAuditLog } from "../../src/accounts/audit.ts";
import { openCorpus, packCorpus, readFasta } from "../../src/motif/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { FeatureFiles } from "../../src/scoring/features/feature-files.ts";
import { importFeatures } from "../../src/scoring/features/import.ts";
import { P53 } from "./scoring-harness.ts";
import { openMigrated } from "../database.ts";

test("keeps the former file if the import cannot be recorded, or is killed before", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-features-"));
  const database = openMigrated();
  const files = new FeatureFiles(directory);
  const corpus = openCorpus(
    packCorpus("test", readFasta(`>sp|P04637|P53_HUMAN p53 OS=Homo sapiens\n${P53}\n`)),
  );
  const add = (text: string, name: string) =>
    importFeatures({ source: new Blob([text]), name, corpus }, { files, database, clock: systemClock });
  await add("P04637\t5\t9\tfirst\n", "sites");
  const audit = getAuditLog(database, systemClock);
  const names = () =>
    files
      .findByAccession(["P04637"])
      .get("P04637")!
      .features.map(({ name }) => name);
  const before = readdirSync(files.directory);
  database.run("CREATE TEMP TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'busy'); END");
  await expect(add("P04637\t5\t9\tsecond\n", "sites")).rejects.toThrow("busy");
  database.run("DROP TRIGGER full");
  expect(readdirSync(files.directory)).toEqual(before);
  expect(names()).toContain("first");
  expect(names()).not.toContain("second");
  // Killed after the new file was complete: it counts if it was recorded.
  for (const isRecorded of [false, true]) {
    const name = isRecorded ? "recorded" : "unrecorded";
    await add(`P04637\t5\t9\t${name}\n`, name);
    const made = readdirSync(files.directory).find((one) => !before.includes(one))!;
    const part = join(files.directory, `${made}.999999999.part`);
    renameSync(join(files.directory, made), part);
    if (!isRecorded) audit.record({ action: "features.remove", subject: { kind: "features", id: name } });
    files.adoptFinished(audit);
    expect(existsSync(part)).toBe(false);
    expect(files.list().some((one) => one.name === name)).toBe(isRecorded);
  }
  files.close();
  rmSync(directory, { recursive: true });
});
