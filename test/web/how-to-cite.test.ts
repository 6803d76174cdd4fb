import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json";
import { citedIn, listCitations } from "../../src/web/score/how-to-cite.tsx";

const CORPUS = { name: "swissprot", hash: "0123456789abcdef".repeat(4), sequences: 48_869 };
const RESULT = {
  provenance: { labd: "0.2.0", date: "2026-11-28" },
  method: "labd-4",
  model: "continuous" as const,
  corpus: CORPUS,
};

test("a citation names version, method, model and corpus, and ELM only for its classes", () => {
  const [labd, ...others] = listCitations(citedIn(RESULT)!, ["P..P", "MDM2-SWIB"]);
  expect(labd).toBe(
    "labd 0.2.0 (method labd-4, continuous model), conservation scoring of short linear motifs. Homologs from swissprot, 48,869 proteins, SHA-256 0123456789ab. Scored on 2026-11-28.",
  );
  expect(others).toEqual([expect.stringContaining("BMC Bioinformatics 9:229")]);
  const [own, , elm] = listCitations(citedIn({ ...RESULT, corpus: null })!, ["LIG_SH3_1"]);
  expect(own).not.toContain("Homologs");
  expect(elm).toContain("Kumar M");
  expect(citedIn({ method: "labd-4", corpus: CORPUS })).toBeUndefined();
});

test("CITATION.cff has the version of the package, and what CFF 1.2.0 requires", () => {
  const file = Bun.YAML.parse(readFileSync(join(import.meta.dir, "../../CITATION.cff"), "utf8"));
  expect(file).toMatchObject({
    "cff-version": "1.2.0",
    message: expect.any(String),
    title: expect.stringMatching(/^labd/),
    type: "software",
    version: manifest.version,
    license: manifest.license,
    authors: [{ name: expect.any(String) }],
    references: [{ type: "article", title: expect.any(String), authors: expect.any(Array), year: 2008 }],
  });
});

test("the entry for bio.tools has the version of the package, and terms of EDAM with their addresses", () => {
  const text = readFileSync(join(import.meta.dir, "../../packaging/bio.tools.json"), "utf8");
  const [entry] = JSON.parse(text) as Record<string, unknown>[];
  expect(entry).toMatchObject({
    name: "labd",
    homepage: expect.stringMatching(/^https?:/),
    version: [manifest.version],
    license: manifest.license,
    publication: [{ doi: "10.1186/1471-2105-9-229" }],
  });
  // Lengths and patterns of biotoolsSchema 3.3.
  expect((entry.description as string).length).toBeLessThanOrEqual(1000);
  const terms = [...text.matchAll(/"term": "[^"]+",\s*"uri": "([^"]+)"/g)].map(([, uri]) => uri);
  expect(terms.length).toBe(text.match(/"uri"/g)!.length);
  for (const uri of terms)
    expect(uri).toMatch(/^http:\/\/edamontology\.org\/(topic|operation|data|format)_\d{4}$/);
});
