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
  rid: number;
  name: string;
  /** A StructureModel as JSON; null if a former version stored it. */
  description: string | null;
  content: Bytes;
}

/** A protein whose model is wanted. */
export interface ModelQuery {
  /** Keys of the owners whose models count. */
  owners: readonly string[];
  /** Residues in upper case. */
  sequence: string;
  /** Accessions under which the folder may have the model. */
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

const IS_WANTED = "sequence = ? AND owner IN (SELECT value FROM json_each(?))";
const keyOf = ({ sequence, owners }: ModelQuery): [string, string] => [sequence, JSON.stringify(owners)];

/**
 * Structure models: of the proteins of owners in the database, so that all jobs of a sequence have them, and of accessions in
 * the folder `models/` of the data directory.
 */
export class StructureModels {
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

  /**
   * Adds the model of a protein to its first owner; it replaces an earlier one.
   * @param client whose storage it takes
   * @throws Problem invalid_request, too_large for a file that is no model of the protein; quota_exceeded, busy
   */
  async add(
    { owners: [owner], sequence }: ModelQuery,
    { name, file, client }: { name: string; file: Uint8Array; client: string },
  ): Promise<StructureModel> {
    this.#requireRoom(client, 0);
    const { description, content } = await thread.run({ file, name, source: "upload", sequence });
    this.database
      .transaction(() => {
        // The storage of the client has room for a model only without the one that it replaces.
        this.remove({ owners: [owner], sequence, accessions: [] });
        this.#requireRoom(client, content.length);
        this.database
          .query(
            "INSERT INTO protein_model (owner, sequence, client, name, content, added, description) VALUES (?, ?, ?, ?, ?, ?, ?)",
          )
          .run(owner, sequence, client, name, content, this.clock.now(), description);
      })
      .immediate();
    return JSON.parse(description) as StructureModel;
  }

  /** @throws Problem quota_exceeded */
  #requireRoom(client: string, bytes: number): void {
    const problem = this.#storage.problem("models", client, bytes);
    if (problem) throw problem;
  }

  remove(of: ModelQuery): void {
    this.database.query(`DELETE FROM protein_model WHERE ${IS_WANTED}`).run(...keyOf(of));
  }

  /** The uploaded model, else the one in the folder. @throws Problem busy */
  async show(query: ModelQuery): Promise<JobModel> {
    const path = this.#findFile(query);
    try {
      const description = this.#readDescription(query) ?? (await this.#find(query, path))?.description;
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
    if (!found) throw new Problem("not_found", "There is no structure model of the protein.");
    const { format } = JSON.parse(found.description!) as StructureModel;
    return { bytes: unpackedContent(found.content), format };
  }

  #readDescription(of: ModelQuery): string | null {
    const sql = `SELECT description FROM protein_model WHERE ${IS_WANTED} ORDER BY added DESC`;
    const row = this.database.query(sql).get(...keyOf(of)) as Pick<StoredModel, "description"> | null;
    return row?.description ?? null;
  }

  /** @param path of a file in the folder */
  async #find(of: ModelQuery, path: string | undefined): Promise<DescribedModel | null> {
    const { sequence } = of;
    const sql = `SELECT rid, name, description, content FROM protein_model WHERE ${IS_WANTED} ORDER BY added DESC`;
    const stored = this.database.query(sql).get(...keyOf(of)) as StoredModel | null;
    if (!stored) return path === undefined ? null : this.#inFolder(path, sequence);
    const { rid, name, content, description } = stored;
    if (description !== null) return { description, content };
    const file = unpackedContent(content);
    const described = await thread.run({ file, name, source: "upload", sequence });
    this.database
      .query("UPDATE protein_model SET description = ? WHERE rid = ?")
      .run(described.description, rid);
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
function unpackedContent(content: Bytes): Bytes {
  try {
    return new Uint8Array(Bun.zstdDecompressSync(content));
  } catch (cause) {
    const text = "The stored structure model is damaged. Upload it again.";
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
