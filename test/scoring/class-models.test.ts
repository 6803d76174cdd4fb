import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ClassModel, decode, predict } from "../../src/motif/index.ts";
import { seededRandom } from "../../src/motif/random.ts";
import { ClassModels } from "../../src/scoring/corpus/class-models.ts";
import { FarmJobs } from "../../src/scoring/jobs/farm-jobs.ts";
import { type EvidenceChoice, hashRequest, type JobRequest } from "../../src/scoring/jobs/job.ts";
import { randomProtein } from "../fixtures/random-protein.ts";
import { searchProteome } from "../../src/scoring/proteome/table.ts";
import { waitFor } from "../wait.ts";
import { openQueue } from "./job-queue.ts";
import { openScoringAlone, type ScoringAlone } from "./scoring-harness.ts";

const CLASS = "APC-KEN-box";
const INSTANCES = 12;
const OTHERS = 120;
/** Places in the protein beside the first KEN. */
const PLANTED = [34, 36, 44, 47];

/** Random proteins with two KEN each; in the first ones, residues beside one of them are planted. */
function makeProteins(): { fasta: string; features: string; proteins: string[] } {
  const next = seededRandom(5);
  const proteins = Array.from({ length: INSTANCES + OTHERS }, (_, i) => {
    const letters = [...decode(randomProtein(next, 160)).replaceAll("KEN", "KEQ")];
    const put = (at: number, text: string) => letters.splice(at, text.length, ...text);
    put(40, "KEN");
    put(100, "KEN");
    // Of four residues, so that instances are not homologous.
    if (i < INSTANCES) for (const at of PLANTED) letters[at] = "WFYH"[Math.floor(4 * next())];
    return letters.join("");
  });
  const fasta = proteins.map((text, i) => `>T${i} protein ${i} OS=Homo sapiens OX=9606\n${text}\n`).join("");
  const features = proteins
    .slice(0, INSTANCES)
    .map((_, i) => `T${i}\t40\t43\t${CLASS}\n`)
    .join("");
  return { fasta, features, proteins };
}

const { fasta, features, proteins } = makeProteins();
let alone: ScoringAlone;

const importInstances = () =>
  alone.scoring.importFeatures({
    source: new Blob([features]).stream(),
    name: "own",
    format: "bed",
    group: "motif",
  });

beforeAll(async () => {
  alone = await openScoringAlone();
  await alone.scoring.corpora.add({ name: "made", bytes: fasta });
  await importInstances();
});
afterAll(() => alone.close());

const request = (): JobRequest => ({
  identifier: "T3",
  query: proteins[3],
  model: "discontinuous",
  patterns: [{ expression: "KEN", name: CLASS, dialect: "plain" }],
});

describe("instances of the laboratory", () => {
  test("are learned, and the class has a model with the planted profile", async () => {
    const { scoring, ask } = alone;
    expect(scoring.learning.isCurrent()).toBe(false);
    const { reports } = await scoring.learning.learn(1);
    expect(reports).toMatchObject([{ motifClass: CLASS, instances: INSTANCES, reason: null }]);
    expect(reports[0].gain!.with).toBeGreaterThan(reports[0].gain!.without);
    expect(scoring.learning.isCurrent()).toBe(true);
    const { status, json } = await ask("GET", `/motif-classes/${CLASS}/model`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ motifClass: CLASS, expression: "KEN", instances: INSTANCES });
    expect(json.windows.every((window: string) => /^[WFYH].[WFYH]...KEN.[WFYH]..[WFYH].$/.test(window))).toBe(
      true,
    );
    expect((await ask("GET", `/motif-classes/${json.hash}/model`)).json).toEqual(json);
    expect((await ask("GET", "/motif-classes/none/model")).status).toBe(404);
  });

  test("are on the page of their class, with the scores of the matches there", async () => {
    const { ask } = alone;
    const { json } = await ask("GET", "/motif-classes/DEG_APCC_KENBOX_2");
    expect(json).toMatchObject({
      motifClass: { name: CLASS, type: "DEG", model: { instances: INSTANCES } },
      positions: ["K", "E", "N"],
      compartments: ["inside"],
      phosphorylated: null,
      instances: INSTANCES,
      similar: [],
    });
    expect(json.expected).toBeCloseTo(
      (160 * (INSTANCES + OTHERS)) / 2 ** json.motifClass.informationContent,
      6,
    );
    expect(json.results[3]).toMatchObject({
      protein: { accession: "T3" },
      before: proteins[3].slice(36, 40),
      text: "KEN",
      after: proteins[3].slice(43, 47),
      feature: { start: 41, end: 43, source: "BED" },
    });
    const found = await waitFor(async () => {
      const { json: search } = await ask("GET", `/motif-classes/${CLASS}/matches`);
      return search.state === "finished" && search;
    });
    const places = found.results.map(
      ({ protein, start }: { protein: { accession: string }; start: number }) => [protein.accession, start],
    );
    expect(places.toSorted()).toEqual(
      proteins
        .slice(0, INSTANCES)
        .map((_, i) => [`T${i}`, 41])
        .toSorted(),
    );
    expect((await ask("GET", "/motif-classes/PIP-box/matches")).status).toBe(404);
    expect((await ask("GET", "/motif-classes/PIP-bux")).json.message).toContain("PIP-box");
  });

  test("are learned again to the same model", async () => {
    const { scoring } = alone;
    const hash = scoring.corpora.active()!.hash;
    const before = scoring.classModels.list(hash);
    await scoring.learning.learn(2);
    expect(scoring.classModels.list(hash)).toEqual(before);
  });

  test("apply to the named class and to an identical expression, in the corpus in use", () => {
    const { classModels, corpora } = alone.scoring;
    const hash = corpora.active()!.hash;
    const [model] = classModels.list(hash);
    const choose = (expression: string, corpus = hash) =>
      classModels.choose(
        [
          { expression: "AAA", name: null },
          { expression, name: null },
        ],
        corpus,
      );
    expect(choose("KEN")).toEqual({ 1: model.hash });
    expect(choose("KE.")).toBeUndefined();
    expect(choose("KEN", "other")).toBeUndefined();
  });

  test("no longer have a model once their file is removed", async () => {
    const { scoring, ask } = alone;
    scoring.removeFeatures("own");
    expect((await ask("GET", `/motif-classes/${CLASS}/model`)).status).toBe(404);
    await importInstances();
    await scoring.learning.learn(1);
    expect((await ask("GET", `/motif-classes/${CLASS}/model`)).status).toBe(200);
  });
});

describe("a job", () => {
  const modelsOf = (): { models: ClassModel[]; corpus: string } => {
    const corpus = alone.scoring.corpora.active()!.hash;
    return { models: alone.scoring.classModels.list(corpus), corpus };
  };
  /** A queue whose jobs get the models of the service. */
  function openQueueWithModels() {
    const { models, corpus } = modelsOf();
    let known: ClassModels | undefined;
    const queue = openQueue({
      knowledge: ({ patterns, ignoreClassModels }) => ({
        classModels: ignoreClassModels ? undefined : known!.choose(patterns, corpus),
      }),
    });
    known = new ClassModels(queue.database);
    known.replace(models, { inputs: "", learned: 1, reports: [] });
    return { ...queue, known, models };
  }

  test("keeps the models that were in use when it was accepted", async () => {
    const { store, known, models } = openQueueWithModels();
    await store.insert(request());
    const before = store.lease(1000)!;
    expect(before.request.knowledge?.classModels).toEqual({ 0: models[0] });
    const corpus = alone.scoring.corpora.open();
    const { query, patterns, model, knowledge } = before.request;
    const first = predict({ query, patterns, model, knowledge }, corpus);
    // A restart after the instances were removed.
    store.release(before.rid, false);
    known.replace([], { inputs: "", learned: 2, reports: [] });
    const again = store.lease(1000)!;
    expect(again.request).toEqual(before.request);
    expect(predict({ query, patterns, model, knowledge: again.request.knowledge }, corpus)).toEqual(first);
    expect(first.patterns[0].classModel?.hash).toBe(models[0].hash);
  });

  test("on another machine gets the content of the models", async () => {
    const { store, database, models, clock } = openQueueWithModels();
    await store.insert(request());
    const [offer] = new FarmJobs(database, store, clock).offer(1);
    expect((JSON.parse(offer.request) as JobRequest).knowledge?.classModels).toEqual({ 0: models[0] });
  });

  test("has the same question, and result, as ever if it leaves models out", async () => {
    const { store } = openQueueWithModels();
    const plain = hashRequest(request());
    await store.insert({ ...request(), ignoreClassModels: true });
    expect(store.lease(1000)).toMatchObject({ digest: plain });
    await store.insert(request());
    const { digest, request: leased } = store.lease(1000)!;
    expect(digest).not.toBe(plain);
    expect(leased.patterns).toEqual(request().patterns);
  });
});

describe("scores without a server, and searches of proteomes,", () => {
  const scoreOne = async (choice: EvidenceChoice) => {
    const { scoring } = alone;
    const questions = scoring.readSequences({
      fasta: `>T3\n${proteins[3]}\n`,
      patterns: [],
      motifClasses: [CLASS],
    });
    const known = scoring.knowledge.addTo(questions, choice);
    const [{ prediction }] = await Array.fromAsync(
      scoring.scoreQuestions(known, { scoringModel: "discontinuous" }),
    );
    return prediction.patterns[0];
  };
  const search = async (choice: EvidenceChoice) => {
    const { scoring } = alone;
    const corpus = scoring.corpora.active()!;
    const [pattern] = request().patterns;
    const { classModel } = scoring.knowledge.forProteome(pattern, choice, corpus.hash);
    const common = { corpus, pattern, model: "discontinuous", selection: {}, workers: 1 } as const;
    const { rows } = await searchProteome({ ...common, classModel });
    return rows.filter(({ protein }) => protein.accession === "T3");
  };

  test("use the class model, with the numbers of the library", async () => {
    const { scoring } = alone;
    const [model] = scoring.classModels.list(scoring.corpora.active()!.hash);
    const { query, patterns } = request();
    const direct = predict(
      { query, patterns, model: "discontinuous", knowledge: { classModels: { 0: model } } },
      scoring.corpora.opened(),
    ).patterns[0];
    expect(await scoreOne({})).toEqual(direct);
    const found = await search({});
    expect(found.toSorted((a, b) => a.start - b.start).map(({ z }) => z)).toEqual(
      direct.matches.map(({ z }) => z),
    );
    expect(found[0].contributions).toHaveProperty("classModel");
  });

  test("leave it out by choice", async () => {
    const without = await scoreOne({ ignoreClassModels: true });
    expect(without).not.toHaveProperty("classModel");
    for (const { contributions } of [...without.matches, ...(await search({ ignoreClassModels: true }))])
      expect(contributions).not.toHaveProperty("classModel");
  });
});
