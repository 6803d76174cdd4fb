import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Prediction } from "../../src/motif/index.ts";
import { buildFamilies, onThreads, planBuild } from "../../src/scoring/index.ts";
import { waitFor } from "../wait.ts";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

setDefaultTimeout(120_000);

let alone: ScoringAlone;
beforeAll(async () => {
  alone = await openScoringAlone({ corpus: true, workers: 1 });
});
afterAll(() => alone.close());

const BODY = { querySequence: P53, motifClasses: ["WW-PIN1"] };
const submit = async (more: object) =>
  (await alone.ask("POST", "/jobs", { body: { ...BODY, ...more } })).json.id;
async function result(id: string): Promise<Prediction> {
  await ended(alone, id);
  return (await alone.ask("GET", `/jobs/${id}/result`)).json;
}

/** The probability with another prior: the odds change by the factor by which the prior odds do. */
function withPrior(probability: number, prior: number): number {
  const odds = ((probability / (1 - probability)) * (prior / (1 - prior))) / (0.005 / 0.995);
  return odds / (1 + odds);
}

const withoutProbability = ({ patterns }: Prediction) =>
  patterns.map((one) => ({
    ...one,
    matches: one.matches.map((match) => ({ ...match, probability: null })),
  }));
const probabilities = ({ patterns }: Prediction): number[] =>
  patterns.flatMap(({ matches }) => matches.map(({ probability }) => probability!));

test("a prior changes the probabilities by Bayes, and nothing else", async () => {
  const plain = await result(await submit({}));
  expect(plain.prior).toBeUndefined();
  expect(await result(await submit({ prior: 0.005 }))).toEqual(plain);
  const chosen = await result(await submit({ prior: 0.1 }));
  expect(chosen.prior).toBe(0.1);
  expect(withoutProbability(chosen)).toEqual(withoutProbability(plain));
  for (const [i, probability] of probabilities(chosen).entries())
    expect(probability).toBeCloseTo(withPrior(probabilities(plain)[i], 0.1), 3);
});

test("batches and searches of a proteome take a prior, too", async () => {
  const proteins = [{ querySequence: P53 }];
  const body = { proteins, motifClasses: BODY.motifClasses, prior: 0.1 };
  const { id } = (await alone.ask("POST", "/batches", { body })).json;
  const job = await waitFor(async () => (await alone.ask("GET", `/batches/${id}/items`)).json.items[0].job);
  const wanted = await result(await submit({ prior: 0.1 }));
  expect((await result(job)).patterns).toEqual(wanted.patterns);

  const corpus = alone.scoring.corpora.active()!;
  const selection = { names: "P04637" };
  await buildFamilies(planBuild({ corpus, selection, shard: undefined, others: [] }), onThreads(1), () => {});
  const search = async (prior?: number): Promise<number[]> => {
    const answer = await alone.ask("POST", "/proteome/searches", { body: { motifClass: "WW-PIN1", prior } });
    const found = await waitFor(async () => {
      const { json } = await alone.ask("GET", `/proteome/searches/${answer.json.id}`);
      return json.state === "finished" && json;
    });
    return found.results.map((one: { probability: number }) => one.probability);
  };
  const [plain, chosen] = [await search(), await search(0.1)];
  expect(plain.length).toBeGreaterThan(1);
  for (const [i, probability] of chosen.entries())
    expect(probability).toBeCloseTo(withPrior(plain[i], 0.1), 3);
});

test.each([0, 1, -0.1, "0.1"])("a prior of %p is refused with the field", async (prior) => {
  const { status, json } = await alone.ask("POST", "/jobs", { body: { ...BODY, prior } });
  expect(status).toBe(400);
  expect(JSON.stringify(json)).toContain("prior");
});
