import { expect, test } from "bun:test";
import { P53 } from "../scoring/scoring-harness.ts";
import { withoutComments } from "../fixtures/without-comments.ts";
import { labd, scratch } from "./labd.ts";

const BED = "P04637\t93\t289\tdomain\nchr1\t0\t5\tpeak\n";

test("imports, lists, shows and removes features", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  const run = (words: string[], stdin = "") => labd(["features", ...words], { env, stdin });
  expect(await run(["list"])).toMatchObject({ stdout: expect.stringContaining("No features are imported.") });
  expect(await run(["add", "-"], BED)).toMatchObject({
    code: 66,
    stderr: expect.stringContaining("no corpus"),
  });
  await labd(["corpus", "add", "--sample"], { env });

  const added = await run(["add", "-", "--name", "domains.bed"], BED);
  expect(added).toMatchObject({ code: 0, stderr: "labd: -: read as BED.\n" });
  expect(added.stdout).toStartWith("domains.bed  BED, 1 feature of 1 protein of sample, ");
  expect(added.stdout).toContain("\n  no protein: 1 feature of 1 identifier, such as chr1\n");
  expect((await run(["list"])).stdout).toBe(added.stdout);
  expect(JSON.parse((await run(["list", "--json"])).stdout)).toMatchObject([{ format: "bed", features: 1 }]);
  expect(JSON.parse((await run(["show", "P04637"])).stdout).features).toMatchObject([
    { start: 94, end: 289 },
  ]);

  const bad = await run(["add", "-", "--format", "gff3"], BED);
  expect(bad).toMatchObject({ code: 65, stderr: expect.stringContaining("line 1: 4 columns; GFF3 has 9") });
  expect((await run(["add", "-", "--format", "doc"], BED)).code).toBe(64);
  expect(await run(["remove", "domains"])).toMatchObject({
    code: 66,
    stderr: expect.stringContaining("Choose from domains.bed."),
  });
  expect((await run(["remove", "domains.bed"])).stdout).toBe("Removed domains.bed.\n");
  expect((await run(["show", "P04637"])).code).toBe(66);
});

test("labd score names known instances, except in shards", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const score = async (...words: string[]) => {
    const pattern = ["score", "--fasta", "-", "--pattern", "F...W..L", "--format", "tsv"];
    const { stdout } = await labd([...pattern, ...words], { env, stdin: `>p53\n${P53}\n` });
    const [head, ...rows] = withoutComments(stdout)
      .split("\n")
      .map((line) => line.split("\t"));
    return rows
      .filter((row) => row.includes("FSDLWKLL"))
      .map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
  };
  const [without] = await score();
  expect(without).toMatchObject({ known_instance: "", also_annotated_in: "" });
  const elm =
    `"Accession"\t"ELMIdentifier"\t"Primary_Acc"\t"Start"\t"End"\t"InstanceLogic"\n` +
    `"ELMI1"\t"DEG_MDM2_SWIB_1"\t"P04637"\t"19"\t"26"\t"true positive"\n`;
  await labd(["features", "add", "-", "--name", "elm"], { env, stdin: elm });
  expect(await score()).toEqual([
    { ...without, known_instance: "ELMI1", verdict: "known instance", overall_verdict: "known instance" },
  ]);
  expect(await score("--shard", "1/1")).toEqual([without]);
});

test("features are evidence for labd score, labd scan and shards, unless they are left out", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const zOf = async (words: string[]) => {
    const run = await labd(words, { env, stdin: `>p53\n${P53}\n` });
    expect(run.code).toBe(0);
    const lines = withoutComments(run.stdout).split("\n");
    const [head, ...rows] = lines.map((line) => line.split("\t"));
    return Number(rows.find((row) => row.includes("FSDLWKLL"))![head.indexOf("z")]);
  };
  const score = ["score", "--fasta", "-", "--elm", "MDM2-SWIB", "--format", "tsv"];
  const scan = ["scan", "--fasta", "-", "--classes", "MDM2-SWIB"];
  const before = await zOf(score);
  expect(await zOf(scan)).toBe(before);
  const shard = [...score, "--shard", "1/1"];
  const plain = await labd(shard, { env, stdin: `>p53\n${P53}\n` });
  await labd(["features", "add", "-", "--name", "signal"], { env, stdin: "P04637\t0\t30\tsignal peptide\n" });
  for (const words of [score, scan, shard]) expect(await zOf(words)).toBeCloseTo(before - 1.4, 3);
  for (const words of [score, scan, shard]) expect(await zOf([...words, "--ignore-features"])).toBe(before);
  const left = await labd([...shard, "--ignore-features"], { env, stdin: `>p53\n${P53}\n` });
  const rows = (text: string): string => text.replaceAll(/^#.*\n/gm, "");
  expect(rows(left.stdout)).toBe(rows(plain.stdout));
  const known = await labd(shard, { env, stdin: `>p53\n${P53}\n` });
  expect(known.stdout).toContain('"knowledge":"');
});

test("--prior changes the probability in labd score and labd scan, and must be between 0 and 1", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const score = ["score", "--fasta", "-", "--elm", "MDM2-SWIB", "--format", "tsv"];
  const scan = ["scan", "--fasta", "-", "--classes", "MDM2-SWIB"];
  for (const words of [score, scan]) {
    const cells = async (...more: string[]): Promise<Record<string, string>> => {
      const run = await labd([...words, ...more], { env, stdin: `>p53\n${P53}\n` });
      expect(run.code).toBe(0);
      const lines = withoutComments(run.stdout).split("\n");
      const [head, ...rows] = lines.map((line) => line.split("\t"));
      const row = rows.find((each) => each.includes("FSDLWKLL"))!;
      return Object.fromEntries(head.map((name, i) => [name, row[i]]));
    };
    const { probability, ...rest } = await cells();
    const { probability: higher, ...same } = await cells("--prior", "0.5");
    expect(same).toEqual(rest);
    expect(Number(higher)).toBeGreaterThan(Number(probability));
    for (const bad of ["0", "1", "half", ""])
      expect(await labd([...words, "--prior", bad], { env, stdin: `>p53\n${P53}\n` })).toMatchObject({
        code: 64,
        stderr: expect.stringContaining("--prior:"),
      });
  }
});
