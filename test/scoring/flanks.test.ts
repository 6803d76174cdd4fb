import { expect, test } from "bun:test";
import { openCorpus, packCorpus, readFasta } from "../../src/motif/index.ts";
import { readFlanks } from "../../src/scoring/proteome/flanks.ts";

const corpus = openCorpus(packCorpus("two", readFasta(">P1\nMKVLAC\n>P2\nDEFGHIKLMN\n")));
const match = (accession: string, length: number, start: number, end: number) => ({
  protein: { accession, entryName: null, name: "", gene: null, organism: null, taxon: null, length },
  start,
  end,
});

test.each([
  [match("P2", 10, 5, 6), "DEFG", "KLMN"],
  [match("P2", 10, 1, 2), "", "FGHI"],
  [match("P2", 10, 8, 10), "GHIK", ""],
  [match("P1", 6, 2, 5), "M", "C"],
  [match("P3", 6, 2, 5), "", ""],
])("the flanks of %p are %p and %p", (of, before, after) => {
  expect(readFlanks(corpus, of)).toEqual({ before, after });
});

test("a match has no flanks after its corpus is removed", () => {
  expect(readFlanks(null, match("P1", 6, 2, 3))).toEqual({ before: "", after: "" });
});
