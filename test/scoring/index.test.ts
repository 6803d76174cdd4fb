import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { scoreDirectly } from "./scoring-harness.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { ENDPOINT, openScoring, type Scoring, type ScoringOptions } from "../../src/scoring/index.ts";
import type { JobRequest } from "../../src/scoring/jobs/job.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openScoringHttp } from "./scoring-harness.ts";
import { closeDatabase, type Database, openDatabase } from "../../src/platform/sqlite.ts";

const P53_RECORD = `>P04637${proteins.split(">P04637")[1].split("\n>")[0]}`;
const P53 = P53_RECORD.split("\n").slice(1).join("");
const REQUEST: JobRequest = {
  identifier: "p53",
  query: P53,
  model: "continuous",
  patterns: [{ expression: "F...W..[VIL]", name: null, dialect: "soap" }],
};

let directory: string;
let database: Database;
let store: JobStore;
let scoring: Scoring | undefined;
let logged: unknown[][];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-scoring-"));
  database = openDatabase(join(directory, "labd.sqlite"), MIGRATIONS);
  store = new JobStore({ database, clock: systemClock, scoringVersion: () => ({ corpus: "", method: "" }) });
  logged = [];
});
afterEach(async () => {
  await scoring?.close();
  closeDatabase(database);
  rmSync(directory, { recursive: true, force: true });
});

async function open(options: Partial<ScoringOptions> = {}): Promise<Scoring> {
  return (scoring = await openScoring({
    database,
    clock: systemClock,
    log: { info: (...words) => void logged.push(words), problem: (...words) => void logged.push(words) },
    dataDirectory: directory,
    workers: 1,
    jobTimeoutSeconds: 30,
    maxQueryLength: 1000,
    maxMessageBytes: 1_000_000,
    namespace: "urn:test",
    ...options,
  }));
}

/** REQUEST as a client sends it. */
async function submit(): Promise<string> {
  const [{ expression }] = REQUEST.patterns;
  const body = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><RunJob xmlns="urn:test">
    <identifier>p53</identifier><querySequence>${P53}</querySequence><scoringModel>continuous</scoringModel>
    <regularExpression>${expression}</regularExpression></RunJob></e:Body></e:Envelope>`;
  const headers = { "Content-Type": "text/xml" };
  const request = new Request(`http://localhost${ENDPOINT}`, { method: "POST", body, headers });
  const log = { info: () => {}, problem: () => {} };
  const send = openScoringHttp(scoring!, { log, maxMessageBytes: 1_000_000 });
  const xml = await (await send(request)).text();
  return /JobIdentifier>([^<]+)</.exec(xml)![1];
}

async function ended(id: string): Promise<string> {
  for (const started = performance.now(); performance.now() - started < 200_000; await Bun.sleep(5)) {
    const { state } = store.get(id);
    if (state === "finished" || state === "failed") return state;
  }
  throw new Error("the job did not end within 200 s");
}

describe("restart", () => {
  test("scores the jobs that waited or ran", async () => {
    const running = await store.insert(REQUEST);
    const waiting = await store.insert({ ...REQUEST, model: "discontinuous" });
    store.lease(1000);
    await open();
    expect(logged).toEqual([["jobs recovered", { requeued: 1, failed: 0 }]]);
    expect(await ended(running)).toBe("finished");
    expect(await ended(waiting)).toBe("finished");
  });

  test("does not count the attempt that stopping cut off", async () => {
    const id = await store.insert({ ...REQUEST, query: P53.repeat(2) });
    const first = await open();
    expect(store.get(id).state).toBe("running");
    await first.close();
    expect(store.get(id).state).toBe("queued");
    const { attempts } = database.query("SELECT attempts FROM job").get() as { attempts: number };
    expect(attempts).toBe(0);
    await open();
    expect(await ended(id)).toBe("finished");
  });
});

describe("the corpus", () => {
  test("may be missing: jobs finish with a warning and without a score", async () => {
    const { corpusName } = await open();
    expect(corpusName()).toBeNull();
    const id = await submit();
    await ended(id);
    const prediction = store.prediction(id)!;
    expect(prediction.warnings[0]).toContain("labd corpus add");
    expect(prediction.corpus).toMatchObject({ name: "none", sequences: 0 });
    expect(prediction.patterns[0].matches).toMatchObject([
      { start: 19, end: 26, verdict: "insufficient data", score: null, z: null },
    ]);
  });

  test("is used by the next job once it is added", async () => {
    const { corpora, corpusName } = await open();
    const before = await submit();
    await ended(before);
    await corpora.add({ name: "sample", bytes: proteins });
    expect(corpusName()).toBe("sample");
    const after = await submit();
    await ended(after);
    expect(store.prediction(before)!.homologs).toEqual([]);
    expect(store.prediction(after)!.homologs.length).toBeGreaterThan(10);
    expect(store.prediction(after)!.patterns[0].matches[0].verdict).toBe("conserved");
  });
});

describe("reading sequences", () => {
  test("a job gives the numbers of the library", async () => {
    const scoring = await open();
    await scoring.corpora.add({ name: "sample", bytes: proteins });
    const scored = scoreDirectly(scoring, {
      fasta: P53_RECORD,
      regularExpression: ["F...W..[VIL]"],
      elmIdentifierName: [],
      scoringModel: "continuous",
    });
    expect(scored).toMatchObject([{ accession: "P04637" }]);
    const id = await submit();
    await ended(id);
    expect(scored[0].prediction).toEqual(store.prediction(id)!);
  });

  const base = { regularExpression: ["A"], elmIdentifierName: [] as string[] };
  const long = `>a\nM\n>long\n${"A".repeat(1001)}`;
  test.each([
    ["no FASTA", { fasta: "" }, "invalid_request", "no sequence"],
    ["bad FASTA", { fasta: ">a\nM1" }, "invalid_request", "line 2"],
    ["a long query", { fasta: long }, "invalid_request", "long: 1001 residues"],
    [
      "a bad pattern",
      { fasta: ">a\nM", regularExpression: ["A", "("] },
      "invalid_pattern",
      "regularExpression 2",
    ],
    [
      "an unknown class",
      { fasta: ">a\nM", elmIdentifierName: ["NO"] },
      "unknown_motif_class",
      "elmIdentifierName 1",
    ],
  ])("rejects %s", async (_, request, code, words) => {
    const { readSequences } = await open();
    expect(() => readSequences({ ...base, ...request })).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });
});
