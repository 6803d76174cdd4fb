import { describe, expect, test } from "bun:test";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { DEFAULTS, openCorpus, predict, predictFromAlignment } from "../../src/motif/index.ts";
import { decode, encode } from "../../src/motif/alphabet.ts";
import { applyVariant, listVariants, readVariant, revertVariant } from "../../src/motif/variant.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

/** Residues 1 to 30 of human p53 (UniProt P04637), which MDM2 binds at F19, W23 and L26 (Kussie et al., Science 1996, 274:948). */
const P53_END = "MEEPQSDPSVEPPLSQETFSDLWKLLPENN";

describe("texts of variants", () => {
  test.each(["W23A", "w23a", "p.Trp23Ala", "p.(Trp23Ala)", "Trp23Ala", "p.W23A", "23 W A", "23\tw\ta"])(
    "%j is W23A",
    (text) => expect(readVariant(text, P53_END)).toBe("W23A"),
  );

  test("a haplotype is in the order of its residues", () => {
    expect(readVariant("W23A+p.Phe19Ala", P53_END)).toBe("F19A+W23A");
    expect(applyVariant(P53_END, "F19A+W23A")).toBe("MEEPQSDPSVEPPLSQETASDLAKLLPENN");
    expect(revertVariant("MEEPQSDPSVEPPLSQETASDLAKLLPENN", "F19A+W23A")).toBe(P53_END);
    expect(revertVariant(P53_END)).toBe(P53_END);
  });

  test.each([
    ["L23A", "L23A: residue 23 is W, not L."],
    ["W31A", "W31A: the protein has 30 residues."],
    ["M0A", "M0A: the protein has 30 residues."],
    ["W23A+W23L", "W23A+W23L: residue 23 is changed twice."],
    ["W23", '"W23" is no substitution. Expected W23A'],
    ["W23*", '"W23*" is no substitution.'],
    ["W23X", '"W23X" is no substitution.'],
    ["p.Trp23Ter", '"p.Trp23Ter" is no substitution.'],
    ["p.Trp23del", '"p.Trp23del" is no substitution.'],
    ["W23A+", '"" is no substitution.'],
  ])("%s is refused", (text, message) => expect(() => readVariant(text, P53_END)).toThrow(message));

  test("lists have commas, white space and lines, and comments", () => {
    expect(listVariants("W23A, F19A + L26A;p.Trp23Ala\n# position, residue\n23\tW\tA\r\n E2K  P4L ")).toEqual(
      ["W23A", "F19A+L26A", "p.Trp23Ala", "23\tW\tA", "E2K", "P4L"],
    );
    expect(listVariants(" \n")).toEqual([]);
  });
});

/** A diverged family with the motif of MDM2 in one place, with ends that no alignment reaches. */
function family() {
  const next = random(23);
  const [head, tail] = [randomProtein(next, 90), randomProtein(next, 110)];
  const members = Array.from({ length: 12 }, () =>
    Uint8Array.from([
      ...randomProtein(next, 12),
      ...mutated(next, head, 0.4),
      ...encode("FSDLWKLL"),
      ...mutated(next, tail, 0.4),
      ...randomProtein(next, 9),
    ]),
  );
  const entries = members.map((residues, i) => {
    return { accession: `P${i}`, description: "", organism: null, speciesKey: null, residues };
  });
  const query = `${decode(head)}FSDLWKLL${decode(tail)}`;
  return { query, corpus: openCorpus(packCorpus("family", entries)) };
}

const patterns = [
  { expression: "F...W..[LIV]", name: null },
  { expression: "[ST].", name: null },
];

test("a substitution breaks a match; all else is that of the unchanged protein", () => {
  const { query, corpus } = family();
  const request = { query, patterns, model: "continuous" as const };
  const plain = predict(request, corpus);
  const changed = predict({ ...request, variant: "W95A" }, corpus);
  expect(plain.patterns[0].matches.map(({ start, text }) => [start, text])).toEqual([[91, "FSDLWKLL"]]);
  expect(changed.patterns[0].matches).toEqual([]);
  expect(changed.alignment.query).toBe(`${query.slice(0, 94)}A${query.slice(95)}`);
  expect(changed.homologs.map(({ accession, eValue }) => [accession, eValue])).toEqual(
    plain.homologs.map(({ accession, eValue }) => [accession, eValue]),
  );
  expect(changed.alignment.rows).toEqual(plain.alignment.rows);
  // The unchanged residue: the same numbers, also of matches at the ends.
  expect(predict({ ...request, variant: "W95W" }, corpus)).toEqual(plain);
});

test("homologs near the least identity stay with a substitution", () => {
  const { query, corpus } = family();
  const request = { query, patterns, model: "continuous" as const };
  const least = Math.min(...predict(request, corpus).homologs.map(({ identity }) => identity));
  const plain = predict(request, corpus, { ...DEFAULTS, minIdentity: least - 1e-6 });
  const changed = predict({ ...request, variant: "F91A+W95A+L98A" }, corpus, {
    ...DEFAULTS,
    minIdentity: least - 1e-6,
  });
  expect(Math.min(...changed.homologs.map(({ identity }) => identity))).toBeLessThan(least - 1e-6);
  expect(changed.homologs).toHaveLength(plain.homologs.length);
});

test("a substitution in an alignment of the user adds a match", () => {
  const rows = ["AAWKLLPEN", "AFWKLLPEN", "FFWKLLPEN"].map((letters, i) => ({ name: `r${i}`, letters }));
  const request = { rows, patterns: [{ expression: "F.W", name: null }], model: "continuous" as const };
  expect(predictFromAlignment(request).patterns[0].matches).toEqual([]);
  const [match] = predictFromAlignment({ ...request, variant: "A1F" }).patterns[0].matches;
  expect(match).toMatchObject({ start: 1, text: "FAW", kept: 1, homologs: 2 });
});
