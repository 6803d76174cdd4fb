import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Manifest, Reason } from "../../../src/operations/backup/manifest.ts";
import { keepers, thin } from "../../../src/operations/backup/retention.ts";

const DAY = 86_400_000;
/** A Saturday. */
const TODAY = Date.parse("2026-11-21T03:00:00Z");
const at = (time: number, reason: Reason = "schedule") => ({
  manifest: { created: new Date(time).toISOString(), reason },
});
const listDays = (kept: Iterable<{ manifest: { created: string } }>): string[] =>
  [...kept].map(({ manifest }) => manifest.created.slice(0, 10)).sort();

test("keeps the last backup of each day, week and month", () => {
  const backups = Array.from({ length: 400 }, (_, i) => at(TODAY - (399 - i) * DAY));
  const kept = listDays(keepers(backups, { days: 3, weeks: 3, months: 4 }));
  expect(kept).toEqual(
    // Days; Sundays, on which weeks end, and the week under way; ends of months, and the month under way.
    [
      "2026-08-31",
      "2026-09-30",
      "2026-10-31",
      "2026-11-08",
      "2026-11-15",
      "2026-11-19",
      "2026-11-20",
      "2026-11-21",
    ],
  );
});

test("keeps the last backup of a day, skips days without backups, and always keeps the newest", () => {
  const backups = [TODAY - 90 * DAY, TODAY - 60 * DAY, TODAY - 2, TODAY - 1].map((time) => at(time));
  const two = keepers(backups, { days: 2, weeks: 0, months: 0 });
  expect([...two].map((backup) => backups.indexOf(backup)).sort()).toEqual([1, 3]);
  expect([...keepers(backups, { days: 0, weeks: 0, months: 0 })]).toEqual([backups[3]]);
});

test("also keeps the last three backups before an upgrade", () => {
  const backups = [1, 2, 3, 4, 5].map((n) => at(TODAY - (10 - n) * DAY, n < 5 ? "upgrade" : "schedule"));
  expect(keepers(backups, { days: 1, weeks: 0, months: 0 })).toEqual(new Set(backups.slice(1)));
});

test("removes corpora together with their last backup, and no other files", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-thin-"));
  try {
    const write = (name: string, text = ""): void => writeFileSync(join(directory, name), text);
    const manifest = (created: string, corpus: string): string =>
      JSON.stringify({
        format: 1,
        created,
        reason: "schedule",
        database: { sha256: "" },
        corpora: [{ file: `corpora/${corpus}.labc.zst` }],
      } as Partial<Manifest>);
    for (const [stamp, created, corpus] of [
      ["20261120T030000Z", "2026-11-20T03:00:00Z", "old"],
      ["20261121T030000Z", "2026-11-21T03:00:00Z", "new"],
    ]) {
      write(`labd-${stamp}.json`, manifest(created, corpus));
      write(`labd-${stamp}.sqlite.zst`);
    }
    write("labd-20250101T000000Z.json", "not a manifest");
    write("notes.txt");
    Bun.spawnSync(["mkdir", join(directory, "corpora")]);
    for (const name of ["old.labc.zst", "new.labc.zst", "readme"]) write(join("corpora", name));
    thin(directory, { days: 1, weeks: 0, months: 0 });
    expect(readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()).toEqual(
      ["corpora", "corpora/new.labc.zst", "corpora/readme", "labd-20250101T000000Z.json"].concat([
        "labd-20261121T030000Z.json",
        "labd-20261121T030000Z.sqlite.zst",
        "notes.txt",
      ]),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});
