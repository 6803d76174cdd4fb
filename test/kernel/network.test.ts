import { expect, test } from "bun:test";
import { MODULE } from "../../src/kernel/module.ts";
import { Network, type NetworkShape, weightCount } from "../../src/kernel/network.ts";
import { random } from "../fixtures/random-protein.ts";
import { predictPlainly } from "./plain-network.ts";

function randomWeights(next: () => number, shape: NetworkShape): Float32Array {
  return Float32Array.from({ length: weightCount(shape) }, () => (next() - 0.5) * 0.8);
}

const randomCodes = (next: () => number, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, () => Math.floor(next() * 26));

/** Largest difference of any output of any residue. */
function largestDifference(shape: NetworkShape, weights: Float32Array, residues: Uint8Array): number {
  const outputs = new Network(shape, weights).predict(residues);
  expect(outputs.map(({ length }) => length)).toEqual(Array(shape.outputs).fill(residues.length));
  const wanted = predictPlainly(shape, weights, residues);
  const differences = outputs.flatMap((values, k) =>
    [...values].map((value, i) => Math.abs(value - wanted[i]![k]!)),
  );
  return Math.max(0, ...differences);
}

test("outputs equal ordinary loops in double precision for random shapes, weights and chains", () => {
  const next = random(1);
  for (let round = 0; round < 40; round++) {
    const shape = {
      span: 1 + 2 * Math.floor(next() * 7),
      width: 8 * (1 + Math.floor(next() * 3)),
      blocks: Math.floor(next() * 4),
      outputs: 1 + Math.floor(next() * 8),
    };
    const residues = randomCodes(next, round < 10 ? round : Math.floor(next() * 60));
    expect(largestDifference(shape, randomWeights(next, shape), residues)).toBeLessThan(1e-5);
  }
});

test("outputs stay 0 to 1 and equal the oracle where gates and outputs are saturated", () => {
  const next = random(2);
  const shape = { span: 5, width: 8, blocks: 1, outputs: 3 };
  const weights = randomWeights(next, shape).map((weight) => weight * 60);
  const residues = randomCodes(next, 30);
  for (const values of new Network(shape, weights).predict(residues)) {
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThanOrEqual(1);
  }
  expect(largestDifference(shape, weights, residues)).toBeLessThan(1e-3);
});

test("a prediction does not depend on earlier ones", () => {
  const next = random(3);
  const shape = { span: 7, width: 16, blocks: 2, outputs: 2 };
  const weights = randomWeights(next, shape);
  const network = new Network(shape, weights);
  for (const length of [50, 3, 200, 1, 50, 0, 7]) {
    const residues = randomCodes(next, length);
    expect(network.predict(residues)).toEqual(new Network(shape, weights).predict(residues));
  }
});

test("refuses weights that do not fit the shape", () => {
  const shape = { span: 3, width: 8, blocks: 1, outputs: 1 };
  expect(() => new Network(shape, new Float32Array(weightCount(shape) - 1))).toThrow("do not fit the shape");
});

test("the module imports no function, so that no platform computes its exponential differently", () => {
  expect(WebAssembly.Module.imports(new WebAssembly.Module(Uint8Array.fromBase64(MODULE)))).toEqual([]);
});
