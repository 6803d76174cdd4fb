import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { makeOwnership } from "../../src/accounts/owner.ts";
import { ANONYMOUS } from "../../src/platform/actor.ts";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { jobsOfProtein } from "../../src/scoring/jobs/job-records.ts";
import { helixPdb } from "../fixtures/helix-model.ts";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

setDefaultTimeout(120_000);

const ANA = { authorization: "ana" };
const KEY = { "Owner-Key": "a-secret-of-a-program-1" };

let service: ScoringAlone;
beforeAll(async () => {
  service = await openScoringAlone({
    workers: 1,
    corpus: true,
    retentionDays: 1,
    ownership: makeOwnership({
      authenticate: ({ headers }) => ({ ...ANONYMOUS, username: headers.get("authorization") }),
    }),
    identifyClient: ({ headers }) => {
      const username = headers.get("authorization");
      return username === null ? "192.0.2.1" : `user ${username}`;
    },
  });
});
afterAll(() => service.close());

const read = (headers: Record<string, string> = {}, accession = "P04637") =>
  service.ask("GET", `/proteins/${accession}`, { headers });
const score = async (headers: Record<string, string>, more: object): Promise<string> => {
  const body = { accession: "P04637", ...more };
  const { json } = await service.ask("POST", "/jobs", { headers, body });
  await ended(service, json.id);
  return json.id;
};

test("a protein of the corpus has its names, sequence and predictions", async () => {
  const { json } = await read();
  expect(json.protein).toMatchObject({ accession: "P04637", gene: "TP53", length: 393 });
  expect(json.corpus).toMatchObject({ name: "sample", sequences: 496 });
  expect(json.sequence).toBe(P53);
  expect([json.disorder.length, json.order.length]).toEqual([393, 393]);
  expect([json.disorder[19] > 0.5, json.order[160] > 0.7]).toEqual([true, true]);
  expect([json.results, json.more]).toEqual([[], false]);
});

test.each(["P00000", "TP53", "nothing"])("%s is no accession", async (accession) => {
  const { status, json } = await read({}, accession);
  expect([status, json.code]).toEqual([404, "not_found"]);
});

test("only the owner sees the results of a protein, and only as long as they are kept", async () => {
  const own = await score(ANA, { patterns: ["F...W", "P..P", "S", "T"] });
  const again = await score(ANA, { patterns: ["F...W", "P..P", "S", "T"] });
  const variant = await score(ANA, { patterns: ["F...W"], variant: "W23A" });
  const other = await score(KEY, { motifClasses: ["LIG_PCNA_PIPBox_1"] });
  await service.ask("POST", "/jobs", {
    headers: ANA,
    body: { identifier: "P04637", querySequence: `${P53.slice(0, -1)}A`, patterns: ["F...W"] },
  });
  const { results } = (await read(ANA)).json;
  expect(results.map(({ id }: { id: string }) => id)).toEqual([variant, again, own]);
  expect(results.map(({ isRepeated }: { isRepeated: boolean }) => isRepeated)).toEqual([false, false, true]);
  expect(results[0]).toMatchObject({ state: "finished", variant: "W23A", motifs: ["F...W"], motifCount: 1 });
  expect(results[2]).toMatchObject({ motifs: ["F...W", "P..P", "S"], motifCount: 4, variant: null });
  expect((await read(KEY)).json.results.map(({ id }: { id: string }) => id)).toEqual([other]);
  for (const stranger of [{}, { authorization: "eve" }, { "Owner-Key": "another-secret-of-a-program" }])
    expect((await read(stranger)).json.results).toEqual([]);
  expireJobs(service.database, Date.now() + 2 * 86_400_000);
  expect((await read(ANA)).json.results).toEqual([]);
});

describe("a structure model", () => {
  const MODEL = helixPdb(P53);
  const model = async (method: string, of: string, headers: Record<string, string>, name = "a.pdb") => {
    const query = method === "PUT" ? `?name=${name}` : "";
    const body = method === "PUT" ? { body: MODEL } : {};
    const answer = await service.ask(method, `${of}/model${query}`, { headers, ...body });
    return answer.json.model === undefined ? answer.status : (answer.json.model?.name ?? null);
  };
  const PROTEIN = "/proteins/P04637";

  test("belongs to the protein, so that all scores of its owner have it", async () => {
    const first = `/jobs/${await score(ANA, { patterns: ["F...W"] })}`;
    expect(await model("PUT", first, ANA, "own.pdb")).toBe("own.pdb");
    const later = await score(ANA, { patterns: ["W..L"], variant: "W23A" });
    const sequence = { identifier: "mine", querySequence: P53.toLowerCase(), patterns: ["P..P"] };
    const { json } = await service.ask("POST", "/jobs", { headers: ANA, body: sequence });
    for (const of of [first, `/jobs/${later}`, `/jobs/${json.id}`, PROTEIN])
      expect(await model("GET", of, ANA)).toBe("own.pdb");
    // Whoever has the link of a job sees what its owner sees.
    expect(await model("GET", first, {})).toBe("own.pdb");
    const other = `/jobs/${await score(KEY, { patterns: ["F...W"] })}`;
    for (const of of [other, PROTEIN]) expect(await model("GET", of, KEY)).toBeNull();
    expect(await model("PUT", PROTEIN, ANA, "new.pdb")).toBe("new.pdb");
    expect(await model("GET", first, {})).toBe("new.pdb");
    expect((await service.ask("GET", `${PROTEIN}/model/file`, { headers: ANA })).text).toBe(MODEL);
    expect((await service.ask("GET", `${PROTEIN}/model/file`)).status).toBe(404);
    expect(await model("DELETE", PROTEIN, { authorization: "eve" })).toBeNull();
    expect(await model("GET", first, {})).toBe("new.pdb");
    expect(await model("DELETE", PROTEIN, ANA)).toBeNull();
    expect(await model("GET", first, {})).toBeNull();
  });

  test("is kept for accounts, and with the last result of callers without one", async () => {
    const STRANGER = { "Owner-Key": "another-secret-of-a-program" };
    expect(await model("PUT", PROTEIN, STRANGER)).toBe(403);
    expect(await model("PUT", PROTEIN, {})).toBe(403);
    expect(await model("PUT", PROTEIN, { authorization: "bob" })).toBe("a.pdb");
    await score(KEY, { patterns: ["F...W"] });
    const last = await score(KEY, { patterns: ["W..L"] });
    expect(await model("PUT", PROTEIN, KEY)).toBe("a.pdb");
    const stored = () =>
      (service.database.query("SELECT models FROM anonymous_storage").get() as { models: number }).models;
    const bytes = stored();
    expect(bytes).toBeGreaterThan(0);
    expect(await model("PUT", PROTEIN, KEY)).toBe("a.pdb");
    expect(stored()).toBe(bytes);
    const tomorrow = Date.now() + 2 * 86_400_000;
    service.database.run("UPDATE job SET expires = NULL WHERE id = ?", [last]);
    expireJobs(service.database, tomorrow);
    expect(await model("GET", PROTEIN, KEY)).toBe("a.pdb");
    service.database.run("UPDATE job SET expires = 1 WHERE id = ?", [last]);
    expireJobs(service.database, tomorrow);
    expect(await model("GET", PROTEIN, KEY)).toBeNull();
    expect(await model("GET", PROTEIN, { authorization: "bob" })).toBe("a.pdb");
    expect(stored()).toBe(0);
  });
});

test("the jobs of a protein are found by an index, whatever the number of jobs", () => {
  const { database } = service;
  const plans: string[] = [];
  const explaining = {
    query: (sql: string) => ({
      all: (...values: []) => {
        const steps = database.query(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
        plans.push(...steps.map(({ detail }) => detail));
        return [];
      },
    }),
  } as unknown as typeof database;
  jobsOfProtein(explaining)({ sequence: P53, owner: "user ana", limit: 5 });
  expect(plans).toEqual(["SEARCH job USING INDEX job_protein (<expr>=? AND <expr>=?)"]);
});

test("a result as JSON has one of its matches on request", async () => {
  const id = await score(ANA, { patterns: ["F...W", "W..L", "S.{3}S"] });
  const readResult = async (query = "") => (await service.ask("GET", `/jobs/${id}/result${query}`)).json;
  const { patterns, ...rest } = await readResult();
  const numbered = patterns.flatMap((pattern: { matches: object[] }) =>
    pattern.matches.map((match) => ({ ...pattern, matches: [match] })),
  );
  expect(numbered.length).toBeGreaterThan(3);
  for (const [i, pattern] of numbered.entries())
    expect(await readResult(`?match=${i + 1}`)).toEqual({ ...rest, patterns: [pattern] });
  expect((await readResult(`?match=${numbered.length + 1}`)).patterns).toEqual([]);
});
