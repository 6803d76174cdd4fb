/**
 * Draws the proteins in which the random matches of a pattern are sought: src/motif/reference-proteins.ts. Then fit the shapes.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/reference-proteins.ts
 *
 * Eukaryotic proteins of Swiss-Prot outside the collection of the benchmarks, of those for fitting the null distribution.
 */
import { join } from "node:path";
import { decode } from "../../src/motif/alphabet.ts";
import { predictDisorder } from "../../src/motif/disorder/disorder.ts";
import { shuffled } from "../../src/motif/random.ts";
import { benchCorpus, benchData } from "./benchmark-data.ts";
import { drawNullProteins } from "./null-proteins.ts";

const SEED = 4;
const PROTEINS = 150;
const MIN_LENGTH = 100;
const MAX_LENGTH = 700;
const LEVELS = 255;
const WIDTH = 104;

const directory = benchData();
const candidates = drawNullProteins(directory, benchCorpus(directory)).filter(
  ({ kingdom, isFit, residues: { length } }) =>
    isFit && kingdom === "eukaryotes" && length >= MIN_LENGTH && length <= MAX_LENGTH,
);
const drawn = Array.from(shuffled(candidates.length, SEED).subarray(0, PROTEINS), (i) => candidates[i]);
const order = drawn.flatMap(({ residues }) => [...predictDisorder(residues).order]);
const constant = (name: string, text: string): string => {
  const lines = text.match(new RegExp(`.{1,${WIDTH}}`, "g"))!.map((line) => `  "${line}"`);
  return `export const ${name} =\n${lines.join(" +\n")};\n`;
};
const text = `/**
 * ${PROTEINS} eukaryotic proteins of Swiss-Prot (January 2014; UniProt Consortium, CC BY 4.0) and their predicted order as bytes
 * in base64, made by test/bench/reference-proteins.ts; do not edit.
 */
${constant("SEQUENCES", drawn.map(({ residues }) => decode(residues)).join(" "))}
${constant("ORDER", Uint8Array.from(order, (value) => Math.round(value * LEVELS)).toBase64())}`;
const path = join(import.meta.dir, "../../src/motif/reference-proteins.ts");
await Bun.write(path, text);
console.log(`Wrote ${path}: ${order.length} residues; run quality.bench.ts write`);
