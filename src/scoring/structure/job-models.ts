import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkRoom } from "../../platform/byte-budget.ts";
import type { Clock } from "../../platform/clock.ts";
import { sha256 } from "../../platform/secret.ts";
import type { Database } from "../../platform/sqlite.ts";
import { ThreadQueue } from "../../platform/thread-queue.ts";
import { resolveWorkerUrl } from "../../platform/worker-address.ts";
import { Problem } from "../../problem.ts";
import type { JobModel, StructureModel } from "./model-schemas.ts";
import { AnonymousStorage } from "../jobs/anonymous-storage.ts";
import { MAX_MODEL, type ModelFormat } from "./model-file.ts";
import type { DescribedModel, ModelTask } from "./model-worker.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A model as it is stored: uploaded, or in the folder. */
interface StoredModel {
  name: string;
  /** A StructureModel as JSON; null if a former version stored it. */
  description: string | null;
  content: Bytes;
}

/** The query of a job: its sequence, and the accessions under which the folder may have its model. */
export interface ModelQuery {
  job: string;
  sequence: string;
  accessions: readonly string[];
}

/** Models of the folder that are in memory, compressed. */
const MAX_KEPT = 20;
const MAX_WAITING = 20;
const MAX_SECONDS = 60;

/** Parsing takes up to a second. */
const thread = new ThreadQueue<ModelTask, DescribedModel>({
  url: resolveWorkerUrl("scoring/structure/model-worker.ts"),
  seconds: MAX_SECONDS,
  slow: `Reading the file took more than ${MAX_SECONDS} seconds. Remove other chains and models.`,
  waiting: MAX_WAITING,
  busy: `${MAX_WAITING} structure models wait to be read. Try again later.`,
});

const JOB = "job = (SELECT rid FROM job WHERE id = ?)";

/** Structure models: of jobs in the database, and of accessions in the folder `models/` of the data directory. */
export class JobModels {
  readonly #folder: string;
  readonly #storage: AnonymousStorage;
  /** Models of the folder by path, state of the file and query, the most recently used last. */
  readonly #kept = new Map<string, Promise<DescribedModel>>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    dataDirectory: string,
  ) {
    this.#folder = join(dataDirectory, "models");
    this.#storage = new AnonymousStorage(database);
  }

  /** @throws Problem invalid_request, too_large for a file that is no model of the query; quota_exceeded, busy */
  async add({ job, sequence }: ModelQuery, name: string, file: Uint8Array): Promise<StructureModel> {
    this.#requireRoom(job, 0);
    const { description, content } = await thread.run({ file, name, source: "upload", sequence });
    this.database
      .transaction(() => {
        this.#requireRoom(job, content.length);
        this.database
          .query(
            `INSERT INTO job_model (job, name, content, added, description) SELECT rid, ?, ?, ?, ? FROM job WHERE id = ? AND request IS NOT NULL
             ON CONFLICT (job) DO UPDATE SET name = excluded.name, content = excluded.content, added = excluded.added, description = excluded.description`,
          )
          .run(name, content, this.clock.now(), description, job);
      })
      .immediate();
    return JSON.parse(description) as StructureModel;
  }

  /** @throws Problem quota_exceeded */
  #requireRoom(job: string, bytes: number): void {
    const { client, replaced } = this.database
      .query(
        "SELECT client, coalesce(octet_length(content), 0) AS replaced FROM job LEFT JOIN job_model ON job = rid WHERE id = ?",
      )
      .get(job) as { client: string; replaced: number };
    const problem = this.#storage.problem("models", client, bytes - replaced);
    if (problem) throw problem;
  }

  remove(job: string): void {
    this.database.query(`DELETE FROM job_model WHERE ${JOB}`).run(job);
  }

  /** The uploaded model, else the one in the folder. @throws Problem busy */
  async show(query: ModelQuery): Promise<JobModel> {
    const path = this.#findFile(query);
    try {
      const description = this.#readDescription(query.job) ?? (await this.#find(query, path))?.description;
      const model = description ? (JSON.parse(description) as StructureModel) : null;
      return { model, problem: null };
    } catch (error) {
      if (!(error instanceof Problem) || error.code === "busy") throw error;
      return { model: null, problem: `models/${path}: ${error.reason}` };
    }
  }

  /** The file, unpacked. @throws Problem not_found, content_damaged, busy */
  async file(query: ModelQuery): Promise<{ bytes: Bytes; format: ModelFormat }> {
    checkRoom(MAX_MODEL);
    const found = await this.#find(query, this.#findFile(query));
    if (!found) throw new Problem("not_found", "The job has no structure model.");
    const { format } = JSON.parse(found.description!) as StructureModel;
    return { bytes: unpackedContent(found.content, query.job), format };
  }

  #readDescription(job: string): string | null {
    const sql = `SELECT description FROM job_model WHERE ${JOB}`;
    const row = this.database.query(sql).get(job) as Pick<StoredModel, "description"> | null;
    return row?.description ?? null;
  }

  /** @param path of a file in the folder */
  async #find({ job, sequence }: ModelQuery, path: string | undefined): Promise<DescribedModel | null> {
    const sql = `SELECT name, description, content FROM job_model WHERE ${JOB}`;
    const stored = this.database.query(sql).get(job) as StoredModel | null;
    if (!stored) return path === undefined ? null : this.#inFolder(path, sequence);
    const { name, content, description } = stored;
    if (description !== null) return { description, content };
    const file = unpackedContent(content, job);
    const described = await thread.run({ file, name, source: "upload", sequence });
    this.database.query(`UPDATE job_model SET description = ? WHERE ${JOB}`).run(described.description, job);
    return described;
  }

  /** Name of the file in the folder; undefined without one. */
  #findFile({ accessions }: ModelQuery): string | undefined {
    return accessions.flatMap(listFileNames).find((one) => existsSync(join(this.#folder, one)));
  }

  #inFolder(name: string, sequence: string): Promise<DescribedModel> {
    const file = join(this.#folder, name);
    const { size, mtimeMs } = statSync(file);
    const key = [name, size, mtimeMs, sha256(sequence)].join(" ");
    const found = this.#kept.get(key) ?? thread.run({ file, name, source: "folder", sequence });
    this.#kept.delete(key);
    this.#kept.set(key, found);
    found.catch((error: Problem) => {
      if (error.code === "busy") this.#kept.delete(key);
    });
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    return found;
  }
}

/** @throws Problem content_damaged */
function unpackedContent(content: Bytes, job: string): Bytes {
  try {
    return new Uint8Array(Bun.zstdDecompressSync(content));
  } catch (cause) {
    const text = `The stored structure model of job ${job} is damaged. Upload it again.`;
    throw new Problem("content_damaged", text, { cause });
  }
}
/** Names of files in the order in which they are looked for: AlphaFold's newest version first. */
export function listFileNames(accession: string): string[] {
  if (!/^[A-Za-z0-9][\w.-]{0,39}$/.test(accession)) return [];
  const alphaFold = Array.from({ length: 9 }, (_, i) => `AF-${accession}-F1-model_v${9 - i}`);
  const packed = (name: string): string[] => [name, `${name}.gz`];
  return [...alphaFold, accession].flatMap((name) =>
    ["cif", "mmcif", "pdb", "ent"].flatMap((extension) => packed(`${name}.${extension}`)),
  );
}
