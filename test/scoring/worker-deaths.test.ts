import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { Corpora } from "../../src/scoring/corpus/corpus.ts";
import { Pool } from "../../src/scoring/jobs/pool.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { closeDatabase, openDatabase } from "../../src/platform/sqlite.ts";

const MORTAL = new URL("./mortal-worker.ts", import.meta.url).href;
const COUNT = 90;
const E7 =
  "MHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDRAHYNIVTFCCKCDSTLRLCVQSTHVDIRTLEDLLMGTLGIVCPICSQKP";

/** Predictions (JSON) of all jobs, by query; null where the job failed. */
async function scoreAll(minSharedSequences: number, workerUrl?: string): Promise<Map<string, string | null>> {
  const directory = mkdtempSync(join(tmpdir(), "labd-deaths-"));
  const database = openDatabase(join(directory, "labd.sqlite"), MIGRATIONS);
  const corpora = new Corpora(directory, database, systemClock);
  await corpora.add({ name: "sample", bytes: proteins });
  const store = new JobStore({
    database,
    clock: systemClock,
    scoringVersion: () => corpora.scoringVersion(),
  });
  const log = { info: () => {}, problem: () => {} };
  // Never reached, however busy the machine: a deadline is another way to end.
  const options = { store, corpora, log, size: 3, timeout: 600_000, minSharedSequences };
  const pool = new Pool({ ...options, ...(workerUrl && { workerUrl }) });
  try {
    const jobs = new Map<string, string>();
    for (let i = 0; i < COUNT; i++) {
      // Each question once (E7 has no W): one that waits for another's answer shares its failure, in words of its own.
      const query = E7.slice(0, 40 + (i % 50)) + "W".repeat(Math.floor(i / 50));
      const patterns = [{ expression: "L.C.E", name: null, dialect: "soap" as const }];
      jobs.set(query, await store.insert({ identifier: "x", query, model: "continuous", patterns }));
      pool.wake();
    }
    const ended = (id: string): boolean => ["finished", "failed"].includes(store.get(id).state);
    while (![...jobs.values()].every(ended)) await Bun.sleep(10);
    expect(jobs.size).toBe(COUNT);
    const found = new Map<string, string | null>();
    for (const [query, id] of jobs) {
      const { state, failure } = store.get(id);
      if (state === "failed") expect(failure).toBe("The worker ended 2 times while it scored this job.");
      found.set(query, state === "failed" ? null : JSON.stringify(store.prediction(id)));
    }
    return found;
  } finally {
    pool.close();
    closeDatabase(database);
    rmSync(directory, { recursive: true, force: true });
  }
}

const calmly = scoreAll(Infinity);

test.each([Infinity, 1])(
  "each job ends once with the same prediction, or fails, when workers die at random (shared search from %d sequences)",
  async (minSharedSequences) => {
    const [calm, rough] = [await calmly, await scoreAll(minSharedSequences, MORTAL)];
    expect([...calm.values()]).not.toContain(null);
    const failed = [...rough.values()].filter((prediction) => prediction === null).length;
    // Some fail because their worker died twice.
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(COUNT / 3);
    const differing = [...rough].filter(
      ([query, prediction]) => prediction !== null && prediction !== calm.get(query),
    );
    expect(differing.map(([query, found]) => ({ query, found, expected: calm.get(query) }))).toEqual([]);
  },
  600_000,
);
