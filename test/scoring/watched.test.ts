import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Prediction } from "../../src/motif/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { type JobRunner, scoringHandlers } from "../../src/scoring/jobs/handlers.ts";
import { emptyCorpus } from "../../src/scoring/corpus/corpus.ts";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import { Reruns } from "../../src/scoring/watched/reruns.ts";
import { WatchedQueries } from "../../src/scoring/watched/watched-queries.ts";
import { openQueue, request } from "./job-queue.ts";
import { SAMPLE } from "./sample-prediction.ts";
import { ended, openScoringAlone, type ScoringAlone } from "./scoring-harness.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(60_000);

/** The sample prediction with another verdict of its first match, without its last homolog. */
function changedPrediction(): Prediction {
  const prediction = structuredClone(SAMPLE.prediction);
  const [match] = prediction.patterns[0].matches;
  match.verdict = "no evidence";
  match.atHomologs = match.atHomologs.filter(({ homolog }) => homolog !== 2);
  return prediction;
}

let open: Reruns | undefined;
afterEach(() => {
  open?.close();
  open = undefined;
});

/** Watched queries without workers: tests finish jobs by hand. */
function stage() {
  const queue = openQueue({ retention: 1000 });
  const { store, database, clock, version } = queue;
  const queries = new WatchedQueries(database, clock);
  const runner: JobRunner = { wake() {}, progress: () => null, cancel: (id) => store.cancel(id) };
  const handlers = scoringHandlers({
    store,
    runner,
    corpus: emptyCorpus,
  });
  const log = { info: () => {}, problem: () => {} };
  const start = (): Reruns =>
    (open = new Reruns({
      queries,
      store,
      runner,
      handlers,
      featureSource: () => ({ dataDirectory: "", corpusPath: null, synonyms: [] }),
      log,
      corpus: () => version.corpus,
      interval: 1e6,
    }));
  const finish = (prediction: Prediction): void =>
    void store.finish(store.lease(1000)!, { ...version }, JSON.stringify(prediction));
  /** Submits and finishes a job, and watches its query. */
  const watch = async (query: string, owner = "user ada"): Promise<string> => {
    const id = await store.insert(request(query), owner);
    finish(SAMPLE.prediction);
    queries.add(id, owner);
    return id;
  };
  return { ...queue, queries, start, finish, watch };
}

describe("watched queries", () => {
  test("watched queries are scored again for another corpus, and changed verdicts are stored with the homologs", async () => {
    const { queries, version, start, finish, watch, store } = stage();
    const before = await watch("MEEPQSDPSV");
    const reruns = start();
    await reruns.advance();
    expect([store.queued(), queries.list("user ada")[0].rerun]).toEqual([0, null]);
    version.corpus = "new";
    await reruns.advance();
    const [{ rerun }] = queries.list("user ada");
    expect(rerun?.state).toBe("queued");
    finish(changedPrediction());
    await reruns.advance();
    expect(queries.list("user ada")[0]).toMatchObject({
      corpus: "new",
      rerun: null,
      failure: null,
      job: rerun!.id,
    });
    const [{ comparison }] = queries.changes("user ada");
    expect(comparison).toMatchObject({ flipped: 1, a: { job: before }, b: { job: rerun!.id } });
    expect(comparison.matches).toHaveLength(1);
    expect(comparison.matches[0].a?.verdict).toBe("likely functional");
    expect(comparison.matches[0].b?.verdict).toBe("no evidence");
    expect(comparison.matches[0].responsible.length).toBeGreaterThan(0);
    expect(queries.changes("user bob")).toEqual([]);
  });

  test("reruns wait while other jobs wait, and run one at a time", async () => {
    const { queries, version, start, finish, watch, store, insert } = stage();
    await watch("MEEP");
    await watch("QSDP");
    version.corpus = "new";
    const [other] = await insert("ada KKKK");
    const reruns = start();
    await reruns.advance();
    expect(queries.rerunning()).toBeNull();
    finish(SAMPLE.prediction);
    expect(store.get(other).state).toBe("finished");
    await reruns.advance();
    expect(store.queued()).toBe(1);
    finish(SAMPLE.prediction);
    await reruns.advance();
    expect(store.queued()).toBe(1);
    finish(SAMPLE.prediction);
    await reruns.advance();
    expect(queries.list("user ada").map(({ corpus }) => corpus)).toEqual(["new", "new"]);
    expect(queries.changes("user ada")).toEqual([]);
  });

  test("reruns of watched queries continue after a restart", async () => {
    const { queries, version, start, finish, watch } = stage();
    await watch("MEEP");
    await watch("QSDP");
    version.corpus = "new";
    await start().advance();
    open!.close();
    finish(changedPrediction());
    await start().advance();
    expect(queries.changes("user ada")).toHaveLength(1);
    expect(queries.rerunning()).not.toBeNull();
  });

  test("watched queries that are removed during a rerun leave no change", async () => {
    const { queries, version, start, finish, watch } = stage();
    await watch("MEEP");
    version.corpus = "new";
    const reruns = start();
    await reruns.advance();
    finish(changedPrediction());
    const [{ id }] = queries.list("user ada");
    const rerun = queries.rerunning()!;
    queries.remove(id, "user ada");
    queries.finish(rerun.rid, { flipped: 1 } as never);
    await reruns.advance();
    expect([queries.list("user ada"), queries.changes("user ada")]).toEqual([[], []]);
  });

  test("reruns can be cancelled and tried again", async () => {
    const { queries, version, start, watch, store } = stage();
    for (const query of ["MEEP", "QSDP"]) await watch(query);
    await watch("MEEP", "user bob");
    version.corpus = "new";
    const reruns = start();
    await reruns.advance();
    await reruns.cancel("user ada");
    expect(queries.list("user ada").map(({ failure, rerun }) => [failure, rerun])).toEqual([
      ["The rerun was cancelled.", null],
      ["The job was cancelled.", null],
    ]);
    expect(queries.list("user bob")[0].rerun?.state).toBe("queued");
    store.cancel(queries.list("user bob")[0].rerun!.id);
    await reruns.advance();
    queries.retry("user ada");
    await reruns.advance();
    expect(queries.list("user ada").filter(({ rerun }) => rerun !== null)).toHaveLength(1);
  });

  test("watched queries keep their result when jobs expire, until they are removed", async () => {
    const { queries, pass, watch, clock, database, store } = stage();
    const id = await watch("MEEP");
    pass(5000);
    expect(expireJobs(database, clock.now())).toBe(0);
    expect(store.get(id).state).toBe("finished");
    queries.remove(queries.list("user ada")[0].id, "user ada");
    expect(expireJobs(database, clock.now())).toBe(1);
  });

  test("watched queries are limited in number, and each is saved once", async () => {
    const { queries, watch, database, store, insert } = stage();
    const id = await watch("MEEP");
    const [known] = queries.list("user ada");
    expect(queries.add(id, "user ada")).toEqual(known);
    for (let i = 1; i < 100; i++)
      database
        .query(
          "INSERT INTO watched_query SELECT NULL, ?1, owner, ?1, request, created, job, corpus, rerun, failure FROM watched_query LIMIT 1",
        )
        .run(`q${i}`);
    const [other] = await insert("ada KKKK");
    expect(() => queries.add(other, "user ada")).toThrow(
      "Only queries of jobs with a result can be watched.",
    );
    store.finish(store.lease(1000)!, { corpus: "c", method: "m" }, JSON.stringify(SAMPLE.prediction));
    expect(() => queries.add(other, "user ada")).toThrow("You watch 100 queries, which is the limit.");
    expect(queries.add(id, "user ada")).toEqual(known);
    expect(queries.add(other, "user bob").id).not.toBe(known.id);
  });
});

describe("the JSON operations", () => {
  const SMALL = proteins.split(/^(?=>)/m).filter((record) => !/p53/i.test(record.split("\n")[0]));

  const follow = ({ ask }: ScoringAlone, isDone: (states: string[]) => boolean) =>
    waitFor(async () => {
      const { json } = await ask("GET", "/watched-queries");
      return isDone(json.results.map(({ state }: { state: string }) => state)) && json;
    });

  test("list the changes once a corpus without the homologs is used", async () => {
    const identifyClient = (request: Request): string => request.headers.get("x-user") ?? "";
    const service = await openScoringAlone({ workers: 1, corpus: true, identifyClient });
    try {
      const { ask, scoring } = service;
      const { json: job } = await ask("POST", "/jobs", {
        body: { accession: "P04637", motifClasses: ["MDM2-SWIB"], patterns: ["P..P"] },
      });
      await ended(service, job.id);
      const watched = await ask("POST", "/watched-queries", { body: { job: job.id } });
      expect(watched.status).toBe(200);
      expect(watched.json).toMatchObject({ state: "current", job: job.id, protein: { gene: "TP53" } });
      expect((await ask("GET", "/watched-queries/changes")).json.results).toEqual([]);
      await scoring.corpora.add({ name: "small", bytes: SMALL.join("") });
      scoring.corpora.use("small");
      await scoring.rerunWatched();
      const list = await follow(service, (states) => states.every((state) => state === "current"));
      expect(list.results[0].state).toBe("current");
      const [{ comparison, query }] = (await ask("GET", "/watched-queries/changes")).json.results;
      expect(query).toBe(watched.json.id);
      expect(comparison.a.corpus.name).toBe("sample");
      expect(comparison.b.corpus.name).toBe("small");
      expect(comparison.flipped).toBeGreaterThan(0);
      expect(comparison.matches[0].responsible[0]).toMatchObject({ a: expect.any(String), b: null });
      const others = await ask("GET", "/watched-queries/changes", { headers: { "x-user": "bob" } });
      expect(others.json.results).toEqual([]);
      const foreign = await ask("DELETE", `/watched-queries/${query}`, { headers: { "x-user": "bob" } });
      expect([foreign.status, foreign.json.code]).toEqual([404, "not_found"]);
      expect((await ask("DELETE", `/watched-queries/${query}`)).json.total).toBe(0);
    } finally {
      await service.close();
    }
  });

  test("refuse jobs that cannot be watched", async () => {
    const service = await openScoringAlone({ workers: 1, corpus: true });
    try {
      const { ask } = service;
      const text = await ask("POST", "/watched-queries", {
        body: "x",
        headers: { "Content-Type": "text/plain" },
      });
      expect([text.status, text.json.code]).toEqual([415, "unsupported_media_type"]);
      const unknown = await ask("POST", "/watched-queries", { body: { job: "x" } });
      expect([unknown.status, unknown.json.code]).toEqual([404, "unknown_job"]);
      const body = { alignment: ">q\nMKLV\n>h\nMKLI\n", patterns: ["K"] };
      const { json: own } = await ask("POST", "/jobs", { body });
      await ended(service, own.id);
      const refused = await ask("POST", "/watched-queries", { body: { job: own.id } });
      expect([refused.status, refused.json.message]).toEqual([
        409,
        "job: A result from your own alignment does not depend on the corpus.",
      ]);
    } finally {
      await service.close();
    }
  });
});
