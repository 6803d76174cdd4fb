import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { openScoring, type Scoring, type ScoringOptions } from "../../src/scoring/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { closeDatabase, type Database, openDatabase } from "../../src/platform/sqlite.ts";

/** The scoring service by itself, with a directory of its own that goes with it. */
export interface ScoringAlone {
  scoring: Scoring;
  database: Database;
  directory: string;
  close(): Promise<void>;
}

export async function openScoringAlone(options: Partial<ScoringOptions> = {}): Promise<ScoringAlone> {
  const directory = mkdtempSync(join(tmpdir(), "labd-scoring-"));
  const database = openDatabase(join(directory, "labd.sqlite"), MIGRATIONS);
  const scoring = await openScoring({
    database,
    clock: systemClock,
    log: { info: () => {}, problem: () => {} },
    dataDirectory: directory,
    workers: 0,
    jobTimeoutSeconds: 30,
    maxQueryLength: 1000,
    maxMessageBytes: 100_000,
    namespace: "urn:test",
    ...options,
  });
  return {
    scoring,
    database,
    directory,
    async close() {
      await scoring.close();
      closeDatabase(database);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
