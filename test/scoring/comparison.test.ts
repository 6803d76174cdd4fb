import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { MatchScore, Prediction } from "../../src/motif/index.ts";
import { compare } from "../../src/scoring/results/comparison.ts";
import { findPartner } from "../../src/scoring/table/sequence-pairs.ts";
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

test("pairs the matches of human and mouse p53", async () => {
  const patterns = ["F...W..[VIL]", "P..P", "[ST]Q"];
  const a = await jobFor({ accession: "P04637", patterns });
  const mouse = (await service.ask("GET", "/proteins/P02340")).json.sequence;
  // The sample lacks the first residues, from which papers count.
  const b = await jobFor({
    identifier: "mouse",
    querySequence: `MTA${mouse}`,
    patterns: patterns.slice(0, 2),
  });
  const { json } = await service.ask("GET", `/comparison?a=${a}&b=${b}`);
  expect(json.pairing.by).toBe("alignment");
  const partner = (residue: number) => findPartner(json.pairing.blocks, residue, "a");
  expect(json.pairing.identity).toBeGreaterThan(0.7);
  // Phosphorylated S15 and S20 are S18 and S23 of the mouse; mice with L25Q and W26S stand for L22 and W23 of humans
  // (Johnson et al., Mol. Cell. Biol. 2005, 25:10016), R172H and R270H for R175H and R273H (Olive et al., Cell 2004,
  // 119:847).
  expect([15, 20, 22, 23, 175, 273].map((residue) => partner(residue))).toEqual([18, 23, 25, 26, 172, 270]);
  const [mdm2, ...others] = json.matches;
  expect(mdm2).toMatchObject({
    fate: "kept",
    start: 19,
    a: { start: 19, end: 26, text: "FSDLWKLL" },
    b: { start: 22, end: 29, text: "FSGLWKLL" },
  });
  expect(mdm2).not.toHaveProperty("change");
  type Match = { motif: string; fate?: string; a: { start: number } | null; b: { start: number } | null };
  for (const { motif, fate, a, b } of others as Match[]) {
    if (motif === "[ST]Q") expect([fate, b]).toEqual([undefined, null]);
    else if (fate === "kept") expect(partner(a!.start)).toBe(b!.start);
    else if (fate === "moved")
      expect(Math.abs(b!.start - (partner(a!.start) ?? b!.start))).toBeLessThanOrEqual(10);
    else expect([a === null, b === null]).toEqual([fate === "gained", fate === "lost"]);
  }
  const [forth, back] = await Promise.all(
    [`a=${a}&b=${b}`, `a=${b}&b=${a}`].map(async (query) => {
      const { matches } = (await service.ask("GET", `/comparison?${query}`)).json as { matches: Match[] };
      return (fate: string) => matches.filter((match) => match.fate === fate).length;
    }),
  );
  expect(back("kept")).toBe(forth("kept"));
  expect(back("lost")).toBe(forth("gained"));
});

test("pairs a mutant by position, and does not pair proteins that are not similar", async () => {
  const patterns = ["F...W..[VIL]"];
  const a = await jobFor({ accession: "P04637", patterns });
  const mutant = await jobFor({
    identifier: "W23A",
    querySequence: `${P53.slice(0, 22)}A${P53.slice(23)}`,
    patterns,
  });
  const mutated = (await service.ask("GET", `/comparison?a=${a}&b=${mutant}`)).json;
  expect(mutated.pairing).toEqual({
    by: "position",
    identity: 392 / 393,
    blocks: [{ a: 1, b: 1, length: 393 }],
  });
  expect(mutated.matches).toMatchObject([{ start: 19, fate: "lost", b: null }]);
  const e7 = await jobFor({ accession: "P03129", patterns: ["P..P"] });
  const other = (await service.ask("GET", `/comparison?a=${a}&b=${e7}`)).json;
  expect(other.pairing).toEqual({ by: "none", identity: null, blocks: [] });
});

test("refuses unknown jobs and jobs without a result", async () => {
  const a = await jobFor({ accession: "P04637", patterns: ["P..P"] });
  const b = await jobFor({ accession: "P03129", patterns: ["P..P"] });
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

test("a match that the alignment places apart has moved, with the nearest of its motif", () => {
  const { prediction } = SAMPLE;
  const [pattern] = prediction.patterns;
  const [match] = pattern.matches;
  const query = P53;
  const shifted = (by: number): MatchScore => ({ ...match, start: match.start + by, end: match.end + by });
  const withMatches = (query: string, matches: MatchScore[]): Prediction => ({
    ...prediction,
    alignment: { ...prediction.alignment, query },
    patterns: [{ ...pattern, matches }],
  });
  // Two residues less at the end, so that the sequences are aligned.
  const before = withMatches(query, [match]);
  const after = (...by: number[]) => withMatches(query.slice(0, -2), by.map(shifted));
  const fates = (...by: number[]) =>
    compare(result(before), result(after(...by))).matches.map(({ fate, b }) => [
      fate,
      b && b.start - match.start,
    ]);
  expect(fates(0, 3)).toEqual([
    ["kept", 0],
    ["gained", 3],
  ]);
  expect(fates(9, 4)).toEqual([
    ["moved", 4],
    ["gained", 9],
  ]);
  expect(fates(11)).toEqual([
    ["lost", null],
    ["gained", 11],
  ]);
});

test("refuses results of earlier versions", () => {
  const { alignment: _, ...earlier } = SAMPLE.prediction;
  expect(() => compare(result(earlier as Prediction), result(SAMPLE.prediction))).toThrow("earlier version");
});
