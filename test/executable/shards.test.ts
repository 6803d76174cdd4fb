import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { killedAmid, labd, type Ended } from "./labd.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

/** Shards of one run, and what puts them together: byte for byte what the run without shards prints. */

let directory: string;
let env: Record<string, string>;
const records = proteins.split(/^>/m).slice(1, 41);
const rows = records.map((record) => `${record.split(/\s/, 1)[0]}\tP..P\n`);
const table = rows.slice(0, 6).join("");

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-shards-"));
  env = { LABD_DATA_DIR: join(directory, "data"), LABD_WORKERS: "1" };
  await labd(["corpus", "add", "--sample"], { env });
  writeFileSync(join(directory, "pairs.tsv"), table);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const call = (words: string[], stdin = ""): Promise<Ended> => labd(words, { env, stdin, cwd: directory });
const text = (name: string): string => readFileSync(join(directory, name), "utf8");
const BATCH = ["score", "--batch", "pairs.tsv"];

/** Runs all shards and returns their files' names. */
async function shards(words: string[], of: number, ending: string): Promise<string[]> {
  const names = Array.from({ length: of }, (_, i) => `part.${i + 1}.${ending}`);
  await Promise.all(
    names.map(async (name, i) => {
      // Each by another number of threads: nothing may depend on it.
      const run = [...words, "--shard", `${i + 1}/${of}`, "--output", name, "--workers", String((i % 3) + 1)];
      expect((await call(run)).code).toBe(0);
    }),
  );
  return names;
}

describe("merged shards are the run without shards", () => {
  test.each(["tsv", "json", "gff3", "xml"])("%s, given in any order", async (format) => {
    const words = [...BATCH, "--format", format];
    const names = await shards(words, 2, format);
    expect(await call(["merge", ...names.toReversed(), "--output", `all.${format}`])).toMatchObject({
      code: 0,
      stderr: "",
    });
    const whole = (await call(words)).stdout;
    expect(whole.length).toBeGreaterThan(1000);
    expect(text(`all.${format}`)).toBe(whole);
    if (format === "tsv") expect((await call(["merge", ...names])).stdout).toBe(whole);
    if (format === "json") for (const line of text(names[1]).trim().split("\n")) JSON.parse(line);
  });

  test("from standard input to standard output, with more shards than queries", async () => {
    const words = ["score", "--fasta", "-", "--pattern", "P..P", "--elm", "LIG_PCNA_PIPBox_1"];
    const few = records
      .slice(0, 2)
      .map((record) => `>${record}`)
      .join("");
    const names = await Promise.all(
      [1, 2, 3, 4, 5].map(async (i) => {
        const { stdout, code } = await call([...words, "--shard", `${i}/5`], few);
        expect(code).toBe(0);
        writeFileSync(join(directory, `few.${i}.tsv`), stdout);
        return `few.${i}.tsv`;
      }),
    );
    expect((await call(["merge", ...names])).stdout).toBe((await call(words, few)).stdout);
  });
});

test("a shard that is killed goes on where it was; one that is whole is left as it is", async () => {
  writeFileSync(join(directory, "many.tsv"), rows.join(""));
  const MANY = ["score", "--batch", "many.tsv"];
  const words = [...MANY, "--shard", "2/2", "--output", "killed.tsv"];
  await killedAmid(words, env, join(directory, "killed.tsv"), 3, directory);
  expect((await call([...MANY, "--shard", "1/2", "--output", "first.tsv"])).code).toBe(0);
  const early = await call(["merge", "first.tsv", "killed.tsv", "--output", "both.tsv"]);
  expect(early.code).toBe(75);
  expect(early.stderr).toContain("killed.tsv is cut off: shard 2 of 2 has no end");
  expect(early.stderr).not.toContain("missing");
  const other = await call([...MANY, "--shard", "1/2", "--output", "killed.tsv", "--resume"]);
  expect([other.code, other.stderr.includes("begun with other queries")]).toEqual([75, true]);
  expect((await call([...words, "--resume"])).code).toBe(0);
  const again = await call([...words, "--resume"]);
  expect([again.code, again.stderr]).toEqual([0, "labd: killed.tsv is complete: nothing to do.\n"]);
  const foreign = await call([...MANY, "--shard", "1/2", "--output", "killed.tsv", "--resume"]);
  expect([foreign.code, foreign.stderr.includes("shard 2 of 2 of another run")]).toEqual([75, true]);
  expect((await call(["merge", "first.tsv", "killed.tsv", "--output", "both.tsv"])).code).toBe(0);
  expect(text("both.tsv")).toBe((await call(MANY)).stdout);
});

describe("what does not belong together is refused, file by file, and nothing is written", () => {
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

  test("missing, double, cut off, not there, no shard", async () => {
    await refusal([names[1]], 75, "Shards 1, 3 of 3 are missing");
    await refusal([names[0], names[1], names[1], names[2]], 65, `${names[1]} is shard 2 of 3, as`);
    const cut = change("cut.tsv", names[2], (content) => content.slice(0, content.length / 2));
    await refusal([names[0], names[1], cut], 75, "cut.tsv is cut off: shard 3 of 3", "--resume");
    await refusal(
      ["gone.tsv", "pairs.tsv", ...names],
      65,
      "no file gone.tsv",
      "pairs.tsv is no shard: expected a file of labd score --shard",
    );
    expect((await call(["merge"])).code).toBe(64);
    expect((await call(["merge", ...names, "--output", "pairs.tsv"])).stderr).toContain("is there already");
  });

  test("of another run: the stray is named, whichever comes first, with what differs", async () => {
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

  test("altered: by a byte in the results, or in what it says of itself", async () => {
    const altered = change("altered.tsv", names[1], (content) => content.replace("P..P\t", "P.,P\t"));
    await refusal([names[0], altered, names[2]], 65, "altered.tsv is not as it was written", "shard 2 of 3");
    const toScreen = await call(["merge", names[0], altered, names[2]]);
    expect([toScreen.code, toScreen.stdout]).toEqual([65, ""]);
    const renumbered = change("renumbered.tsv", names[0], (content) =>
      content.replace('"shard":1', '"shard":2').replace('"end":1', '"end":2'),
    );
    await refusal([names[0], renumbered, names[2]], 65, "renumbered.tsv is not as it was written");
  });
});

test.each(["0/4", "5/4", "2", "a/b", "1/0", "-1/3", "1/1000001"])("--shard %s is refused", async (shard) => {
  const ended = await call([...BATCH, `--shard=${shard}`]);
  expect([ended.code, ended.stderr.includes("expected I/N such as 2/8")]).toEqual([64, true]);
});
