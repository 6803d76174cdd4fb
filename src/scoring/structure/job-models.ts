import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import type { JobModel, StructureModel } from "../api/model-schemas.ts";
import { mapModel } from "./map-model.ts";
import { formatOf, MAX_MODEL, type ModelFormat, readModel } from "./model-file.ts";

/** A file of a model. */
interface ModelSource {
  name: string;
  source: StructureModel["source"];
  /** Its content, unpacked. @throws Problem too_large, invalid_request */
  read: () => string;
}

/** The query of a job: its sequence, and the accessions under which the folder may have its model. */
export interface ModelQuery {
  job: string;
  sequence: string;
  accessions: readonly string[];
}

/** Structure models: of jobs in the database, and of accessions in the folder `models/` of the data directory. */
export class JobModels {
  readonly #folder: string;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    dataDirectory: string,
  ) {
    this.#folder = join(dataDirectory, "models");
  }

  /** @throws Problem invalid_request, too_large for a file that is no model of the query */
  add({ job, sequence }: ModelQuery, name: string, bytes: Uint8Array): StructureModel {
    const text = unpacked(bytes);
    const model = describe({ name, source: "upload", read: () => text }, sequence);
    this.database
      .query(
        `INSERT INTO job_model (job, name, content, added) SELECT rid, ?, ?, ? FROM job WHERE id = ?
         ON CONFLICT (job) DO UPDATE SET name = excluded.name, content = excluded.content, added = excluded.added`,
      )
      .run(name, Bun.zstdCompressSync(text), this.clock.now(), job);
    return model;
  }

  remove(job: string): void {
    this.database.query("DELETE FROM job_model WHERE job = (SELECT rid FROM job WHERE id = ?)").run(job);
  }

  /** The uploaded model, else the one in the folder. */
  show(query: ModelQuery): JobModel {
    const found = this.#find(query);
    try {
      return { model: found && describe(found, query.sequence), problem: null };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { model: null, problem: error.message.replace(/^model:/, `models/${found?.name}:`) };
    }
  }

  /** The file as text. @throws Problem not_found */
  file(query: ModelQuery): { text: string; format: ModelFormat } {
    const found = this.#find(query);
    if (!found) throw new Problem("not_found", "The job has no structure model.");
    const text = found.read();
    return { text, format: formatOf(text) };
  }

  #find({ job, accessions }: ModelQuery): ModelSource | null {
    const stored = this.database
      .query("SELECT name, content FROM job_model WHERE job = (SELECT rid FROM job WHERE id = ?)")
      .get(job) as { name: string; content: Uint8Array<ArrayBuffer> } | null;
    if (stored) {
      const { name, content } = stored;
      return { name, source: "upload", read: () => unpackUpload(content, job) };
    }
    const name = accessions.flatMap(fileNamesOf).find((one) => existsSync(join(this.#folder, one)));
    return name === undefined
      ? null
      : { name, source: "folder", read: () => readSmall(join(this.#folder, name)) };
  }
}

/** @throws Problem content_damaged */
function unpackUpload(content: Uint8Array<ArrayBuffer>, job: string): string {
  try {
    return decoded(Bun.zstdDecompressSync(content));
  } catch (cause) {
    const text = `The stored structure model of job ${job} is damaged. Upload it again.`;
    throw new Problem("content_damaged", text, { cause });
  }
}

function describe({ name, source, read }: ModelSource, sequence: string): StructureModel {
  const file = readModel(read());
  const { format, isPrediction } = file;
  return { name, source, format, isPrediction, ...mapModel(sequence, file) };
}

function readSmall(path: string): string {
  if (statSync(path).size > MAX_MODEL) throw tooLarge();
  return unpacked(readFileSync(path));
}

/** Names of files in the order in which they are looked for: AlphaFold's newest version first. */
export function fileNamesOf(accession: string): string[] {
  if (!/^[A-Za-z0-9][\w.-]{0,39}$/.test(accession)) return [];
  const alphaFold = Array.from({ length: 9 }, (_, i) => `AF-${accession}-F1-model_v${9 - i}`);
  const packed = (name: string): string[] => [name, `${name}.gz`];
  return [...alphaFold, accession].flatMap((name) =>
    ["cif", "mmcif", "pdb", "ent"].flatMap((extension) => packed(`${name}.${extension}`)),
  );
}

const tooLarge = (): Problem =>
  new Problem(
    "too_large",
    `model: the file has more than ${MAX_MODEL / 1e6} MB. Remove other chains and models.`,
  );

/** @throws Problem too_large, invalid_request */
function unpacked(bytes: Uint8Array): string {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return decoded(isGzip ? gunzip(bytes) : bytes);
}

function gunzip(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_MODEL });
  } catch (cause) {
    if ((cause as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
    throw new Problem("invalid_request", "model: the gzip file is truncated or damaged.", { cause });
  }
}

/** PDB files of old programs may have other characters in their remarks. */
const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
