import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { FAMILY_METHOD, openCorpus, packCorpus, readFasta } from "../../src/motif/index.ts";
import { lockDirectory } from "../../src/platform/sqlite.ts";
import { readFamilies } from "../../src/scoring/corpus/families-file.ts";
import { selectProteins } from "../../src/scoring/proteome/protein-selection.ts";
import SAMPLE from "../../src/sample/proteins.fasta" with { type: "text" };
import { withoutComments } from "../fixtures/without-comments.ts";
import { labd, type Outcome } from "./labd.ts";

setDefaultTimeout(120_000);

/** The beginnings of some proteins of the sample, with other headers: eight are of taxon 9606, the others of 10090. */
const records = SAMPLE.split(/^>/m).slice(1, 25);
const fasta = records
  .map((record, i) => {
    const [header, ...lines] = record.split("\n", 6);
    const taxon = i % 3 === 0 ? 9606 : 10090;
    return `>${header.split(" ", 1)[0]} OX=${taxon}\n${lines.join("\n")}\n`;
  })
  .join("");

let directory: string;
let families: string;
let env: Record<string, string>;
const run = (words: string[], stdin = ""): Promise<Outcome> => labd(["proteome", ...words], { env, stdin });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-proteome-"));
  env = { LABD_DATA_DIR: directory, LABD_WORKERS: "1" };
  await labd(["corpus", "add", "-", "--name", "some"], { env, stdin: fasta });
  const corpus = readdirSync(join(directory, "corpora")).find((name) => name.endsWith(".labc"))!;
  families = join(directory, "corpora", corpus.replace(/labc$/, `${FAMILY_METHOD}.families`));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Waits for a command, and checks that a server could have started shortly before its end. */
async function whileUnlocked(running: Promise<Outcome>): Promise<Outcome> {
  let isFree = false;
  while (!(await Promise.race([running, Bun.sleep(1)]))) {
    try {
      lockDirectory(directory).release();
      isFree = true;
    } catch {
      isFree = false;
    }
  }
  expect(isFree).toBe(true);
  return running;
}

/** Rows by column. */
const parseRows = (tsv: string): Record<string, string>[] => {
  const [head, ...rows] = withoutComments(tsv)
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.split("\t"));
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
};

test("proteome asks for a build, then builds each shard once", async () => {
  const search = ["search", "--pattern", "P..P"];
  expect(await run(search)).toMatchObject({
    code: 66,
    stderr: expect.stringContaining("Run labd proteome build"),
  });
  expect((await run(["list"])).stdout).toStartWith("some  0 of 24 proteins  0 MB  ");

  const first = await run(["build", "--organism", "9606", "--shard", "1/2"]);
  expect(first.stderr).toContain("families to compute: 4. Expected: about");
  await run(["build", "--organism", "9606", "--shard", "2/2"]);
  const human = await run(search);
  expect(new Set(parseRows(human.stdout).map((row) => row.protein)).size).toBeGreaterThan(3);
  expect(human.stderr).toContain("of 8 proteins");
  expect(human.stderr).toContain("16 proteins without a family were not searched. Run labd proteome build.");

  expect((await run(["build", "--organism", "9606"])).stderr).toContain("no family is missing. Existing: 8.");
  const all = await whileUnlocked(run(["build"]));
  expect(all.stderr).toContain("families to compute: 16. Existing: 8.");
  expect(all.stdout).toStartWith("some  24 of 24 proteins  ");
  expect(readdirSync(families)).toHaveLength(3);
});

test("finds the matches of labd score, with the same numbers, by z", async () => {
  const scored = await labd(["score", "--fasta", "-", "--pattern", "P..P"], { env, stdin: fasta });
  const expected = parseRows(scored.stdout).filter(({ verdict }) => verdict !== "no match");
  const found = parseRows((await run(["search", "--pattern", "P..P"])).stdout);
  expect(expected.length).toBeGreaterThan(40);
  const same = ["start", "end", "match", "overall_p", "z", "cs", "expected", "p", "verdict", "kept"];
  const rowKey = (row: Record<string, string>, protein: string): string =>
    [protein, row.homologs, row.effective_homologs, ...same.map((name) => row[name])].join(" ");
  expect(found.map((row) => rowKey(row, row.protein)).toSorted()).toEqual(
    expected.map((row) => rowKey(row, row.query)).toSorted(),
  );
  const zs = found.flatMap(({ z }) => (z === "" ? [] : Number(z)));
  expect(zs).toEqual(zs.toSorted((a, b) => b - a));
  expect(Number(found[0].q)).toBeGreaterThan(Number(found[0].overall_p));

  const one = await run(["search", "--pattern", "P..P", "--workers", "2", "--format", "json"]);
  const objects = one.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(objects.map(({ protein, start }) => [protein.accession, String(start)])).toEqual(
    found.map(({ protein, start }) => [protein, start]),
  );
});

test("selects proteins and matches", async () => {
  const all = parseRows((await run(["search", "--class", "LIG_SH3_1"])).stdout);
  const [{ protein, q }] = all;
  const one = await run(["search", "--class", "LIG_SH3_1", "--proteins", "-"], `# chosen\n${protein}\n`);
  expect(new Set(parseRows(one.stdout).map((row) => row.protein))).toEqual(new Set([protein]));
  const best = parseRows((await run(["search", "--class", "LIG_SH3_1", "--max-q", q])).stdout);
  expect(best.every((row) => Number(row.q) <= Number(q))).toBe(true);
  const gff3 = (await run(["search", "--class", "LIG_SH3_1", "--disordered", "--format", "gff3"])).stdout;
  expect(gff3.split("\n").filter((line) => line.includes("Name=LIG_SH3_1;"))).toHaveLength(
    all.filter((row) => Number(row.disorder) > 0.5).length,
  );
});

test.each([
  [["search"], "needs one --pattern or one --class"],
  [["search", "--pattern", "P..P", "--class", "LIG_SH3_1"], "needs one --pattern or one --class"],
  [["search", "--pattern", "P("], "Unclosed ("],
  [["search", "--pattern", "P", "--max-q", "2"], "--max-q: expected a number from 0 to 1"],
  [["build", "--organism", "yeast"], 'no protein of corpus some is of "yeast"'],
  [["build", "--shard", "3/2"], "--shard: expected I/N"],
  [["build", "--corpus", "other"], "other"],
])("%p is answered with %p", async (words, message) => {
  expect(await run(words)).toMatchObject({
    code: expect.any(Number),
    stderr: expect.stringContaining(message),
  });
});

test("names the lines of unknown proteins", async () => {
  const { code, stderr } = await run(["build", "--proteins", "-"], "# list\nP1NONE\n\nP04637\nNOGENE\n");
  expect(code).toBe(65);
  expect(stderr).toContain('no such accession, entry name or gene: line 2 "P1NONE", line 5 "NOGENE".');
});

test("chooses the protein of the organism for a gene", () => {
  const entry = (accession: string, gene: string, taxon: number, organism: string): string =>
    `>sp|${accession}|X_${accession} Name OS=${organism} OX=${taxon} GN=${gene}\nMKTAYIAKQRQISFVKSHFSRQ\n`;
  const corpus = openCorpus(
    packCorpus(
      "genes",
      readFasta(
        entry("Q00001", "Trp53", 10090, "Mus musculus") +
          entry("P00002", "TP53", 9606, "Homo sapiens") +
          entry("P00003", "TP53", 9913, "Bos taurus"),
      ),
    ),
  );
  const select = (organism: string | undefined, names?: string): string[] =>
    selectProteins(corpus, { organism, names }).map((index) => corpus.accession(index));
  expect(select(undefined, "TP53\nQ00001")).toEqual(["Q00001", "P00002"]);
  expect(select("9913", "TP53")).toEqual(["P00003"]);
  expect(select("bos taurus")).toEqual(["P00003"]);
  expect(() => select("9606", "Q00001")).toThrow("no such accession");
  expect(() => select("7227")).toThrow('is of "7227"');
});

test("proteome search names known instances and domains, and filters by them", async () => {
  const all = parseRows((await run(["search", "--pattern", "P..P"])).stdout);
  const { protein, start, end } = all.find((row) => Number(row.start) > 20)!;
  const stdin =
    `"Accession"\t"ELMIdentifier"\t"Primary_Acc"\t"Start"\t"End"\t"InstanceLogic"\n` +
    `"ELMI1"\t"LIG_ANY"\t"${protein}"\t"${start}"\t"${end}"\t"true positive"\n`;
  await labd(["features", "add", "-", "--name", "elm"], { env, stdin });
  const bed = `${protein}\t${Number(start) - 1}\t${end}\tdomain\n`;
  await labd(["features", "add", "-", "--name", "bed"], { env, stdin: bed });
  const known = parseRows((await run(["search", "--pattern", "P..P", "--known"])).stdout);
  expect(known.map((row) => [row.protein, row.start, row.known_instance])).toContainEqual([
    protein,
    start,
    "ELMI1",
  ]);
  const inside = parseRows((await run(["search", "--pattern", "P..P", "--inside-domains"])).stdout);
  expect(inside.every((row) => row.protein === protein && row.domains === "domain")).toBe(true);
  const outside = parseRows((await run(["search", "--pattern", "P..P", "--outside-domains"])).stdout);
  expect(inside.length).toBeGreaterThan(0);
  expect(outside.length + inside.length).toBe(all.length);
  expect((await run(["search", "--pattern", "P..P", "--known", "--unknown"])).code).toBe(64);
  for (const name of ["elm", "bed"]) await labd(["features", "remove", name], { env });
});

test("rejects an altered file, and builds its families again after its removal", async () => {
  const [name] = readdirSync(families);
  const path = join(families, name);
  const content = readFileSync(path);
  const altered = Buffer.from(content);
  altered[content.length - 9] ^= 1;
  writeFileSync(path, altered);
  const search = ["search", "--pattern", "....", "--format", "json"];
  expect(await run(search)).toMatchObject({
    stderr: expect.stringContaining(`${name} was altered. Delete it, and run labd proteome build again.`),
  });
  rmSync(path);
  const leftover = join(families, "0123456789abcdef.labf.part");
  writeFileSync(leftover, "");
  utimesSync(leftover, 0, 0);
  await run(["build"]);
  expect(existsSync(leftover)).toBe(false);
  expect(readFileSync(path)).toEqual(content);
  writeFileSync(path, content.toString("latin1").replace(FAMILY_METHOD, "labd-0"));
  expect((await run(search)).stderr).toContain("belongs to another corpus or version of labd");
  writeFileSync(path, content);
});

test("families carried over to the next release equal a new build to the byte", async () => {
  const all = SAMPLE.split(/^(?=>)/m);
  const short = all.filter(({ length }) => length < 200);
  const [some, others] = [short.slice(0, 2), short.filter((_, i) => i % 5 === 2)];
  await labd(["corpus", "add", "-", "--name", "spring"], { env, stdin: [...some, ...others].join("") });
  await run(["build", "--corpus", "spring"]);
  const release = [some[1], ...others, ...short.slice(3, 5)].join("");
  await labd(["corpus", "add", "-", "--name", "autumn"], { env, stdin: release });
  const path = (await run(["list"])).stdout.trimEnd().split("  ").at(-1)!;
  const stored = (): Map<number, Uint8Array> =>
    new Map(
      readdirSync(path).flatMap((file) =>
        [...readFamilies(join(path, file), basename(path).split(".")[0])].map(
          ([index, { record }]) => [index, record] as const,
        ),
      ),
    );
  const carried = await run(["build", "--corpus", "autumn"]);
  expect(carried.stderr).toContain("compute: 14. Carried over from spring if nothing changed them: 12.");
  expect(carried.stderr).toContain("Families carried over: 6.");
  const found = stored();
  await labd(["corpus", "remove", "spring"], { env });
  await run(["remove", "autumn"]);
  expect((await run(["build", "--corpus", "autumn"])).stderr).not.toContain("arried over");
  expect(found).toEqual(stored());
  await labd(["corpus", "remove", "autumn"], { env });
});

test("removes families by command, and with their corpus", async () => {
  await run(["remove", "some"]);
  expect((await run(["list"])).stdout).toStartWith("some  0 of 24 proteins");
  mkdirSync(families);
  mkdirSync(families.replace(FAMILY_METHOD, "labd-1"));
  await labd(["corpus", "remove", "some"], { env });
  expect(readdirSync(join(directory, "corpora"))).toEqual([]);
});
