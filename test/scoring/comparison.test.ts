import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { MatchScore, Prediction } from "../../src/motif/index.ts";
import { compare } from "../../src/scoring/results/comparison.ts";
import { SAMPLE } from "./sample-prediction.ts";
import { openScoringAlone, P53, scoreJob, type ScoringAlone } from "./scoring-harness.ts";

setDefaultTimeout(60_000);

let service: ScoringAlone;
beforeAll(async () => {
  service = await openScoringAlone({ workers: 1, corpus: true });
});
afterAll(() => service.close());

const jobFor = (body: object): Promise<string> => scoreJob(service, body);

test("compares two choices of homologs match by match", async () => {
  const body = { accession: "P04637", patterns: ["F...W..[VIL]", "P..P"] };
  const a = await jobFor(body);
  const b = await jobFor({ ...body, patterns: ["F...W..[VIL]"], homologs: { minIdentity: 0.6 } });
  const { status, json } = await service.ask("GET", `/comparison?a=${a}&b=${b}`);
  expect(status).toBe(200);
  const [first, second] = await Promise.all(
    [a, b].map(async (id) => (await service.ask("GET", `/jobs/${id}/result`)).json),
  );
  expect(json.a).toMatchObject({
    job: a,
    protein: { gene: "TP53" },
    homologs: first.homologs.length,
    corpus: first.corpus,
  });
  expect(json.b).toMatchObject({ job: b, onlyHere: [], warnings: second.warnings });
  expect(json.shared).toBe(second.homologs.length);
  expect(json.a.onlyHere).toHaveLength(first.homologs.length - second.homologs.length);
  const [match] = first.patterns[0].matches;
  const { overallPValue, score, kept, homologs } = match;
  expect(json.matches[0]).toMatchObject({
    motif: "F...W..[VIL]",
    start: 19,
    text: "FSDLWKLL",
    a: { number: 1, overallPValue, score, kept, homologs },
    b: { number: 1, score: second.patterns[0].matches[0].score },
  });
  expect(json.matches.slice(1).every(({ b }: { b: null }) => b === null)).toBe(true);
});

test("refuses results of different proteins, unknown jobs and jobs without a result", async () => {
  const a = await jobFor({ accession: "P04637", patterns: ["P..P"] });
  const b = await jobFor({ accession: "P03129", patterns: ["P..P"] });
  const other = await service.ask("GET", `/comparison?a=${a}&b=${b}`);
  expect([other.status, other.json.message]).toEqual([
    409,
    "The results are of different proteins (393 and 98 residues); only results of one protein can be compared.",
  ]);
  const unknown = await service.ask("GET", `/comparison?a=${a}&b=x`);
  expect([unknown.status, unknown.json.message]).toEqual([404, "b: There is no job with this identifier."]);
  const none = await service.ask("GET", `/comparison?a=${a}`);
  expect([none.status, none.json.b]).toEqual([400, ["This field is required."]]);
  const waiting = await service.ask("POST", "/jobs", {
    body: { querySequence: P53.repeat(2), patterns: ["P.{0,20}P"] },
  });
  const early = await service.ask("GET", `/comparison?a=${waiting.json.id}&b=${b}`);
  expect([early.status, early.json.code]).toEqual([409, "not_finished"]);
});

const result = (prediction: Prediction) => ({ job: "j", identifier: "p53", protein: null, prediction });

test("names the homologs behind a flipped verdict", () => {
  const { prediction: before } = SAMPLE;
  const after = structuredClone(before);
  const match = after.patterns[0].matches[0] as MatchScore;
  match.verdict = "no evidence";
  const gone = match.atHomologs[0];
  const { accession } = before.homologs[gone.homolog];
  after.homologs = after.homologs.map((homolog) =>
    homolog.accession === accession ? Object.assign(homolog, { accession: "NEW" }) : homolog,
  );
  const { flipped, a, b, matches } = compare(result(before), result(after));
  expect(flipped).toBe(1);
  expect([a.onlyHere, b.onlyHere]).toEqual([[accession], ["NEW"]]);
  expect(matches[0]).toMatchObject({ isFlipped: true, b: { verdict: "no evidence" } });
  const byName = new Map(matches[0].responsible.map((homolog) => [homolog.accession, homolog]));
  expect(byName.get(accession)).toMatchObject({ b: null });
  expect(byName.get("NEW")).toMatchObject({ a: null });
  expect(
    compare(result(before), result(before)).matches.every(({ responsible }) => responsible.length === 0),
  ).toBe(true);
});

test("refuses results of earlier versions", () => {
  const { alignment: _, ...earlier } = SAMPLE.prediction;
  expect(() => compare(result(earlier as Prediction), result(SAMPLE.prediction))).toThrow("earlier version");
});
