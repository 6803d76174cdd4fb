import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { main } from "../../src/commands/main.ts";
import { textTable } from "../../src/commands/text-table.ts";
import { labd, scratch } from "./labd.ts";

const place = scratch();
const DATA = ["--data-dir", join(place.directory, "data")];
beforeAll(async () => void (await labd(["corpus", "add", "--sample", ...DATA])));
afterAll(() => place[Symbol.dispose]());

/** What a terminal of some width shows. */
async function onTerminal(
  words: string[],
  columns: number,
  env: Record<string, string> = {},
): Promise<string> {
  let text = "";
  const write = (chunk: string | Uint8Array, done?: () => void): void => {
    text += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
    done?.();
  };
  const stdout = { isTTY: true, columns, write };
  expect(await main([...words, ...DATA], env, { stdout, stderr: { write: () => {} } })).toBe(0);
  return text;
}
const SCORE = ["score", "TP53", "--pattern", "F...W..[LIV]", "--pattern", "P..P"];

test("a terminal shows a table with verdicts in words and colour, others get TSV", async () => {
  const text = await onTerminal(SCORE, 100);
  expect(text).toStartWith("\u001B[1mTP53, Homo sapiens, P04637\u001B[0m: 393 residues, 26 homologs\nmotif ");
  expect(text).toContain("19-26    \u001B[1;34mLikely functional\u001B[0m  20 of 23");
  expect((await labd([...SCORE, ...DATA])).stdout).toMatch(/^(#.*\n)*query\tpattern\t/);
});

test.each([
  ["NO_COLOR", { NO_COLOR: "1" }],
  ["a terminal without colours", { TERM: "dumb" }],
])("%s turns colours off", async (_, env) => {
  const text = await onTerminal(SCORE, 100, env);
  expect(text).toContain("Likely functional");
  expect(text).not.toContain("\u001B");
});

test.each([80, 60, 30])("the table fits %i columns", async (columns) => {
  const lines = (await onTerminal(["scan", "P04637"], columns, { NO_COLOR: "1" })).split("\n").slice(1);
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  expect(lines.length).toBeGreaterThan(20);
});

test("names of proteins are enough, with the numbers of their sequences", async () => {
  const named = await labd(["scan", "TP53 mouse", "--classes", "MDM2-SWIB", "--format", "table", ...DATA]);
  expect(named.stdout).toStartWith("TP53 mouse, Mus musculus, P02340: 387 residues");
  const joint = await labd([
    "scan",
    "TP53",
    "E7",
    "--classes",
    "MDM2-SWIB",
    "--joint",
    "--format",
    "table",
    ...DATA,
  ]);
  expect(joint.stderr).toContain(
    "E7: the corpus in use has no protein with this accession, entry name or gene.",
  );
  expect(joint.stderr).toContain('Quote a name with its species: "TP53 E7". Did you mean P03129');
  const both = ["scan", "TP53", "P03129", "--classes", "MDM2-SWIB,LxCxE", "--joint", "--format", "table"];
  expect((await labd([...both, ...DATA])).stdout).toMatch(/TP53, MDM2-SWIB +FSDLWKLL/);
});

test.each([
  ["score TP53 --fasta x --pattern P", "PROTEIN and --fasta cannot be combined"],
  ["score TP53", "needs --pattern or --elm"],
  ["score TP53 --pattern P --format table --shard 1/2", "--format table is not for --shard"],
  ["scan TP53 --fasta x", "cannot be combined with --fasta"],
  ["scan", "labd scan needs --fasta FILE, --like FILE or proteins"],
])("rejects labd %s", async (words, message) => {
  const { code, stderr } = await labd([...words.split(" "), ...DATA]);
  expect([code, stderr]).toEqual([64, expect.stringContaining(message)]);
});

test("shortens flexible columns, then leaves out the last ones", () => {
  const rows = [["a long name of a motif", "match", "end"]];
  const fit = (width: number) => textTable(["motif", "match", "end"], rows, { width, flexible: [0] });
  expect(fit(30)).toBe("motif               match  end\na long name of a …  match  end\n");
  expect(fit(15)).toBe("motif     match\na long …  match\n");
});
