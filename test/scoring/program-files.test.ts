import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCorpus, packCorpus, predict, readFasta } from "../../src/motif/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import type { FeatureRecord } from "../../src/scoring/features/feature-reader.ts";
import { FEATURE_FORMATS } from "../../src/scoring/features/formats.ts";
import type { PredictionReport } from "../../src/scoring/prediction/prediction.ts";
import { readAlignmentText } from "../../src/scoring/batch/alignment-text.ts";
import { type PrintedFormatName, printReport } from "../../src/scoring/results/result-format.ts";
import { scratch } from "../scratch.ts";
import { unzipAll } from "../unzip.ts";
import { P53 } from "./scoring-harness.ts";

/** Files of a result, read by other programs and by readers of this one. */

// Java takes its time to start.
setDefaultTimeout(300_000);

const prediction = predict(
  {
    query: P53,
    patterns: ["F...W..[LIV]", "P..P"].map((expression) => ({ expression, name: null })),
    model: "continuous",
  },
  openCorpus(packCorpus("sample", readFasta(proteins))),
);
const REPORT: PredictionReport = {
  identifier: "P04637",
  prediction,
  provenance: { labd: "0.2.0", date: "2026-11-28", corpus: "sample" },
};
const byPlace = (a: { start: number }, b: { start: number }): number => a.start - b.start;
const MATCHES = prediction.patterns.flatMap(({ matches }) => matches).toSorted(byPlace);
const print = (name: PrintedFormatName): string => printReport(REPORT, name, {}) as string;

test.each(["gff3", "bed"] as const)("the places of %s are those of the matches", (format) => {
  const records: FeatureRecord[] = [];
  const text = print(format);
  const reader = FEATURE_FORMATS[format].read((record) => records.push(record));
  reader.write(text);
  reader.end();
  expect(records.map(({ names }) => names)).toEqual([["P04637"]]);
  expect(records[0].features.toSorted(byPlace).map(({ start, end }) => [start, end])).toEqual(
    MATCHES.map(({ start, end }) => [start, end]),
  );
});

test("BED has six columns, and more evidence has a higher score", () => {
  const rows = print("bed")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"))
    .toSorted((a, b) => Number(a[1]) - Number(b[1]));
  expect(rows.every((cells) => cells.length === 6 && /^\d{1,4}$/.test(cells[4]))).toBe(true);
  const score = (verdict: string): number[] =>
    rows.flatMap((cells, i) => (MATCHES[i].verdict === verdict ? [Number(cells[4])] : []));
  expect(Math.min(...score("likely functional"))).toBeGreaterThanOrEqual(980);
  expect(Math.max(...score("no evidence"))).toBeLessThan(900);
});

test.each(["bed", "jalview-features", "jalview-annotations"] as const)(
  "%s names its corpus in a comment",
  (format) => {
    expect(print(format)).toContain("\n# corpus: sample\n");
  },
);

test("Clustal has the rows of FASTA", () => {
  const rows = (format: "clustal" | "fasta"): string[][] =>
    readAlignmentText(print(format)).map(({ name, letters }) => [name.split(" ")[0], letters]);
  expect(rows("clustal")).toEqual(rows("fasta"));
});

const jalview = Bun.which("jalview");
test.skipIf(jalview === null)(
  "Jalview opens the alignments with tree, features and annotations (SKIPPED without jalview)",
  async () => {
    using place = scratch();
    const files = [
      "fasta",
      "stockholm",
      "clustal",
      "newick",
      "jalview-features",
      "jalview-annotations",
    ] as const;
    for (const name of files) writeFileSync(join(place.directory, name), print(name));
    const run = async (words: string): Promise<string> => {
      const child = Bun.spawn([jalview!, "-nodisplay", ...words.split(" ")], {
        cwd: place.directory,
        env: { ...process.env, HOME: place.directory },
        stdout: "pipe",
        stderr: "pipe",
      });
      const all = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      return all.join("");
    };
    const log = await run(
      "-open fasta -features jalview-features -annotations jalview-annotations -tree newick -jalview project.jvp",
    );
    expect(log).toContain("CMD [-tree newick] executed successfully!");
    const project = [...unzipAll(readFileSync(join(place.directory, "project.jvp"))).values()]
      .map((bytes) => new TextDecoder().decode(bytes))
      .join("");
    for (const { start, end, verdict } of MATCHES)
      expect(project).toContain(`features begin="${start}" end="${end}" type="${verdict}"`);
    for (const label of ["Identity", "Disorder", "pLDDT"]) expect(project).toContain(`label>${label}</`);
    for (const [name, title] of [
      ["stockholm", "Stockholm"],
      ["clustal", "Clustal"],
    ]) {
      expect(await run(`-open ${name} -fasta again`)).toContain(`File format identified as ${title}`);
      const again = readAlignmentText(readFileSync(join(place.directory, "again"), "utf8"));
      const rows = readAlignmentText(print("fasta"));
      // Insertions are in lower case in Stockholm.
      expect(again.map(({ letters }) => letters.toUpperCase())).toEqual(rows.map(({ letters }) => letters));
    }
  },
);
