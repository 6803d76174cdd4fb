import { expect, test } from "bun:test";
import { encode, GAP } from "../../src/motif/alphabet.ts";
import { distances, kimuraDistance } from "../../src/motif/distance.ts";

function row(text: string): Uint8Array {
  return encode(text).map((code, i) => (text[i] === "-" ? GAP : code));
}

test("Kimura's distance is 0 for equal rows, increases with differences, and has a maximum", () => {
  expect(kimuraDistance(0)).toBe(0);
  expect(kimuraDistance(0.1)).toBeCloseTo(-Math.log(1 - 0.1 - 0.2 * 0.01), 12);
  for (let p = 0.05; p < 1; p += 0.05) {
    expect(kimuraDistance(p)).toBeGreaterThan(p);
    expect(kimuraDistance(p)).toBeGreaterThanOrEqual(kimuraDistance(p - 0.05));
  }
  expect(kimuraDistance(0.9)).toBe(-Math.log(0.05));
  expect(kimuraDistance(1)).toBe(-Math.log(0.05));
});

test("distances use only columns with two standard residues", () => {
  const matrix = distances([
    row("ACDEFGHIKLMN"),
    row("ACDEFGHIKLMN"),
    row("ACDEFGHIKVMX"),
    row("ACDEFGHIK---"),
  ]);
  expect(matrix[1]).toBe(0);
  expect(matrix[2]).toBeCloseTo(kimuraDistance(1 / 11), 12);
  // Nine shared columns are too few.
  expect(matrix[3]).toBe(kimuraDistance(0.9));
  for (let i = 0; i < 4; i++) {
    expect(matrix[i * 4 + i]).toBe(0);
    for (let j = 0; j < 4; j++) expect(matrix[i * 4 + j]).toBe(matrix[j * 4 + i]);
  }
});
