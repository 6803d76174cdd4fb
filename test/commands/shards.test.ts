import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { openShard } from "../../src/commands/shard-file.ts";
import { labd, type Outcome } from "./labd.ts";

setDefaultTimeout(300_000);

/** Merged shards are byte for byte the output of one run. */

const home = process.cwd();
let directory: string;
let env: Record<string, string>;
// The longer a protein, the longer each of dozens of runs.
const records = proteins
  .split(/^>/m)
  .filter((record) => /P..P/.test(record.slice(record.indexOf("\n"))))
  .toSorted((a, b) => a.length - b.length)
  .slice(0, 4);
const rows = records.map((record) => `${record.split(/\s/, 1)[0]}\tP..P\n`);
const table = rows.join("");

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-shards-"));
  env = { LABD_DATA_DIR: join(directory, "data"), LABD_WORKERS: "1" };
  await labd(["corpus", "add", "--sample"], { env });
  writeFileSync(join(directory, "pairs.tsv"), table);
  process.chdir(directory);
});
afterAll(() => {
  process.chdir(home);
  rmSync(directory, { recursive: true, force: true });
});

const call = (words: string[], stdin = ""): Promise<Outcome> => labd(words, { env, stdin });
const text = (name: string): string => readFileSync(join(directory, name), "utf8");
const BATCH = ["score", "--batch", "pairs.tsv"];

/** Runs all shards and returns their files' names. */
async function shards(words: string[], of: number, ending: string, workers = 1): Promise<string[]> {
  const names = Array.from({ length: of }, (_, i) => `part.${i + 1}.${ending}`);
  await Promise.all(
    names.map(async (name, i) => {
      const run = [...words, "--shard", `${i + 1}/${of}`, "--output", name, "--workers", String(workers)];
      expect((await call(run)).code).toBe(0);
    }),
  );
  return names;
}

describe("merged shards equal the output of one run", () => {
  test.each(["tsv", "json", "xml"])("merges shards of %s, given in any order", async (format) => {
    const words = [...BATCH, "--format", format];
    // The number of threads must not matter.
    const names = await shards(words, 2, format, format === "tsv" ? 3 : 1);
    expect(await call(["merge", ...names.toReversed(), "--output", `all.${format}`])).toMatchObject({
      code: 0,
      stderr: "",
    });
    const whole = (await call(words)).stdout;
    expect(whole.length).toBeGreaterThan(500);
    expect(text(`all.${format}`)).toBe(whole);
    if (format === "tsv") expect((await call(["merge", ...names])).stdout).toBe(whole);
    if (format === "json") for (const line of text(names[1]).trim().split("\n")) JSON.parse(line);
  });

  test("reads standard input and writes standard output, with more shards than queries", async () => {
    const words = ["score", "--fasta", "-", "--pattern", "P..P", "--elm", "LIG_PCNA_PIPBox_1"];
    const few = records
      .slice(0, 2)
      .map((record) => `>${record}`)
      .join("");
    const names = [1, 2, 3].map((i) => `few.${i}.tsv`);
    for (const [i, name] of names.entries()) {
      const { stdout, code } = await call([...words, "--shard", `${i + 1}/3`], few);
      expect(code).toBe(0);
      writeFileSync(name, stdout);
    }
    expect((await call(["merge", ...names])).stdout).toBe((await call(words, few)).stdout);
  });
});

test("--resume continues an incomplete shard, keeps a complete one, and rejects one of another run", async () => {
  const words = [...BATCH, "--shard", "2/2", "--output", "resumed.tsv"];
  expect((await call(words)).code).toBe(0);
  const complete = text("resumed.tsv");
  expect((await call(words)).stderr).toContain("resumed.tsv already exists");
  const again = await call([...words, "--resume"]);
  expect([again.code, again.stderr]).toEqual([0, "labd: resumed.tsv is complete: nothing to do.\n"]);
  const foreign = await call([...BATCH, "--shard", "1/2", "--output", "resumed.tsv", "--resume"]);
  expect([foreign.code, foreign.stderr]).toEqual([
    75,
    expect.stringContaining("shard 2 of 2 of another run"),
  ]);
  // As after a kill: the checkpoint of the first query is there, the rest is lost.
  const { provenance, ...beginning } = openShard("resumed.tsv").beginning;
  expect(provenance).toMatchObject({ model: "continuous", corpus: expect.any(String) });
  const identity = JSON.stringify(beginning);
  const request = new Bun.CryptoHasher("sha256").update(identity).digest("hex");
  const bytes = complete.split("\n").slice(0, 2).join("\n").length + 1;
  writeFileSync("resumed.tsv", complete.slice(0, bytes + 5));
  writeFileSync("resumed.tsv.progress", JSON.stringify({ request, queries: 0, bytes }));
  const early = await call(["merge", "resumed.tsv"]);
  expect([early.code, early.stderr]).toEqual([75, expect.stringContaining("shard 2 of 2 has no end")]);
  const other = await call([...BATCH, "--shard", "1/2", "--output", "resumed.tsv", "--resume"]);
  expect([other.code, other.stderr]).toEqual([75, expect.stringContaining("started with other queries")]);
  expect((await call([...words, "--resume"])).code).toBe(0);
  expect(text("resumed.tsv")).toBe(complete);
});

describe("merge rejects files that do not belong together, and writes nothing", () => {
  const change = (name: string, from: string, edit: (content: string) => string): string => {
    writeFileSync(join(directory, name), edit(text(from)));
    return name;
  };
  let names: string[];
  beforeAll(async () => {
    names = await shards(BATCH, 3, "good.tsv");
  });
  const refusal = async (given: string[], code: number, ...words: string[]): Promise<void> => {
    const { stderr, ...ended } = await call(["merge", ...given, "--output", "refused.tsv"]);
    expect({ ...ended, stderr }).toMatchObject({ code, stdout: "" });
    for (const word of words) expect(stderr).toContain(word);
    expect(readdirSync(directory).filter((name) => name.startsWith("refused"))).toEqual([]);
  };

  test("rejects missing, duplicate, incomplete, absent and unrelated files", async () => {
    await refusal([names[1]], 75, "Shards 1, 3 of 3 are missing");
    await refusal([names[0], names[1], names[1], names[2]], 65, `${names[1]} is shard 2 of 3, like`);
    const cut = change("cut.tsv", names[2], (content) => content.slice(0, -200));
    await refusal([names[0], names[1], cut], 75, "cut.tsv is incomplete: shard 3 of 3", "--resume");
    await refusal(
      ["gone.tsv", "pairs.tsv", ...names],
      65,
      "no file gone.tsv",
      "pairs.tsv is not a shard. Expected a file of labd score --shard",
    );
    expect((await call(["merge"])).code).toBe(64);
    expect((await call(["merge", ...names, "--output", "pairs.tsv"])).stderr).toContain("already exists");
  });

  test("rejects files of another run and names the difference", async () => {
    const strays: [string, string[], string][] = [
      ["patterns", ["score", "--batch", "more.tsv"], "other patterns"],
      ["model", [...BATCH, "--model", "discontinuous"], "--model: discontinuous instead of continuous"],
      ["options", [...BATCH, "--exhaustive"], "method or its options"],
      ["format", [...BATCH, "--format", "gff3"], "--format: gff3 instead of tsv"],
      ["queries", ["score", "--batch", "fewer.tsv"], "other queries"],
    ];
    writeFileSync(join(directory, "more.tsv"), `${table}${table.split("\t", 1)[0]}\tP.P\n`);
    writeFileSync(join(directory, "fewer.tsv"), table.slice(table.indexOf("\n") + 1));
    for (const [name, words, difference] of strays) {
      expect((await call([...words, "--shard", "1/3", "--output", `stray.${name}`])).code).toBe(0);
      await refusal([`stray.${name}`, names[1], names[2]], 65, `stray.${name} is of another run`, difference);
    }
    expect((await call([...BATCH, "--shard", "1/4", "--output", "stray.4"])).code).toBe(0);
    await refusal(["stray.4", names[1], names[2]], 65, "4 shards instead of 3", "Shard 1 of 3 is missing");
  });

  test("rejects altered files", async () => {
    const altered = change("altered.tsv", names[1], (content) => content.replace("P..P\t", "P.,P\t"));
    await refusal([names[0], altered, names[2]], 65, "altered.tsv was altered", "shard 2 of 3");
    const toScreen = await call(["merge", names[0], altered, names[2]]);
    expect([toScreen.code, toScreen.stdout]).toEqual([65, ""]);
    const renumbered = change("renumbered.tsv", names[0], (content) =>
      content.replace('"shard":1', '"shard":2').replace('"end":1', '"end":2'),
    );
    await refusal([names[0], renumbered, names[2]], 65, "renumbered.tsv was altered");
  });
});

test.each(["0/4", "5/4", "2", "a/b", "1/0", "-1/3", "1/1000001"])("rejects --shard %s", async (shard) => {
  const ended = await call([...BATCH, `--shard=${shard}`]);
  expect([ended.code, ended.stderr.includes("expected I/N such as 2/8")]).toEqual([64, true]);
});
