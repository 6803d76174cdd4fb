import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/sqlite.ts";
import { Corpora } from "./corpus/corpus.ts";
import { findFeatureDamage } from "./features/feature-files.ts";
import { FORMS, readResult, unpackParts } from "./jobs/packed-prediction.ts";
import { listFamilies, readFamilies } from "./corpus/families-file.ts";

/** Something stored that has been read as a whole. */
export interface ReadContent {
  kind: "prediction" | "structure model" | "attachment" | "feature file" | "families file" | "backup file";
  name: string;
  /** The problem of the file; null if it is intact. */
  damage: string | null;
  /** Instructions for damage. */
  remedy: string;
}

const findDamage = (read: () => unknown): string | null => {
  try {
    read();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

const UNREADABLE = "it cannot be decompressed, or a part is missing";

/** Results that a job shows, unless they are known to be damaged and were computed again. */
const RESULTS = `SELECT result.rid, min(job.id) AS job FROM result JOIN job ON job.result = result.rid
  WHERE NOT (result.digest LIKE 'damaged %'
    AND EXISTS (SELECT 1 FROM result AS again WHERE again.digest = job.digest AND again.rid > result.rid))
  GROUP BY result.rid`;

/** Reads the predictions and structure models in a database, which may be older. */
export function* readStoredJobs(database: Database): Generator<ReadContent> {
  const has = (table: string): boolean =>
    database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== null;
  const results = has("result_part") ? (database.query(RESULTS).all() as { rid: number; job: string }[]) : [];
  for (const { rid, job } of results)
    yield {
      kind: "prediction",
      name: `prediction of job ${job}`,
      damage:
        findDamage(() => FORMS.map((form) => unpackParts(readResult(database, rid, form)))) && UNREADABLE,
      remedy: "Open the job's result, which says that it is damaged, and score the query again.",
    };
  for (const table of ["protein_model", "job_model"].filter(has)) {
    const models = database.query(`SELECT name, content FROM ${table}`).iterate();
    for (const { name, content } of models as Iterable<{ name: string; content: Uint8Array<ArrayBuffer> }>)
      yield {
        kind: "structure model",
        name: `structure model ${name}`,
        damage: findDamage(() => Bun.zstdDecompressSync(content)) && UNREADABLE,
        remedy: "Upload it again.",
      };
  }
}

/** Reads the imported features, and the families of proteins, in a data directory. */
export function* readScoringFiles(
  dataDirectory: string,
  database: Database,
  clock: Clock,
): Generator<ReadContent> {
  const folder = join(dataDirectory, "features");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".features")) : [];
  for (const name of names.sort())
    yield {
      kind: "feature file",
      name: `features/${name}`,
      damage: findFeatureDamage(join(folder, name)),
      remedy: "Restore it from a backup (labd restore, or zstd -d), or import the features again.",
    };
  for (const corpus of new Corpora(dataDirectory, database, clock).list()) {
    const remedy = "Delete it, and run labd proteome build again.";
    let files: ReturnType<typeof listFamilies> = [];
    const unlisted = findDamage(() => (files = listFamilies(corpus)));
    if (unlisted)
      yield { kind: "families file", name: `families of ${corpus.name}`, damage: unlisted, remedy };
    for (const { path } of files)
      yield {
        kind: "families file",
        name: `families ${basename(path)} of ${corpus.name}`,
        damage: findDamage(() => readFamilies(path, corpus.hash)),
        remedy,
      };
  }
}
