import { expect, setDefaultTimeout, test } from "bun:test";
import BED from "@gmod/bed";
import gff from "@gmod/gff";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCorpus, packCorpus, predict, readFasta } from "../../src/motif/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import type { FeatureRecord } from "../../src/scoring/features/feature-reader.ts";
import { FEATURE_FORMATS } from "../../src/scoring/features/formats.ts";
import type { PredictionReport } from "../../src/scoring/prediction/prediction.ts";
import { readAlignmentText } from "../../src/scoring/batch/alignment-text.ts";
import { type PrintedFormatName, printReport } from "../../src/scoring/results/result-format.ts";
import { resultPart, scanPart } from "../../src/scoring/results/scan.ts";
import { isMatch } from "../../src/scoring/table/match-row.ts";
import { MATCH_TABLES } from "../../src/scoring/table/match-tables.ts";
import { printBed } from "../../src/scoring/table/print-bed.ts";
import { GFF3_HEAD, printGff3 } from "../../src/scoring/table/print-gff3.ts";
import type { TablePart } from "../../src/scoring/table/rows.ts";
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

/** A name with everything that separates something in GFF3 or BED. */
const ODD = "p53; of=α, 50 %\t&";
const NAMED: PredictionReport = {
  ...REPORT,
  identifier: ODD,
  prediction: {
    ...prediction,
    patterns: prediction.patterns.map((pattern, i) => ({ ...pattern, name: i === 0 ? "A;1=b,%" : null })),
  },
};
const TABLE_PARTS = {
  result: resultPart(NAMED),
  scan: scanPart(NAMED, { values: {} }),
  proteome: {
    rows: scanPart(NAMED, { values: {} }).rows.map((row) =>
      Object.assign({}, row, { protein: { accession: "P04637", length: 393, organism: null } }),
    ) as TablePart["rows"],
    sequences: [],
  },
};
/** Attributes with a meaning in GFF3 1.26; all others begin with a small letter. */
const RESERVED = new Set(
  "ID Name Alias Parent Target Gap Derives_from Note Dbxref Ontology_term Is_circular".split(" "),
);

test.each(Object.keys(TABLE_PARTS) as (keyof typeof TABLE_PARTS)[])(
  "GFF3 of a %s means the same to the reader of JBrowse",
  (name) => {
    const part = TABLE_PARTS[name];
    const items = gff.parseStringSync(GFF3_HEAD + printGff3(MATCH_TABLES[name], part), {
      parseFeatures: true,
      parseDirectives: true,
      parseSequences: true,
    });
    const directives = items.flatMap((item) => ("directive" in item ? item : []));
    const sequence = name === "proteome" ? "P04637" : ODD;
    expect(directives).toMatchObject([
      { directive: "gff-version", value: "3" },
      { directive: "sequence-region", start: "1", end: "393" },
    ]);
    const features = items.flatMap((item) => (Array.isArray(item) ? item : []));
    expect(features.map((one) => [one.seq_id, one.start, one.end, one.attributes?.Name])).toEqual(
      part.rows.filter(isMatch).map(({ start, end, motif }) => [sequence, start, end, [motif]]),
    );
    for (const { source, type, strand, phase, score, attributes } of features) {
      expect({ source, type, strand, phase }).toEqual({
        source: prediction.method,
        type: "polypeptide_motif",
        strand: null,
        phase: null,
      });
      expect(score === null || Number.isFinite(score)).toBe(true);
      const names = Object.keys(attributes ?? {});
      expect(names.filter((each) => /^[A-Z]/.test(each) && !RESERVED.has(each))).toEqual([]);
      expect(attributes!.verdict).toBeArrayOfSize(1);
    }
  },
);

test.each(Object.keys(TABLE_PARTS) as (keyof typeof TABLE_PARTS)[])(
  "BED of a %s means the same to the reader of JBrowse",
  (name) => {
    const part = TABLE_PARTS[name];
    const bed = new BED();
    const lines = printBed(MATCH_TABLES[name], part).trimEnd().split("\n");
    expect(lines.map((line) => bed.parseLine(line))).toMatchObject(
      part.rows.filter(isMatch).map(({ start, end, motif }) => ({
        chrom: name === "proteome" ? "P04637" : ODD.replaceAll(/\s+/g, "_"),
        chromStart: start - 1,
        chromEnd: end,
        name: motif,
        strand: 0,
      })),
    );
  },
);

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
