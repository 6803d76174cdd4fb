import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  decode,
  type MatchScore,
  type PatternScores,
  type Prediction,
  openCorpus,
  packCorpus,
  predict,
  readFasta,
} from "../../src/motif/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import type { PredictionReport } from "../../src/scoring/prediction/prediction.ts";
import { listAlignments } from "../../src/scoring/results/result-alignment.ts";
import { chooseFormat, RESULT_FORMAT_NAMES, RESULT_FORMATS } from "../../src/scoring/results/file-formats.ts";
import { type PrintedFormatName, printReport } from "../../src/scoring/results/result-format.ts";
import { readAlignmentText } from "../../src/scoring/batch/alignment-text.ts";
import { MATCH_TABLES } from "../../src/scoring/table/match-tables.ts";
import { currentPrediction } from "../../src/scoring/table/earlier-match.ts";
import { EMPTY, SAMPLE } from "./sample-prediction.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

/** A prediction in every format: golden files, `GOLDEN=write` writes them, and parsers of others. */

const FOLDER = join(import.meta.dir, "../golden/scoring");

/** All formats of text. */
const NAMES = RESULT_FORMAT_NAMES.filter(
  (name): name is PrintedFormatName => name !== "eln" && !("isWorkbook" in RESULT_FORMATS[name]),
);
const print = (report: PredictionReport, name: PrintedFormatName, match?: number): string =>
  printReport(report, name, { match }) as string;

test.each(NAMES)("prints %s like the golden file", (name) => {
  const { extension } = RESULT_FORMATS[name];
  const printed = print(SAMPLE, name);
  const path = join(FOLDER, `prediction.${extension}`);
  if (process.env.GOLDEN === "write") writeFileSync(path, printed);
  expect(printed).toBe(readFileSync(path, "utf8"));
});

test.each(NAMES)("prints a prediction that has no overall verdict as %s", (name) => {
  const [pattern] = SAMPLE.prediction.patterns;
  const added = new Set("verdict overallVerdict overallPValue overallPValueIs kept nearby".split(" "));
  const matches = pattern.matches.map((match) =>
    Object.fromEntries(
      Object.entries(match)
        .filter(([field]) => !added.has(field))
        .map(([field, value]) => [field === "conservationLevel" ? "verdict" : field, value]),
    ),
  ) as unknown as MatchScore[];
  // As an earlier version stored it.
  const prediction = { ...SAMPLE.prediction, patterns: [{ ...pattern, matches }] };
  const earlier = { ...SAMPLE, prediction: currentPrediction(prediction) };
  expect(print(earlier, name)).not.toMatch(/undefined|NaN|likely functional/);
});

test("the random matches that each match used to have become those of the pattern", () => {
  const [first] = SAMPLE.prediction.patterns as PatternScores[];
  const { randomMatches, ...pattern } = first;
  const [match, ...others] = pattern.matches;
  const matches = [{ ...match, randomMatches }, ...others] as MatchScore[];
  const stored: Prediction = { ...SAMPLE.prediction, patterns: [{ ...pattern, matches }] };
  const [{ randomMatches: moved }] = currentPrediction(stored).patterns;
  expect(moved).toEqual(randomMatches!);
  expect(currentPrediction(SAMPLE.prediction).patterns[1]).not.toHaveProperty("randomMatches");
});

test("results of earlier versions get the relation of homologs, and what orthologs keep", () => {
  const { homologs, patterns } = currentPrediction(SAMPLE.prediction, "Homo sapiens");
  expect(homologs.map(({ relation }) => relation)).toEqual(["ortholog", null, null]);
  const [{ orthologs, paralogs }] = patterns[0].matches;
  expect(orthologs).toEqual({ homologs: 1, kept: 1, nearby: 0, score: 1 });
  expect(paralogs).toEqual({ homologs: 0, kept: 0, nearby: 0, score: null });
  const mouse = currentPrediction(SAMPLE.prediction, "Mus musculus");
  expect(mouse.homologs[0].relation).toBe("paralog");
  // Later results have it.
  expect(currentPrediction(mouse, "Homo sapiens").homologs).toEqual(mouse.homologs);
});

describe("rows", () => {
  const lines = print(SAMPLE, "tsv").split("\n");

  test("rows have every column even if names contain separators", () => {
    expect(lines.pop()).toBe("");
    expect(lines.length).toBe(5);
    for (const line of lines) expect(line.split("\t").length).toBe(MATCH_TABLES.result.columns.length);
  });

  test("rows name a query without an identifier, and list a pattern without a match", () => {
    expect(print(EMPTY, "tsv").split("\n")[1]).toStartWith(
      `query\tLIG_SH3_1${"\t".repeat(10)}no match${"\t".repeat(11)}`,
    );
  });
});

describe("alignments", () => {
  test("alignments have rows of equal length with the residues of the prediction", () => {
    for (const { rows, match, reference } of listAlignments(SAMPLE)) {
      const [query, ...homologs] = rows;
      for (const { text } of rows) expect(text.length).toBe(reference.length);
      expect(query.text.replaceAll(".", "")).toBe(match.text);
      expect(homologs.map(({ text }) => text.replaceAll(".", ""))).toEqual(
        match.atHomologs.map(({ residues }) => residues),
      );
      for (const [column, mark] of [...reference].entries()) {
        for (const { text } of rows) expect(text[column]).toMatch(mark === "x" ? /[A-Z-]/ : /[a-z.]/);
      }
      expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    }
  });

  test("an alignment can be selected by match, and a number after the last match gets 404", () => {
    expect(listAlignments(SAMPLE, 2).map(({ match }) => match.start)).toEqual([53]);
    expect(listAlignments(SAMPLE, 4)).toEqual([]);
    expect(print(SAMPLE, "fasta", 4)).toBe("");
  });

  test("the FASTA of one match can be parsed back into its alignment", () => {
    const rows = readAlignmentText(print(SAMPLE, "fasta", 1));
    expect(rows.map(({ letters }) => letters)).toEqual(["F-S--DW", "F-SGPDW", "FAS---L", "-------"]);
    expect(rows.map(({ name }) => name)).toEqual(["p53__50____", "P02340", "P02340_2", "odd_name_1-2"]);
  });
});

test("prints a leaf for a tree without homologs", () => {
  expect(print(EMPTY, "newick")).toBe("query;\n");
  expect(print({ ...EMPTY, identifier: "P04637" }, "newick")).toBe("P04637;\n");
});

test("alignments and tree have the same names, once each", () => {
  const homologs = SAMPLE.prediction.homologs;
  const names = print(SAMPLE, "fasta").match(/(?<=^>)\S+/gm)!;
  expect(print(SAMPLE, "a3m").match(/(?<=^>)\S+/gm)).toEqual(names as RegExpMatchArray);
  expect(new Set(names).size).toBe(homologs.length + 1);
  for (const report of REPORTS) {
    const rows = print(report, "fasta").match(/(?<=^>)\S+/gm)!;
    const leaves = print(report, "newick").match(/(?<=[(,])[^(),:;]+|^[^(),:;]+/g)!;
    expect(leaves.map((leaf) => leaf.replaceAll("'", "").trim()).toSorted()).toEqual(rows.toSorted());
  }
});

describe("the form that Accept prefers", () => {
  test.each<[string | null, string]>([
    [null, "json"],
    ["", "json"],
    ["*/*", "json"],
    ["text/*", "tsv"],
    ["text/x-gff3", "gff3"],
    ["Application/XML;q=0.9, text/x-nh ; q=0.95", "newick"],
    ["application/json;q=0, */*", "tsv"],
    ["text/xml", "xml"],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "json"],
  ])("chooses for Accept %p the format %s", (accept, form) => {
    expect(chooseFormat(accept)).toBe(form as never);
  });

  test.each(["image/png", "application/json;q=0", "text/x-gff3;q=2"])("rejects Accept %s", (accept) => {
    expect(() => chooseFormat(accept)).toThrow(expect.objectContaining({ code: "not_acceptable" }));
  });
});

const CORPUS = openCorpus(packCorpus("sample", readFasta(proteins)));
const PATTERNS = ["P.{0,3}P", "[ST]P", "^M", "W{4}"].map((expression) => ({ expression, name: null }));
/** Predictions of real proteins. */
const REPORTS = Array.from({ length: 12 }, (_, i): PredictionReport => {
  const index = i * 40;
  const query = decode(CORPUS.residues.subarray(CORPUS.offsets[index], CORPUS.offsets[index + 1]));
  return {
    identifier: CORPUS.accession(index),
    prediction: predict({ query, patterns: PATTERNS, model: "continuous" }, CORPUS),
  };
});

describe("predictions of real proteins", () => {
  test("real proteins have alignments with rows of equal length, also with insertions", () => {
    let insertions = 0;
    for (const report of REPORTS) {
      for (const { rows, match, reference } of listAlignments(report)) {
        const length = reference.length;
        expect(rows.filter(({ text }) => text.length !== length)).toEqual([]);
        expect(rows.map(({ text }) => text.replaceAll(".", ""))).toEqual([
          match.text,
          ...match.atHomologs.map(({ residues }) => residues),
        ]);
        expect(reference.replaceAll(".", "").length).toBe(match.text.length);
        if (reference.includes(".")) insertions++;
      }
    }
    expect(insertions).toBeGreaterThan(5);
  });

  test("real proteins have a row, a feature and an alignment for every match", () => {
    for (const report of REPORTS) {
      const matches = report.prediction.patterns.flatMap((pattern) => pattern.matches);
      const without = report.prediction.patterns.filter((pattern) => pattern.matches.length === 0).length;
      expect(without).toBeGreaterThan(0);
      const count = (text: string, line: RegExp): number => (text.match(line) ?? []).length;
      expect(count(print(report, "tsv"), /\n/g)).toBe(1 + matches.length + without);
      expect(count(print(report, "gff3"), /\tpolypeptide_motif\t/g)).toBe(matches.length);
      expect(count(print(report, "stockholm"), /^#=GF CC/gm)).toBe(matches.length);
      // The residues of all rows, those of the query unchanged.
      const rows = readAlignmentText(print(report, "fasta"));
      const { query, rows: aligned } = report.prediction.alignment;
      const residues = (text: string): string => text.replaceAll(/[.-]/g, "").toUpperCase();
      expect(rows.map(({ letters }) => residues(letters))).toEqual([query, ...aligned].map(residues));
      expect(new Set(rows.map(({ letters }) => letters.length)).size).toBe(1);
      const marked = print(report, "stockholm").match(/^#=GC matches +(\S+)$/m)![1];
      const motif = new Set(matches.flatMap(({ start, end }) => range(start, end)));
      expect(marked.match(/\*/g)?.length ?? 0).toBe(motif.size);
    }
  });
});

const range = (start: number, end: number): number[] =>
  Array.from({ length: end - start + 1 }, (_, i) => start + i);

/** Python, with Biopython where there is one: `LABD_TEST_PYTHON` names another than that of the PATH. */
const python = process.env.LABD_TEST_PYTHON ?? Bun.which("python3");
const runs = (script: string): boolean =>
  python !== null && Bun.spawnSync([python, "-c", script], { stderr: "ignore" }).exitCode === 0;

function read(script: string, text: string): unknown {
  const { stdout, stderr } = Bun.spawnSync([python!, "-c", script], { stdin: Buffer.from(text) });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

test.skipIf(!runs("import json"))("Python reads GFF3 (SKIPPED without python3)", () => {
  const script = `
import sys, json
from urllib.parse import unquote
lines = sys.stdin.buffer.read().decode().split("\\n")
assert lines[0] == "##gff-version 3" and lines[-1] == ""
out = []
for line in lines[1:-1]:
    if line.startswith("##sequence-region "):
        name, first, last = line.split(" ")[1:]
        out.append([unquote(name), int(first), int(last)])
        continue
    c = line.split("\\t")
    assert len(c) == 9 and c[3].isdigit() and c[4].isdigit() and c[6] in "+-.?" and c[7] == "."
    a = dict((unquote(k), [unquote(v) for v in vs.split(",")]) for k, vs in (p.split("=") for p in c[8].split(";")))
    out.append([unquote(c[0]), c[1], c[2], int(c[3]), int(c[4]), c[5], a["Note"], a["expression"], a["conservation"], a["verdict"]])
print(json.dumps(out))`;
  const note = ["F, then 1 to 2 of any residue, W"];
  const name = SAMPLE.identifier;
  expect(read(script, print(SAMPLE, "gff3"))).toEqual([
    [name, 1, 393],
    [
      name,
      "labd-3",
      "polypeptide_motif",
      19,
      22,
      "0.7814",
      note,
      ["F.{1,2}W"],
      ["conserved"],
      ["likely functional"],
    ],
    [
      name,
      "labd-3",
      "polypeptide_motif",
      53,
      53,
      ".",
      note,
      ["F.{1,2}W"],
      ["insufficient data"],
      ["possible"],
    ],
    [
      name,
      "labd-3",
      "polypeptide_motif",
      80,
      81,
      ".",
      note,
      ["F.{1,2}W"],
      ["insufficient data"],
      ["not scored"],
    ],
  ]);
});

test.skipIf(!runs("import Bio"))(
  "Biopython reads Stockholm, FASTA and Newick (SKIPPED without python3 and Biopython)",
  () => {
    const script = `
import sys, json, io
from Bio import AlignIO, Phylo, SeqIO
rows = lambda records: [[r.id, str(r.seq)] for r in records]
print(json.dumps([{
    "stockholm": [rows(a) for a in AlignIO.parse(io.StringIO(stockholm), "stockholm")],
    "fasta": rows(SeqIO.parse(io.StringIO(fasta), "fasta")),
    "leaves": len(Phylo.read(io.StringIO(newick), "newick").get_terminals()),
} for stockholm, fasta, newick in json.load(sys.stdin)]))`;
    const all = [SAMPLE, EMPTY, ...REPORTS];
    const printed = all.map((report) => [
      print(report, "stockholm"),
      print(report, "fasta", 1),
      print(report, "newick"),
    ]);
    // Biopython has one sign for gaps.
    const plain = (text: string): string => text.replaceAll(".", "-");
    const expected = all.map((report) => ({
      stockholm: [
        print(report, "stockholm")
          .split("\n")
          .filter((row) => /^[^#/]/.test(row))
          .map((row) => row.split(/ +/).map((text, i) => (i === 0 ? text : plain(text)))),
      ],
      fasta: listAlignments(report, 1).flatMap(({ rows }) =>
        rows.map(({ name, text }) => [name, plain(text).toUpperCase()]),
      ),
      leaves: 1 + report.prediction.homologs.length,
    }));
    expect(read(script, JSON.stringify(printed))).toEqual(expected);
  },
);
