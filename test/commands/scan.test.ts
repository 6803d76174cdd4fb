import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { starterClasses } from "../../src/scoring/corpus/motif-classes.ts";
import { P53 as SEQUENCE } from "../scoring/scoring-harness.ts";
import { withoutComments } from "../fixtures/without-comments.ts";
import { labd, scratch } from "./labd.ts";

const P53 = `>P04637\n${SEQUENCE}\n`;
const TABLE = join(import.meta.dir, "../fixtures/elm-classes.tsv");

const parseRows = (tsv: string): Record<string, string>[] => {
  const [head, ...rows] = withoutComments(tsv)
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.split("\t"));
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
};

const VERDICTS = ["likely functional", "possible", "no evidence", "not scored"];
const byEvidence = (a: Record<string, string>, b: Record<string, string>): number =>
  VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict) || Number(b.z) - Number(a.z);

test("labd score prints the matches that pass filters, in an order, of tables", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const words = ["score", "--fasta", "-", "--pattern", "P..P", "--elm", "MDM2-SWIB"];
  const run = (...more: string[]) => labd([...words, ...more], { env, stdin: P53 });
  const rows = parseRows((await run()).stdout);
  const degrons = parseRows((await run("--type", "DEG")).stdout);
  expect(degrons.length).toBeGreaterThan(0);
  expect(degrons).toEqual(rows.filter(({ type }) => type === "DEG"));
  const ordered = parseRows((await run("--order=-start")).stdout).map(({ start }) => Number(start));
  expect(ordered).toEqual(rows.map(({ start }) => Number(start)).toSorted((a, b) => b - a));
  for (const [given, error] of [
    [["--order", "strat"], "There is no column strat. Did you mean start? See labd score --help."],
    [["--type", "DEG", "--format", "json"], "Filters of matches and --order are for tables"],
  ] as const)
    expect(await run(...given)).toMatchObject({ code: 64, stderr: expect.stringContaining(error) });
});

test("scans proteins for all classes, in every format, and filters", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const stdin = `${P53}>short\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV\n`;
  const run = (...words: string[]) => labd(["scan", "--fasta", "-", ...words], { env, stdin });

  const tsv = await run();
  expect(tsv.code).toBe(0);
  const rows = parseRows(tsv.stdout);
  const p53 = rows.filter(({ query }) => query === "P04637");
  expect(p53.length).toBeGreaterThan(20);
  expect(p53[0]).toMatchObject({ class: "MDM2-SWIB", type: "DEG", start: "19", end: "26", group: "1" });
  expect(p53[0]).toMatchObject({ accession: "P04637", gene: "TP53", organism: "Homo sapiens" });
  expect(rows.find(({ query }) => query === "short")).toMatchObject({ accession: "", gene: "" });
  // Each protein has its own order and q-values.
  for (const query of ["P04637", "short"]) {
    const own = rows.filter((row) => row.query === query);
    expect(own.map(({ number }) => number)).toEqual(own.toSorted(byEvidence).map(({ number }) => number));
  }

  const json = (await run("--format", "json")).stdout.trimEnd().split("\n");
  const [first] = json.map((line) => JSON.parse(line));
  expect(json).toHaveLength(2);
  expect(first.protein).toMatchObject({ entryName: "P53_HUMAN", taxon: 9606, length: 393 });
  expect(first).toMatchObject({ identifier: "P04637", classes: starterClasses().length, tested: p53.length });
  expect(first.matches[0].q).toBeCloseTo(Number(p53[0].q), 4);

  const gff3 = withoutComments((await run("--format", "gff3", "--type", "DEG")).stdout).split("\n");
  expect(gff3[1]).toBe("##sequence-region P04637 1 393");
  expect(gff3[2]).toContain(";gene=TP53;protein_name=Cellular tumor antigen p53;organism=Homo sapiens");
  expect(gff3.filter((line) => line.includes("polypeptide_motif")).length).toBe(
    rows.filter(({ type }) => type === "DEG").length,
  );

  const limit = Number(p53[3].q);
  const filtered = parseRows((await run("--disordered", "--max-q", String(limit + 0.0001))).stdout);
  expect(filtered).toEqual(
    rows.filter((row) => Number(row.disorder) > 0.5 && Number(row.q) <= limit + 0.0001),
  );

  const byStart = parseRows((await run("--order", "start", "--type", "DEG")).stdout);
  const starts = byStart.filter(({ query }) => query === "P04637").map(({ start }) => Number(start));
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  expect(byStart).toHaveLength(rows.filter(({ type }) => type === "DEG").length);

  // Fewer tests, smaller q.
  const one = parseRows((await run("--classes", "MDM2-SWIB,LIG_SH3_1")).stdout);
  expect(new Set(one.map((row) => row.class))).toContain("MDM2-SWIB");
  expect(Number(one[0].q)).toBeLessThan(Number(p53[0].q));
  expect(one[0].overall_p).toBe(p53[0].overall_p);
}, 30_000);

test("tests the classes of a table instead of the built-in ones, without importing it", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const { stdout } = await labd(["scan", "--fasta", "-", "--elm", TABLE, "--format", "json"], {
    env,
    stdin: P53,
  });
  expect(JSON.parse(stdout).classes).toBeLessThan(10);
  expect((await labd(["elm", "list"], { env })).stdout).toContain("all built in");
});

test("an interrupted output is resumed, and ends up the same", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const fasta = join(place.directory, "two.fasta");
  const output = join(place.directory, "scan.tsv");
  writeFileSync(fasta, `${P53}>half\n${SEQUENCE.slice(150)}\n`);
  const words = ["scan", "--fasta", fasta, "--classes", "MDM2-SWIB,LIG_SH3_1,SUMO-consensus"];
  const whole = (await labd(words, { env })).stdout;
  const resumed = [...words, "--output", output, "--resume"];
  expect((await labd(resumed, { env })).code).toBe(0);
  expect(readFileSync(output, "utf8")).toBe(whole);
  const again = await labd(resumed, { env });
  expect([again.code, again.stderr.includes("is complete")]).toEqual([75, true]);
});

test.each([
  [[], "needs --fasta FILE"],
  [["--fasta", "x", "--type", "LIG,lig"], "--type: expected DEG, DOC"],
  [["--fasta", "x", "--type", ""], "--type"],
  [["--fasta", "x", "--max-q", "1.5"], "--max-q: expected a number from 0 to 1"],
  [["--fasta", "x", "--max-q", "low"], '"low" was given'],
  [["--fasta", "x", "--resume"], "--resume needs --output"],
])("refuses %p as wrong usage", async (words, message) => {
  const { code, stderr } = await labd(["scan", ...words]);
  expect(code).toBe(64);
  expect(stderr).toContain(message);
});

test("names an unknown class and a bad table", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  const unknown = await labd(["scan", "--fasta", "-", "--classes", "MDM2-SWIP"], { env, stdin: P53 });
  expect(unknown.stderr).toContain("MDM2-SWIB");
  const bad = join(place.directory, "bad.tsv");
  writeFileSync(bad, "nothing\n");
  const table = await labd(["scan", "--fasta", "-", "--elm", bad], { env, stdin: P53 });
  expect([table.code, table.stderr.includes("Table of motif classes: Line 1")]).toEqual([65, true]);
});

test("prints the matches that variants change, and comparisons as JSON", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const run = (...words: string[]) => labd([...words, "--fasta", "-"], { env, stdin: P53 });
  const words = ["score", "--pattern", "F...W..[LIV]", "--pattern", "P..P"];
  const plain = parseRows((await run(...words)).stdout);
  const tsv = await run(...words, "--variant", "W23A,p.Phe19Ala+W23A", "--variant", "23\tW\tW");
  expect(tsv.code).toBe(0);
  expect(tsv.stdout).toContain('"variant":"F19A+W23A"');
  const [z] = plain.filter(({ start }) => start === "19").map((row) => row.z);
  const broken = { change: "broken", match: "FSDLWKLL", z_before: z, verdict_before: "likely functional" };
  expect(parseRows(tsv.stdout)).toEqual([
    expect.objectContaining({ variant: "W23A", ...broken, z_after: "", verdict_after: "" }),
    expect.objectContaining({ variant: "F19A+W23A", ...broken }),
  ]);
  const json = JSON.parse((await run(...words, "--variant", "W23W", "--format", "json")).stdout);
  expect(json.b.variant).toBe("W23W");
  expect(json.matches.map(({ a }: { a: { z: number } }) => a.z.toFixed(3))).toEqual(
    json.matches.map(({ b }: { b: { z: number } }) => b.z.toFixed(3)),
  );
  const table = await run(...words, "--variant", "W23A,W23W", "--format", "table");
  expect(table.stdout).toBe(
    "P04637, W23A: \n" +
      "motif         match     place  change  z     without            z  with the variant\n" +
      `F...W..[LIV]  FSDLWKLL  19-26  broken  ${Number(z).toFixed(2)}  Likely functional     no match\n\n` +
      "P04637, W23W: no match changes\n\n",
  );
  const scanned = parseRows((await run("scan", "--variant", "W23A")).stdout);
  expect(scanned[0]).toMatchObject({ change: "broken", motif: "MDM2-SWIB", start: "19" });
  for (const [given, code, error] of [
    [["--variant", "L23A"], 65, "--variant: P04637: L23A: residue 23 is W, not L."],
    [["--variant", "W23A", "--format", "xlsx"], 64, "--variant needs --format tsv, json, table."],
    [["--variant", "W23A", "--order", "z"], 64, "--variant does not go with filters and --order."],
    [["--variant", "W23A", "--shard", "1/2"], 64, "--variant does not go with --shard."],
  ] as const)
    expect(await run(...words, ...given)).toMatchObject({ code, stderr: expect.stringContaining(error) });
});
