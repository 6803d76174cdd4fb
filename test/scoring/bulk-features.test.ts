import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCorpus, packCorpus, readFasta } from "../../src/motif/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { FeatureFiles } from "../../src/scoring/features/feature-files.ts";
import { importFeatures } from "../../src/scoring/features/import.ts";
import { openMigrated } from "../database.ts";
import { PFAM, PROTEIN2IPR } from "../fixtures/bulk-features.ts";
import { readRecords } from "../fixtures/read-features.ts";
import { P53 } from "./scoring-harness.ts";

const directory = mkdtempSync(join(tmpdir(), "labd-bulk-features-"));
const files = new FeatureFiles(directory);
afterAll(() => {
  files.close();
  rmSync(directory, { recursive: true });
});

test("reads the matches of InterPro and Pfam for all proteins", () => {
  const [record, ...others] = readRecords(PROTEIN2IPR);
  expect(others).toEqual([]);
  expect(record.names).toEqual(["P04637"]);
  expect(record.features).toEqual([
    {
      group: "domain",
      type: "Pfam",
      start: 94,
      end: 289,
      name: "p53, DNA-binding domain",
      id: "PF00870, IPR011615",
      source: "Pfam",
    },
    expect.objectContaining({ group: "region", source: "PANTHER", start: 2, end: 393 }),
    expect.objectContaining({ group: "site", source: "ProSitePatterns" }),
  ]);
  expect(readRecords(PFAM)).toEqual([
    {
      names: ["P04637"],
      features: [{ ...record.features[0], name: "PF00870", id: "PF00870" }],
      sequence: { md5: "c133dfce69f606f20865e9008199f852" },
    },
  ]);
});

test("an import keeps the proteins of the corpus, and tells how much of the compressed file was read", async () => {
  const corpus = openCorpus(packCorpus("test", readFasta(`>sp|P04637|P53_HUMAN p53\n${P53}\n`)));
  const other = (n: number): string => PROTEIN2IPR.replaceAll("P04637", `A0A${n.toString(36).toUpperCase()}`);
  const before = Array.from({ length: 20_000 }, (_, n) => other(n)).join("");
  const source = new Blob([Bun.gzipSync(before + PROTEIN2IPR)]);
  const seen: (number | null)[] = [];
  const report = (_read: number, _matched: number, part: number | null): number => seen.push(part);
  const info = await importFeatures(
    { source, name: "protein2ipr.dat.gz", corpus, report },
    { files, database: openMigrated(), clock: systemClock },
  );
  expect(info).toMatchObject({
    format: "protein2ipr",
    features: 3,
    proteins: 1,
    unmatched: { proteins: 20_000, features: 60_000 },
    groups: { domain: 1, region: 1, site: 1 },
  });
  expect(seen.length).toBeGreaterThan(10);
  expect(seen).toEqual(seen.toSorted((a, b) => a! - b!));
  expect(seen.at(-1)).toBe(1);
  expect(files.findByAccession(["P04637"]).get("P04637")!.features).toHaveLength(3);
});
