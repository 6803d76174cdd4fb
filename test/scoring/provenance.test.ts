import { expect, test } from "bun:test";
import { searchProvenance } from "../../src/scoring/prediction/provenance.ts";
import { joinProvenance, listProvenance, parseProvenance } from "../../src/scoring/table/provenance.ts";
import { VERSION } from "../../src/version.ts";

const SEARCH = searchProvenance({
  at: Date.UTC(2026, 10, 28, 23, 59),
  corpus: { name: "swissprot", hash: "0f", sequences: 7 },
  model: "continuous",
  pattern: { expression: "P..P", name: "LIG_SH3_1", dialect: "elm" },
  organism: null,
  features: { hash: "fe" },
  classModel: { hash: "cd" },
  prior: 0.01,
});

test("a search of a proteome has its day, its corpus, and the evidence that it used", () => {
  expect(SEARCH).toMatchObject({
    labd: VERSION,
    date: "2026-11-28",
    corpus: "swissprot",
    corpus_proteins: 7,
    options: { prior: 0.01 },
    features_sha256: "fe",
    class_models: { LIG_SH3_1: "cd" },
    patterns: [{ expression: "P..P", name: "LIG_SH3_1", dialect: "elm" }],
  });
});

test("names and values as text give the same provenance", () => {
  expect(parseProvenance(listProvenance(SEARCH))).toEqual(JSON.parse(JSON.stringify(SEARCH)));
});

test("results of different corpora keep theirs with each query", () => {
  const [one, two] = ["a", "b"].map((name) =>
    Object.assign({}, SEARCH, { corpus: name, queries: [{ name, md5: name, sequence: "M" }] }),
  );
  const joined = joinProvenance([one, two]);
  expect(joined).not.toHaveProperty("corpus");
  expect(joined.method).toBe(SEARCH.method);
  expect(joined.queries!.map(({ name, corpus }) => [name, corpus])).toEqual([
    ["a", "a"],
    ["b", "b"],
  ]);
});
