import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { NamedQuery } from "../../src/scoring/prediction/prediction.ts";
import type { Prediction } from "../../src/motif/index.ts";
import {
  buildFamilies,
  listFamilies,
  onThreads,
  openScoring,
  planBuild,
  searchProteome,
} from "../../src/scoring/index.ts";
import { waitFor } from "../wait.ts";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

setDefaultTimeout(120_000);

/** Artificial features of p53, one of each kind. */
const FEATURES = `##gff-version 3
P04637\t.\tDomain\t94\t289\t.\t.\t.\tNote=Artificial
P04637\t.\tSignal peptide\t1\t12\t.\t.\t.\tID=a
P04637\t.\tTopological domain\t13\t56\t.\t.\t.\tNote=Extracellular
P04637\t.\tTransmembrane\t57\t80\t.\t.\t.\tNote=Helical
P04637\t.\tModified residue\t33\t33\t.\t.\t.\tNote=Phosphoserine
P04637\t.\tSubcellular location\t1\t393\t.\t.\t.\tNote=Secreted
`;
const MOTIFS = { patterns: ["^M.EP", "APAP", "LLG"], motifClasses: ["DEG_MDM2_SWIB_1", "WW-PIN1"] };

/** Contributions of features by the place of the match. */
const EXPECTED = {
  "^M.EP 1": { topology: -1.4 },
  "APAP 74": { topology: -1 },
  "LLG 264": { domain: -0.2 },
  "DEG_MDM2_SWIB_1 19": { topology: -1.9, compartment: -1.8 },
  "WW-PIN1 33": { topology: -1.9, compartment: -1.8, phosphosite: 0.5 },
  "WW-PIN1 46": { topology: -1.9, compartment: -1.8, phosphosite: -0.2 },
};

/** z and the contributions of features of each match, by motif and place. */
const readMatches = ({ patterns }: Pick<Prediction, "patterns">) =>
  Object.fromEntries(
    patterns.flatMap(({ name, expression, matches }) =>
      matches.map(({ start, z, contributions }) => {
        const { domain, topology, compartment, phosphosite } = contributions!;
        return [`${name ?? expression} ${start}`, { z, domain, topology, compartment, phosphosite }];
      }),
    ),
  );

const featuresHash = ({ provenance }: Pick<NamedQuery, "provenance">): string | undefined =>
  provenance!.queries![0].features_sha256;

let alone: ScoringAlone;
beforeEach(async () => {
  alone = await openScoringAlone({ corpus: true, workers: 1 });
});
afterEach(() => alone.close());

const addFeatures = (text = FEATURES) =>
  alone.scoring.importFeatures({ source: new Blob([text]).stream(), name: "some" });
const score = async (more: object = {}): Promise<string> =>
  (await alone.ask("POST", "/jobs", { body: { querySequence: P53, ...MOTIFS, ...more } })).json.id;
async function result(id: string): Promise<Prediction & Pick<NamedQuery, "provenance">> {
  await ended(alone, id);
  return (await alone.ask("GET", `/jobs/${id}/result`)).json;
}

test("features of each kind change z by their contributions; without features nothing changes", async () => {
  const before = await result(await score());
  expect(featuresHash(before)).toBeUndefined();
  await addFeatures();
  const after = await result(await score());
  expect(featuresHash(after)).toMatch(/^[0-9a-f]{64}$/);
  const [old, matches] = [readMatches(before), readMatches(after)];
  expect(matches).toMatchObject(EXPECTED);
  for (const [place, { z, ...parts }] of Object.entries(matches)) {
    const sum = Object.values(parts).reduce<number>((all, part = 0) => all + part, old[place].z!);
    expect(z!).toBeCloseTo(sum, 5);
  }
  const ignoring = await result(await score({ ignoreFeatures: true }));
  expect(ignoring.provenance).toMatchObject({ ignored: ["features"] });
  expect({ ...ignoring, provenance: before.provenance! }).toEqual({
    ...before,
    provenance: before.provenance!,
  });
  expect(featuresHash(await result(await score({ querySequence: `${P53}A` })))).toBeUndefined();
});

test.each([
  ["Secreted", ["outside"]],
  ["Cytoplasm. Nucleus, PML body", ["inside"]],
  ["Secreted. Cytoplasm, cytosol", ["inside", "outside"]],
  ["Cell membrane; Single-pass type I membrane protein", ["inside", "outside"]],
  ["Cell membrane; Lipid-anchor, GPI-anchor", ["outside"]],
  ["Cell membrane; Peripheral membrane protein; Cytoplasmic side", ["inside"]],
  ["Endoplasmic reticulum lumen", ["outside"]],
  ["Endoplasmic reticulum", ["inside", "outside"]],
  ["Mitochondrion matrix", ["inside"]],
  ["Lysosome", ["outside"]],
  ["Virion. Secreted", undefined],
  ["Nowhere known. Secreted", undefined],
])("a protein located in %s is in the compartments %p", async (locations, compartments) => {
  await addFeatures(
    locations
      .split(". ")
      .map((name) => `P04637\t.\tSubcellular location\t1\t393\t.\t.\t.\tNote=${encodeURIComponent(name)}\n`)
      .join(""),
  );
  const query = { identifier: "", query: P53, patterns: [] };
  expect(alone.scoring.knowledge.find(query)?.features?.compartments).toEqual(compartments as never);
});

test("families, short repeats and sites of cleavage are no domains or signals", async () => {
  const lines = [
    ["Pfam", "protein_match", 94, 289, "Name=PF00870"],
    ["PANTHER", "protein_match", 1, 393, "Name=PTHR11447"],
    [".", "Repeat", 300, 310, "Note=1"],
    [".", "Propeptide", 1, 20, "Note=x"],
    ["Phobius", "protein_match", 30, 50, "Name=NON_CYTOPLASMIC_DOMAIN"],
    ["Phobius", "protein_match", 60, 80, "Name=TRANSMEMBRANE"],
    ["SignalP", "protein_match", 1, 22, "Name=SignalP-noTM"],
    [".", "Topological domain", 90, 93, "Note=Cytoplasmic"],
  ].map(([source, type, from, to, more]) => `P04637\t${source}\t${type}\t${from}\t${to}\t.\t.\t.\t${more}`);
  await addFeatures(lines.join("\n"));
  const found = alone.scoring.knowledge.find({ identifier: "", query: P53, patterns: [] });
  expect(found?.features).toMatchObject({
    domains: [[94, 289]],
    targeting: [[1, 22]],
    membrane: [[60, 80]],
    outside: [[30, 50]],
    inside: [[90, 93]],
  });
});

test("a job has the features of its acceptance after a restart, and equal jobs of later features are scored again", async () => {
  await addFeatures();
  const wanted = await result(await score());
  await alone.close();
  alone = await openScoringAlone({ corpus: true, workers: 0 });
  await addFeatures();
  const body = { querySequence: P53, ...MOTIFS };
  const headers = { "Idempotency-Key": "one" };
  const submit = async () => (await alone.ask("POST", "/jobs", { body, headers })).json.id;
  const id = await submit();
  alone.scoring.removeFeatures("some");
  expect(await submit()).toBe(id);
  const other = await score();
  await alone.scoring.close();
  const second = await openScoring({ ...alone.settings, workers: 1 });
  expect(await result(id)).toEqual(wanted);
  expect(featuresHash(await result(other))).toBeUndefined();
  await second.close();
});

test("batches and scores without jobs have the same numbers", async () => {
  await addFeatures();
  const wanted = await result(await score());
  const proteins = [{ querySequence: P53 }];
  const body = { proteins, ...MOTIFS };
  const jobOf = async (more: object): Promise<string> => {
    const { id } = (await alone.ask("POST", "/batches", { body: { ...body, ...more } })).json;
    return waitFor(async () => (await alone.ask("GET", `/batches/${id}/items`)).json.items[0].job);
  };
  expect((await result(await jobOf({}))).patterns).toEqual(wanted.patterns);
  expect(featuresHash(await result(await jobOf({ ignoreFeatures: true })))).toBeUndefined();

  const questions = alone.scoring.readSequences({ fasta: `>p53\n${P53}\n`, ...MOTIFS });
  const known = alone.scoring.knowledge.addTo(questions, {});
  const [{ prediction }] = await Array.fromAsync(
    alone.scoring.scoreQuestions(known, { scoringModel: "continuous", workers: 1 }),
  );
  expect(readMatches(prediction)).toEqual(readMatches(wanted));
  const alignment = `>p53\n${P53}\n>other\n${P53}\n`;
  const own = alone.scoring.scoreAlignment({ alignment, ...MOTIFS, scoringModel: "continuous" });
  expect(readMatches(own.prediction)).toMatchObject(EXPECTED);
});

test("a search of a proteome has the numbers of jobs, and fails if the features have changed", async () => {
  const plan = planBuild({
    corpus: alone.scoring.corpora.active()!,
    selection: { names: "P04637" },
    shard: undefined,
    others: [],
  });
  await buildFamilies(plan, onThreads(1), () => {});
  expect(listFamilies(plan.corpus)).toHaveLength(1);
  const search = async (more: object = {}) => {
    const body = { motifClass: "WW-PIN1", ...more };
    const { id } = (await alone.ask("POST", "/proteome/searches", { body })).json;
    const { json } = await waitFor(async () => {
      const found = await alone.ask("GET", `/proteome/searches/${id}`);
      return ["finished", "failed"].includes(found.json.state) && found;
    });
    return json;
  };
  type Row = { start: number; z: number };
  const zByStart = (rows: Row[]) => Object.fromEntries(rows.map(({ start, z }) => [start, z]));
  const without = await search();
  await addFeatures();
  const { results } = await search();
  const matches = readMatches(await result(await score({ identifier: "P04637" })));
  for (const start of [33, 46]) expect(zByStart(results)[start]).toBe(matches[`WW-PIN1 ${start}`].z!);
  const ignoring = await search({ ignoreFeatures: true });
  expect(zByStart(ignoring.results)).toEqual(zByStart(without.results));
  expect(ignoring.provenance.features_sha256).toBeUndefined();
  expect((await search()).provenance.features_sha256).toBe(alone.scoring.features.hash());

  const pattern = { expression: "[ST]P", name: "WW-PIN1", dialect: "plain" as const };
  const known = alone.scoring.knowledge.forProteome(pattern, {}, plan.corpus.hash).features!;
  const { dataDirectory } = alone.scoring.featureSource();
  const features = { ...known, dataDirectory, hash: "0".repeat(64) };
  const request = { corpus: plan.corpus, pattern, model: "continuous" as const, selection: {}, workers: 1 };
  expect(searchProteome({ ...request, features })).rejects.toThrow("features have changed");
});

test("a variant has the features of the unchanged protein, as evidence and as notes", async () => {
  await addFeatures();
  const plain = await score();
  const { json } = await alone.ask("POST", "/jobs", { body: { variantOf: plain, variant: "S20A" } });
  const [before, after] = [await result(plain), await result(json.id)];
  expect(after.alignment.query.slice(18, 26)).toBe("FADLWKLL");
  expect(readMatches(after)).toMatchObject(EXPECTED);
  expect(featuresHash(after)).toBe(featuresHash(before));
  const [own, known] = await Promise.all(
    [plain, json.id].map(async (id) => (await alone.ask("GET", `/jobs/${id}/features`)).json),
  );
  expect(own.features.length).toBeGreaterThan(3);
  expect(known.features).toEqual(own.features);
});
