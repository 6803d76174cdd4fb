import { describe, expect, test } from "bun:test";
import {
  type ClassFacts,
  factsMatter,
  featureEvidence,
  type KnownFeatures,
} from "../../src/motif/knowledge.ts";
import { markedResidue } from "../../src/motif/marked-residue.ts";
import { parsePattern } from "../../src/motif/pattern.ts";

const NONE: KnownFeatures = {
  hash: "",
  domains: [],
  targeting: [],
  membrane: [],
  inside: [],
  outside: [],
  phosphosites: [],
  compartments: [],
};
const INSIDE: ClassFacts = { compartments: ["inside"], phosphosite: null };
const OUTSIDE: ClassFacts = { compartments: ["outside"], phosphosite: null };
const PHOSPHO: ClassFacts = { compartments: [], phosphosite: { letters: "ST", at: 2 } };
/** Residues 11 to 14. */
const PLACE = { start: 11, end: 14, text: "ASPS" };
const folded = new Float32Array(40).fill(0.9);
const disordered = new Float32Array(40).fill(0.4);

const evidence = (features: Partial<KnownFeatures>, facts?: ClassFacts, order = folded) =>
  featureEvidence({ ...NONE, ...features }, facts, PLACE, order);

describe("evidence of known features", () => {
  test("a match counts as inside a folded domain from half of it on", () => {
    expect(evidence({ domains: [[1, 12]] })).toEqual({ domain: -0.2 });
    expect(evidence({ domains: [[1, 11]] })).toEqual({});
    expect(evidence({ domains: [[1, 30]] }, undefined, disordered)).toEqual({});
  });

  test("a signal peptide, a membrane and the wrong side count once, by the strongest", () => {
    expect(evidence({ targeting: [[1, 20]] })).toEqual({ topology: -1.4 });
    expect(evidence({ membrane: [[10, 30]] })).toEqual({ topology: -1 });
    expect(evidence({ outside: [[1, 20]] }, INSIDE)).toEqual({ topology: -1.9 });
    expect(evidence({ outside: [[1, 20]], targeting: [[1, 20]] }, INSIDE)).toEqual({ topology: -1.9 });
    expect(evidence({ inside: [[1, 20]] }, OUTSIDE)).toEqual({ topology: -1.9 });
  });

  test.each([
    ["the right side", { outside: [[1, 20]] as const }, OUTSIDE],
    ["an unknown class", { outside: [[1, 20]] as const, compartments: ["outside"] as const }, undefined],
    ["a class on both sides", { outside: [[1, 20]] as const }, { compartments: [], phosphosite: null }],
    ["a compartment of both", { compartments: ["inside", "outside"] as const }, INSIDE],
  ])("says nothing: %s", (_, features, facts) => {
    expect(evidence(features, facts)).toEqual({});
  });

  test("a compartment without the partner counts against the match", () => {
    expect(evidence({ compartments: ["outside"] }, INSIDE)).toEqual({ compartment: -1.8 });
    expect(evidence({ compartments: ["inside"] }, OUTSIDE)).toEqual({ compartment: -1.8 });
  });

  test("a phosphosite counts at the right residue only, and its absence only beside others", () => {
    expect(evidence({ phosphosites: [12] }, PHOSPHO)).toEqual({ phosphosite: 0.5 });
    expect(evidence({ phosphosites: [14] }, PHOSPHO)).toEqual({ phosphosite: -0.2 });
    expect(evidence({ phosphosites: [14] }, { ...PHOSPHO, phosphosite: { letters: "ST", at: -1 } })).toEqual({
      phosphosite: 0.5,
    });
    expect(
      evidence({ phosphosites: [14] }, { ...PHOSPHO, phosphosite: { letters: "ST", at: null } }),
    ).toEqual({ phosphosite: 0.5 });
    expect(
      evidence({ phosphosites: [11] }, { ...PHOSPHO, phosphosite: { letters: "ST", at: null } }),
    ).toEqual({ phosphosite: -0.2 });
    expect(evidence({ domains: [[30, 40]] }, PHOSPHO)).toEqual({});
  });
});

test("facts matter only where a feature can make them count", () => {
  const matters = (facts: ClassFacts, features: Partial<KnownFeatures>) =>
    factsMatter(facts, { ...NONE, ...features });
  expect(matters(INSIDE, { compartments: ["inside"], inside: [[1, 9]] })).toBe(false);
  expect(matters(INSIDE, { compartments: ["inside", "outside"], outside: [[1, 9]] })).toBe(true);
  expect(matters(INSIDE, { compartments: ["outside"] })).toBe(true);
  expect(matters(PHOSPHO, { compartments: ["outside"] })).toBe(false);
  expect(matters(PHOSPHO, { phosphosites: [3] })).toBe(true);
});

test.each([
  ["..[DE].(T)P.K", { letters: "T", at: 5 }],
  ["R[^DE]{0,2}[^DEPG]([ST])[^P]{2}", { letters: "ST", at: -3 }],
  ["R{1,2}([ST])(..|P).?", { letters: "ST", at: null }],
  ["(?<=A)^A{2}(Y)(?=P)", { letters: "Y", at: 3 }],
  ["(A.)S", null],
  ["((S)P)|((T)A)", null],
])("finds the residue that %s marks", (expression, found) => {
  expect(markedResidue(parsePattern(expression, "elm"))).toEqual(found);
});
