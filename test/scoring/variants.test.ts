import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { hashRequest } from "../../src/scoring/jobs/job.ts";
import { findChange, listChanges } from "../../src/scoring/table/match-changes.ts";
import { openScoringAlone, P53, scoreJob, type ScoringAlone } from "./scoring-harness.ts";

setDefaultTimeout(60_000);

let service: ScoringAlone;
beforeAll(async () => {
  service = await openScoringAlone({ workers: 1, corpus: true });
});
afterAll(() => service.close());

const jobFor = (body: object): Promise<string> => scoreJob(service, body);
const read = async (path: string) => (await service.ask("GET", path)).json;

const MOTIFS = { patterns: ["F...W..[LIV]", "P..P", "[RK].[AL]L"] };

test("W23A breaks the motif of MDM2 in p53 (Kussie et al., Science 1996, 274:948)", async () => {
  const plain = await jobFor({ accession: "P04637", ...MOTIFS });
  const variant = await jobFor({ variantOf: plain, variant: "p.Trp23Ala" });
  expect(await read(`/jobs/${plain}`)).toMatchObject({ variant: null });
  expect(await read(`/jobs/${variant}`)).toMatchObject({
    variant: "W23A",
    identifier: "P04637",
    protein: { gene: "TP53" },
  });
  const [before, after] = [await read(`/jobs/${plain}/result`), await read(`/jobs/${variant}/result`)];
  expect(after.provenance.variant).toBe("W23A");
  expect(after.alignment.query).toBe(`${P53.slice(0, 22)}A${P53.slice(23)}`);
  expect(after.alignment.rows).toEqual(before.alignment.rows);

  const { b, matches } = await read(`/comparison?a=${plain}&b=${variant}`);
  expect(b).toMatchObject({ variant: "W23A", onlyHere: [] });
  const [broken] = listChanges<{ change: "broken"; a: null; b: null }>(matches);
  const { z, verdict } = before.patterns[0].matches[0];
  expect(broken).toMatchObject({
    motif: "F...W..[LIV]",
    start: 19,
    text: "FSDLWKLL",
    change: "broken",
    a: { z, verdict },
    b: null,
  });
  // The reverse adds the match.
  const reverse = await read(`/comparison?a=${variant}&b=${plain}`);
  expect(reverse.matches.find(({ start }: { start: number }) => start === 19).change).toBe("new");
});

test("the unchanged protein as a variant has the numbers of a plain job, also on an own alignment", async () => {
  const alignment = `>q\n${P53.slice(0, 60)}\n>r\n${P53.slice(0, 60).replace("E", "D")}\n`;
  for (const query of [{ accession: "P04637" }, { alignment }]) {
    const plain = await jobFor({ ...query, ...MOTIFS });
    const same = await jobFor({ ...query, ...MOTIFS, variant: "W23W" });
    const strip = (result: object) => ({ ...result, provenance: null });
    expect(strip(await read(`/jobs/${same}/result`))).toEqual(strip(await read(`/jobs/${plain}/result`)));
    const { matches } = await read(`/comparison?a=${plain}&b=${same}`);
    expect(new Set(matches.map(({ change }: { change: string }) => change))).toEqual(new Set(["unchanged"]));
  }
});

test("a motif that only one job looks for has no change", async () => {
  const a = await jobFor({ accession: "P04637", patterns: ["F...W..[LIV]"] });
  const b = await jobFor({ accession: "P04637", patterns: ["P..P"], variant: "W23A" });
  const { matches } = await read(`/comparison?a=${a}&b=${b}`);
  expect(matches.length).toBeGreaterThan(1);
  expect(matches.every((match: object) => !("change" in match))).toBe(true);
});

test.each([
  [{ variant: "L23A" }, 400, "variant: L23A: residue 23 is W, not L."],
  [{ variant: "W423A" }, 400, "variant: W423A: the protein has 393 residues."],
  [{ variant: "W23" }, 400, 'variant: "W23" is no substitution. Expected W23A, p.Trp23Ala or 23 W A'],
] as const)("%j is refused", async (body, status, message) => {
  const answer = await service.ask("POST", "/jobs", { body: { accession: "P04637", ...MOTIFS, ...body } });
  expect([answer.status, answer.json.variant?.length]).toEqual([status, 1]);
  expect(answer.json.message ?? `variant: ${answer.json.variant[0]}`).toContain(message);
});

test("variantOf goes with a variant alone, of a known job", async () => {
  const plain = await jobFor({ accession: "P04637", patterns: ["P..P"] });
  const post = async (body: object) => {
    const { status, json } = await service.ask("POST", "/jobs", { body });
    return [status, JSON.stringify(json)];
  };
  expect(await post({ variantOf: plain })).toEqual([400, expect.stringContaining("give the variant")]);
  expect(await post({ variantOf: plain, variant: "P4L", patterns: ["P..P"] })).toEqual([
    400,
    expect.stringContaining("not with variantOf"),
  ]);
  expect(await post({ variantOf: crypto.randomUUID(), variant: "P4L" })).toEqual([
    404,
    expect.stringContaining("There is no job"),
  ]);
});

test("a variant is another job than its protein", () => {
  const request = { identifier: "q", query: P53, model: "continuous" as const, patterns: [] };
  expect(hashRequest({ ...request, variant: "W23A" })).not.toBe(hashRequest(request));
  expect(hashRequest({ ...request, variant: undefined })).toBe(hashRequest(request));
});

test.each([
  ["broken", { z: 1, verdict: "possible" }, null],
  ["new", null, { z: 1, verdict: "possible" }],
  ["unchanged", { z: 1, verdict: "possible" }, { z: 1.09, verdict: "possible" }],
  ["stronger", { z: 1, verdict: "possible" }, { z: 1.11, verdict: "possible" }],
  ["stronger", { z: 2, verdict: "possible" }, { z: 2.01, verdict: "likely functional" }],
  ["weaker", { z: 1, verdict: "possible" }, { z: 0.89, verdict: "possible" }],
  ["unchanged", { z: null, verdict: "not scored" }, { z: null, verdict: "not scored" }],
] as const)("%s: %j and %j", (change, a, b) => expect(findChange(a, b)).toBe(change));
