import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encode } from "../../src/motif/alphabet.ts";
import { decodeWeights, average, predictDisorder, SHAPE } from "../../src/motif/disorder/disorder.ts";
import { Network, weightCount } from "../../src/kernel/network.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { predictPlainly } from "../kernel/plain-network.ts";
import { cpuTime } from "./cpu-time.ts";

const ROOT = join(import.meta.dir, "../..");
const GOLDEN = join(ROOT, "test/golden/motif/disorder.tsv");

/** p53, P04637. */
const p53 = encode((proteins as unknown as string).split(">")[1]!.split("\n").slice(1).join(""));

/** Residues counted from 1, both ends included. */
const meanBetween = (values: Float32Array, first: number, last: number): number =>
  average(values, first - 1, last);

test("the trained network predicts the disorder of p53 like plain loops in double precision", () => {
  const weights = decodeWeights();
  expect(weights.length).toBe(weightCount(SHAPE));
  const outputs = new Network(SHAPE, weights).predict(p53);
  for (const [i, row] of predictPlainly(SHAPE, weights, p53).entries())
    for (const [k, value] of row.entries()) expect(Math.abs(outputs[k]![i]! - value)).toBeLessThan(1e-5);
});

// The order of each sum and every function are fixed (src/kernel/assembly/network.ts): no digit may differ.
// `GOLDEN=write bun test test/motif/disorder.test.ts` writes the table after training.
test("predictions for p53 equal the golden table to six decimals on every platform", async () => {
  const { disorder, order } = predictDisorder(p53);
  const rows = Array.from(p53, (_, i) => `${i + 1}\t${disorder[i]!.toFixed(6)}\t${order[i]!.toFixed(6)}`);
  const table = `residue\tdisorder\torder\n${rows.join("\n")}\n`;
  if (Bun.env.GOLDEN === "write") await Bun.write(GOLDEN, table);
  expect(table).toBe(readFileSync(GOLDEN, "utf8"));
});

test("p53 has disordered tails and an ordered DNA-binding domain", () => {
  expect(p53.length).toBe(393);
  const { disorder, order } = predictDisorder(p53);
  expect(meanBetween(disorder, 30, 90)).toBeGreaterThan(0.5);
  expect(meanBetween(disorder, 363, 393)).toBeGreaterThan(0.5);
  expect(meanBetween(disorder, 102, 292)).toBeLessThan(0.5);
  expect(meanBetween(order, 102, 292)).toBeGreaterThan(0.7);
  expect(meanBetween(order, 363, 393)).toBeLessThan(0.7);
});

test("an empty chain has no predictions, and its mean is 0.5", () => {
  const { disorder, order } = predictDisorder(new Uint8Array());
  expect([disorder.length, order.length]).toEqual([0, 0]);
  expect(average(disorder)).toBe(0.5);
});

test("a single residue has predictions from 0 to 1", () => {
  for (const letter of "AWKX") {
    const { disorder, order } = predictDisorder(encode(letter));
    expect([disorder.length, order.length]).toEqual([1, 1]);
    expect(disorder[0]).toBeWithin(0, 1);
    expect(order[0]).toBeWithin(0, 1);
  }
});

test("all residues other than the standard 20 count as the same unknown residue", () => {
  const withThird = (letter: string): unknown => predictDisorder(encode(`MKTAYIAK${letter}RQISFVKSHFSRQ`));
  for (const letter of "BJOUZxz*") expect(withThird(letter)).toEqual(withThird("X"));
  for (const letter of "ACDEFGHIKLMNPQRSTVWY") expect(withThird(letter)).not.toEqual(withThird("X"));
  const { disorder } = predictDisorder(encode("X".repeat(50)));
  for (const value of disorder) expect(value).toBeWithin(0, 1);
});

test("a chain as long as titin takes at most 2 s and 4 kB per residue", () => {
  const titin = randomProtein(random(1), 35_000);
  const before = process.memoryUsage.rss();
  let length = 0;
  expect(cpuTime(() => (length = predictDisorder(titin).order.length))).toBeLessThan(2000);
  expect(length).toBe(35_000);
  expect(process.memoryUsage.rss() - before).toBeLessThan(35_000 * 4096);
});

test("no source of the predictions uses a function of Math that platforms may round differently", () => {
  const sources = ["motif/disorder/disorder", "kernel/network", "kernel/assembly/network"];
  const used = sources.flatMap((source) => {
    const text = readFileSync(join(ROOT, `src/${source}.ts`), "utf8");
    return [...text.matchAll(/\bMathf?\.(\w+)/g)].map(([, name]) => name!);
  });
  expect([...new Set(used)].sort()).toEqual(["LOG2E", "ceil", "round"]);
});
