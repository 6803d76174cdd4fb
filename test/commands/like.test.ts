import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readXlsx } from "hucre/xlsx";
import { METHOD } from "../../src/motif/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { withoutComments } from "../fixtures/without-comments.ts";
import { labd, type Outcome } from "./labd.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

const directory = mkdtempSync(join(tmpdir(), "like-"));
const path = (name: string): string => join(directory, name);
const text = (name: string): string => readFileSync(path(name), "utf8");
const call = (words: string[], stdin?: string): Promise<Outcome> =>
  labd(words, { env: { LABD_DATA_DIR: path("data") }, ...(stdin === undefined ? {} : { stdin }) });
const records = proteins.split(/^(?=>)/m);
const ACCESSION = records[3].slice(1).split(/\s/, 1)[0];
/** A protein that the corpus has, and one that it lacks. */
const QUERIES = `${records[3]}>mine with a description\nMHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDR\n`;
const OPTIONS = ["--max-homologs", "30", "--model", "discontinuous", "--leave-out", ACCESSION];
const PATTERNS = ["--pattern", "P..P", "--pattern", "L.[CV].E", "--elm", "LIG_PCNA_PIPBox_1"];

beforeAll(async () => {
  writeFileSync(path("few.fasta"), records.slice(0, 20).join(""));
  writeFileSync(path("all.fasta"), records.slice(0, 60).join(""));
  await call(["corpus", "add", path("all.fasta"), "--name", "all"]);
  await call(["corpus", "add", path("few.fasta"), "--name", "few"]);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Names and values of the comments of a table. */
const comments = (table: string): Record<string, string> =>
  Object.fromEntries(
    table.split("\n").flatMap((line) => {
      const [, name, value] = /^# (\w+): (.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );

describe.each(["tsv", "gff3", "json", "xml", "xlsx"])("labd score --like a result in %s", (format) => {
  const [first, again] = [`first.${format}`, `again.${format}`];

  test("gives the same file again, with status 0", async () => {
    const output = (name: string) => ["--format", format, "--output", path(name)];
    const scored = await call(["score", "--fasta", "-", ...PATTERNS, ...OPTIONS, ...output(first)], QUERIES);
    expect(scored.code).toBe(0);
    const { code, stderr } = await call(["score", "--like", path(first), ...output(again)]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`Nothing on which the numbers depend differs from ${path(first)}.`),
    ]);
    expect(readFileSync(path(again)).equals(readFileSync(path(first)))).toBe(true);
  });

  test("scores against the corpus of the result, although another is active now", async () => {
    await call(["corpus", "use", "few"]);
    const words = ["score", "--like", path(first), "--format", format];
    const kept = await call([...words, "--output", path(`kept.${format}`)]);
    const other = await call([...words, "--corpus", "few", "--output", path(`other.${format}`)]);
    await call(["corpus", "use", "all"]);
    expect(kept.code).toBe(0);
    expect(readFileSync(path(`kept.${format}`)).equals(readFileSync(path(first)))).toBe(true);
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/corpus: few \([0-9a-f]{64}\) now, all \([0-9a-f]{64}\) in /);
    expect(other.stderr).toContain("Numbers can differ");
  });
});

test("a table begins with what it depends on", async () => {
  const { stdout } = await call(["score", "--fasta", "-", ...PATTERNS, ...OPTIONS, "--type", "LIG"], QUERIES);
  const found = comments(stdout);
  expect(Object.keys(found)).toEqual(
    "labd date method model corpus corpus_sha256 corpus_proteins options filters patterns queries".split(" "),
  );
  expect(found).toMatchObject({
    method: METHOD,
    model: "discontinuous",
    corpus: "all",
    corpus_proteins: "60",
  });
  expect(JSON.parse(found.options)).toEqual({ maxHomologs: 30, leaveOut: [ACCESSION] });
  expect(JSON.parse(found.filters)).toEqual({ type: ["LIG"] });
  expect(JSON.parse(found.queries)[1]).toMatchObject({ name: "mine", description: "with a description" });
  expect(withoutComments(stdout)).toStartWith("query\tpattern\tstart\t");
  // Filters are repeated, unless others are given.
  writeFileSync(path("filtered.tsv"), stdout);
  expect((await call(["score", "--like", path("filtered.tsv")])).stdout).toBe(stdout);
  const started = await call(["score", "--like", path("filtered.tsv"), "--order=start"]);
  expect(comments(started.stdout)).toMatchObject({ order: "start" });
  expect(comments(started.stdout).filters).toBeUndefined();
});

test("the workbook has the provenance as a second sheet", async () => {
  const { sheets } = await readXlsx(readFileSync(path("first.xlsx")));
  expect(sheets.map(({ name }) => name)).toEqual(["Matches", "Provenance"]);
  expect(Object.fromEntries(sheets[1].rows as [string, string][])).toMatchObject({
    name: "value",
    ...comments(text("first.tsv")),
  });
});

test("flags override the result, and the differences are told with status 1", async () => {
  const words = ["score", "--like", path("first.tsv"), "--pattern", "P..P", "--model", "continuous"];
  const { code, stdout, stderr } = await call([...words, "--max-homologs", "5"]);
  expect(code).toBe(1);
  for (const difference of [
    `labd: model: continuous now, discontinuous in ${path("first.tsv")}.`,
    'options: {"leaveOut":',
    'patterns: [{"expression":"P..P"}] now, [{"expression":"P..P"},',
  ])
    expect(stderr).toContain(difference);
  expect(JSON.parse(comments(stdout).options)).toEqual({ maxHomologs: 5, leaveOut: [ACCESSION] });
  const others = await call(["score", "--like", path("first.tsv"), "--fasta", "-"], records[0]);
  expect([others.code, others.stderr]).toEqual([1, expect.stringContaining("queries: others than in")]);
  expect(comments(others.stdout).patterns).toBe(comments(text("first.tsv")).patterns);
});

test("tells another method and another version of labd", async () => {
  const earlier = text("first.tsv")
    .replace(/^# labd: .*$/m, "# labd: 0.1.9")
    .replace(`# method: ${METHOD}`, "# method: labd-0");
  writeFileSync(path("earlier.tsv"), earlier);
  const { code, stderr } = await call(["score", "--like", path("earlier.tsv")]);
  expect(code).toBe(1);
  expect(stderr).toContain(`now, 0.1.9 in ${path("earlier.tsv")}`);
  expect(stderr).toContain(`method: ${METHOD} now, labd-0 in`);
});

test("different patterns of each query are scored again", async () => {
  const [one, two] = [records[1], records[2]].map((record) => record.slice(1).split(/\s/, 1)[0]);
  const scored = await call(["score", "--batch", "-"], `${one}\tP..P\n${two}\tLIG_SH3_1\n${one}\tS.S\n`);
  writeFileSync(path("batch.tsv"), scored.stdout);
  const again = await call(["score", "--like", path("batch.tsv")]);
  expect([again.code, again.stdout]).toEqual([0, scored.stdout]);
});

test("queries that are too many to be listed have to be given again", async () => {
  const many = records.slice(0, 60).join("").repeat(5);
  const short = ["--pattern", "WWWW", "--max-homologs", "1"];
  const scored = await call(["score", "--fasta", "-", ...short], many);
  expect(comments(scored.stdout)).toMatchObject({ queries_count: "300", queries_sha256: expect.any(String) });
  writeFileSync(path("many.tsv"), scored.stdout);
  expect(await call(["score", "--like", path("many.tsv")])).toMatchObject({
    code: 65,
    stderr: expect.stringContaining("it does not list its 300 queries. Give them with --fasta or --batch."),
  });
  const again = await call(["score", "--like", path("many.tsv"), "--fasta", "-"], many);
  expect([again.code, again.stdout === scored.stdout]).toEqual([0, true]);
});

test("an alignment has to be given again, and is recognised", async () => {
  const alignment = ">q\nMEEPQSDPSVEP\n>a\nMEEPQSDPSVEP\n>b\nMEEPQADPSVEP\n>c\nMEESQSDPSVEP\n";
  const scored = await call(["score", "--alignment", "-", "--pattern", "P..P|P.V"], alignment);
  expect(comments(scored.stdout)).toMatchObject({
    alignment_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(comments(scored.stdout).corpus).toBeUndefined();
  writeFileSync(path("aligned.tsv"), scored.stdout);
  const like = ["score", "--like", path("aligned.tsv")];
  expect(await call(like)).toMatchObject({
    code: 65,
    stderr: expect.stringContaining("Give it with --alignment"),
  });
  const again = await call([...like, "--alignment", "-"], alignment);
  expect([again.code, again.stdout]).toEqual([0, scored.stdout]);
  const other = await call([...like, "--alignment", "-"], alignment.replace("MEES", "MEEA"));
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("alignment: ")]);
});

test.each([
  ["nothing", "query\tpattern\nq\tP..P\n", "no provenance found"],
  [
    "an altered query",
    () => text("first.tsv").replace(/("sequence":"M)/, "$1A"),
    "was altered: its MD5 differs",
  ],
  [
    "altered JSON",
    () => text("first.tsv").replace("# queries: [", "# queries: [["),
    "provenance was altered",
  ],
  ["an altered pattern", () => text("first.tsv").replace('"P..P"', '"P(.P"'), "pattern P(.P: Unclosed"],
])("rejects a file with %s", async (_, content, message) => {
  writeFileSync(path("rejected.tsv"), typeof content === "string" ? content : content());
  const { code, stderr, stdout } = await call(["score", "--like", path("rejected.tsv")]);
  expect([code, stderr, stdout]).toEqual([65, expect.stringContaining(message), ""]);
});

test.each(["tsv", "gff3", "json", "xlsx"])("labd scan --like gives the same scan in %s", async (format) => {
  const classes = ["--classes", "LIG_SH3_1,MDM2-SWIB"];
  const output = (name: string) => ["--format", format, "--output", path(`${name}.${format}`)];
  await call(["scan", "--fasta", "-", ...classes, "--max-q", "0.9", ...output("scan")], QUERIES);
  const again = await call(["scan", "--like", path(`scan.${format}`), ...output("scan-again")]);
  expect(again.code).toBe(0);
  expect(readFileSync(path(`scan-again.${format}`)).equals(readFileSync(path(`scan.${format}`)))).toBe(true);
  const fewer = await call(["scan", "--like", path(`scan.${format}`), "--classes", "LIG_SH3_1"]);
  expect([fewer.code, fewer.stderr]).toEqual([1, expect.stringContaining("patterns: ")]);
});

test("labd proteome search --like gives the same search", async () => {
  await call(["proteome", "build", "--corpus", "few"]);
  const evidence = ["--ignore-features", "--prior", "0.02"];
  const chosen = ["--corpus", "few", "--model", "discontinuous", "--order", "-cs", ...evidence];
  const first = await call(["proteome", "search", "--pattern", "P..P", ...chosen]);
  expect(comments(first.stdout)).toMatchObject({ ignored: '["features"]', order: "-cs" });
  writeFileSync(path("proteome.tsv"), first.stdout);
  const like = ["proteome", "search", "--like", path("proteome.tsv")];
  const again = await call(like);
  expect(again.stderr).toContain("Nothing on which the numbers depend differs");
  expect([again.code, again.stdout]).toEqual([0, first.stdout]);
  const other = await call([...like, "--pattern", "L..L"]);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("patterns: ")]);

  writeFileSync(path("names.txt"), `${records[3].slice(1).split(/\s/, 1)[0]}\n`);
  const few = await call([
    "proteome",
    "search",
    "--pattern",
    "P..P",
    "--corpus",
    "few",
    "--proteins",
    path("names.txt"),
  ]);
  writeFileSync(path("some.tsv"), few.stdout);
  const some = ["proteome", "search", "--like", path("some.tsv")];
  expect(await call(some)).toMatchObject({
    code: 65,
    stderr: expect.stringContaining("Give them with --proteins"),
  });
  const same = await call([...some, "--proteins", path("names.txt")]);
  expect([same.code, same.stdout]).toEqual([0, few.stdout]);
});

test("a proteome search needs one pattern, also of the file of --like", async () => {
  const scored = await call(["score", "--fasta", "-", "--pattern", "P..P", "--pattern", "L..L"], QUERIES);
  writeFileSync(path("two.tsv"), scored.stdout);
  const { code, stderr } = await call(["proteome", "search", "--like", path("two.tsv")]);
  expect([code, stderr]).toEqual([64, expect.stringContaining("has 2 patterns")]);
});
