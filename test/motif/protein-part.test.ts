import { expect, test } from "bun:test";
import { decode, openCorpus, packCorpus, predict, readFasta } from "../../src/motif/index.ts";
import { partWarning, readPartWarning } from "../../src/motif/protein-text.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };

const CORPUS = openCorpus(packCorpus("sample", readFasta(proteins)));
const at = CORPUS.findAccession("P04637");
const P53 = decode(CORPUS.residues.subarray(CORPUS.offsets[at], CORPUS.offsets[at + 1]));
const PATTERNS = [{ expression: "F...W..[LIV]", name: null }];
const warnings = (query: string): string[] =>
  predict({ query, patterns: PATTERNS, model: "continuous" }, CORPUS).warnings;

test.each([
  [1, 60],
  [94, 292],
  [2, 393],
])("recognizes residues %i to %i of a protein of the corpus", (start, end) => {
  const [first] = warnings(P53.slice(start - 1, end));
  expect(first).toStartWith(
    `The query is residues ${start}–${end} of P04637 (TP53, Homo sapiens). Score the whole`,
  );
  expect(readPartWarning(first)).toEqual({ accession: "P04637", names: "TP53, Homo sapiens", start, end });
});

test.each([
  ["the whole protein", P53],
  ["a mutant", `M${"A".repeat(4)}${P53.slice(5, 80)}`],
])("does not take %s for a part", (_, query) => {
  expect(warnings(query).map(readPartWarning)).not.toContainEqual(expect.anything());
});

test("reads the warning that it prints, also without names", () => {
  const part = { accession: "NP_000537.3", names: "", start: 2, end: 30 };
  expect(readPartWarning(partWarning(part))).toEqual(part);
  expect(readPartWarning("No homologs were found.")).toBeNull();
});
