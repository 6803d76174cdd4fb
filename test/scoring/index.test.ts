import { afterEach, expect, spyOn, test } from "bun:test";
import { truncateSync } from "node:fs";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { Corpora, openScoring } from "../../src/scoring/index.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { ended, type HarnessOptions, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

let alone: ScoringAlone;
afterEach(() => alone.close());
const open = async (options: HarnessOptions): Promise<void> => void (alone = await openScoringAlone(options));

async function submit(querySequence = P53): Promise<string> {
  const body = { querySequence, patterns: ["F...W..[VIL]"] };
  return (await alone.ask("POST", "/jobs", { body })).json.id;
}
const fetchState = async (id: string) => (await alone.ask("GET", `/jobs/${id}`)).json.state;

test("scores jobs that were queued or running before a restart", async () => {
  await open({ workers: 0 });
  const ids = [await submit(), await submit(P53.slice(1))];
  const { database, settings } = alone;
  const scoringVersion = () => alone.scoring.corpora.scoringVersion();
  new JobStore({ database, clock: settings.clock, scoringVersion }).lease(1000);
  const logged: unknown[][] = [];
  const log = { info: (...words: unknown[]) => void logged.push(words), problem: () => {} };
  const second = await openScoring({ ...settings, workers: 1, log });
  expect(logged).toEqual([["jobs recovered", { requeued: 1, failed: 0 }]]);
  for (const id of ids) expect((await ended(alone, id)).state).toBe("finished");
  await second.close();
});

test("reads the names of the corpus at the start of a server, and starts with a damaged corpus too", async () => {
  await open({ workers: 0 });
  const { settings, scoring } = alone;
  const { path } = await scoring.corpora.add({ name: "sample", bytes: proteins });
  const opened = spyOn(Corpora.prototype, "opened");
  const start = async (workers: number) => {
    opened.mockClear();
    await (await openScoring({ ...settings, workers })).close();
    return opened.mock.calls.length;
  };
  expect([await start(0), await start(1)]).toEqual([0, 1]);
  truncateSync(path, 100);
  expect(await start(1)).toBe(1);
  opened.mockRestore();
});

test("an attempt that was interrupted by stopping does not count", async () => {
  await open({ workers: 1 });
  const id = await submit(P53.repeat(2));
  expect(await fetchState(id)).toBe("running");
  await alone.scoring.close();
  expect(await fetchState(id)).toBe("queued");
  expect(alone.database.query("SELECT attempts FROM job").get()).toEqual({ attempts: 0 });
});

test("warns without a corpus, and uses an added corpus from the next job on", async () => {
  await open({ workers: 1 });
  const fetchResult = async (id: string) => {
    await ended(alone, id);
    return (await alone.ask("GET", `/jobs/${id}/result`)).json;
  };
  expect(alone.scoring.corpusName()).toBeNull();
  const before = await submit();
  const without = await fetchResult(before);
  expect(without.warnings[0]).toContain("labd corpus add");
  expect(without).toMatchObject({ corpus: { name: "none", sequences: 0 }, homologs: [] });
  expect(without.patterns[0].matches).toMatchObject([
    {
      start: 19,
      end: 26,
      conservationLevel: "insufficient data",
      score: null,
      kept: 0,
      z: expect.any(Number),
      overallPValue: expect.any(Number),
      overallVerdict: expect.stringMatching(/^(likely functional|possible|no evidence)$/),
      warnings: [expect.stringContaining("Few homologs: mostly context.")],
    },
  ]);
  await alone.scoring.corpora.add({ name: "sample", bytes: proteins });
  expect(alone.scoring.corpusName()).toBe("sample");
  const { homologs, patterns } = await fetchResult(await submit());
  expect(homologs.length).toBeGreaterThan(10);
  expect(patterns[0].matches[0].conservationLevel).toBe("conserved");
  expect(await fetchResult(before)).toEqual(without);
});
