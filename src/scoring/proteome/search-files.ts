import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { ClassModel, PatternRequest, ScoringModel } from "../../motif/index.ts";
import { PART, writeDurably } from "../../platform/durable-file.ts";
import type { SearchedFeatures } from "../features/knowledge.ts";
import type { ProteomeTable } from "./table.ts";

/** A search as a client requests it. */
export interface SearchRequest {
  corpus: { name: string; hash: string };
  pattern: PatternRequest;
  model: ScoringModel;
  /** Absent for the default. */
  prior?: number | undefined;
  /** Taxon, scientific name or mnemonic; null for all proteins. */
  organism: string | null;
  /** Accessions of the proteins to search; absent for all. */
  accessions?: string[] | undefined;
  /** Imported features that are evidence; absent without any. */
  features?: SearchedFeatures | undefined;
  /** Model of the pattern's class; absent without one. */
  classModel?: ClassModel | undefined;
}

/** An accepted search. */
export interface AcceptedSearch {
  request: SearchRequest;
  /** Milliseconds since 1970-01-01 UTC. */
  submitted: number;
  /** Why it has no result; null for one that is to be run, or has one. */
  failure: string | null;
}

const REQUEST = ".json";
const RESULT = ".rows";

/** Searches that are kept, and bytes of their results. */
const MAX_SEARCHES = 1000;
const MAX_BYTES = 500_000_000;

/**
 * Accepted searches and their results, a file each, so that they survive a restart. The least recently used ones are
 * removed: everything can be computed again.
 */
export class SearchFiles {
  readonly #directory: string;

  constructor(
    dataDirectory: string,
    private readonly maxSearches = MAX_SEARCHES,
    private readonly maxBytes = MAX_BYTES,
  ) {
    this.#directory = join(dataDirectory, "proteome-searches");
  }

  /** @throws the system's error if the disk is full */
  accept(id: string, search: AcceptedSearch): void {
    writeDurably(this.#path(id, REQUEST), [new TextEncoder().encode(JSON.stringify(search))]);
    this.#sweep();
  }

  /** Null if there is none, or its file was altered. */
  request(id: string): AcceptedSearch | null {
    return parsed<AcceptedSearch>(() => this.#read(id, REQUEST));
  }

  finish(id: string, table: ProteomeTable): void {
    writeDurably(this.#path(id, RESULT), [Bun.zstdCompressSync(JSON.stringify(table))]);
    this.#sweep();
  }

  /** The result; null if the search has not finished, or the file was altered or is of an earlier version. */
  result(id: string): ProteomeTable | null {
    const table = parsed<ProteomeTable>(() => {
      const file = this.#read(id, RESULT);
      return file && Bun.zstdDecompressSync(file);
    });
    if (table?.rows.some((row) => !("conservationLevel" in row))) return null;
    const now = new Date();
    if (table) for (const ending of [REQUEST, RESULT]) utimesSync(this.#path(id, ending), now, now);
    return table;
  }

  remove(id: string): void {
    for (const ending of [REQUEST, RESULT]) rmSync(this.#path(id, ending), { force: true });
  }

  /** Searches without a result, in the order of their submission. */
  unfinished(): string[] {
    const names = new Set(this.#names());
    return [...names]
      .filter((name) => name.endsWith(REQUEST))
      .map((name) => name.slice(0, -REQUEST.length))
      .filter((id) => !names.has(id + RESULT))
      .flatMap((id) => {
        const search = this.request(id);
        return search && search.failure === null ? [{ id, submitted: search.submitted }] : [];
      })
      .sort((a, b) => a.submitted - b.submitted)
      .map(({ id }) => id);
  }

  #sweep(): void {
    const stats = this.#names().map((name) => {
      const { size, mtimeMs } = statSync(join(this.#directory, name));
      return { name, id: name.split(".", 1)[0], size, mtimeMs };
    });
    let [searches, bytes] = [0, 0];
    for (const { name, id, size } of stats.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
      if (name.endsWith(PART)) rmSync(join(this.#directory, name), { force: true });
      searches += name.endsWith(REQUEST) ? 1 : 0;
      bytes += size;
      if (searches > this.maxSearches || bytes > this.maxBytes) this.remove(id);
    }
  }

  #names(): string[] {
    return statSync(this.#directory, { throwIfNoEntry: false }) ? readdirSync(this.#directory) : [];
  }

  #path(id: string, ending: string): string {
    return join(this.#directory, id + ending);
  }

  #read(id: string, ending: string): Buffer | null {
    // Identifiers come from addresses.
    if (!/^[0-9a-f]{64}$/.test(id)) return null;
    const path = this.#path(id, ending);
    return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path) : null;
  }
}

function parsed<Content>(read: () => Uint8Array | null): Content | null {
  try {
    const content = read();
    return content && (JSON.parse(new TextDecoder().decode(content)) as Content);
  } catch {
    return null;
  }
}
