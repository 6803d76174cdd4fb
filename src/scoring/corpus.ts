import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  type Corpus,
  CorpusBuilder,
  CorpusError,
  FastaError,
  fastaReader,
  METHOD,
  openCorpus,
  packCorpus,
} from "../motif/index.ts";
import { nearest, Problem } from "../problem.ts";
import type { Clock } from "../shell/clock.ts";
import type { Database } from "../shell/sqlite.ts";
import type { Basis } from "./store.ts";

/** A corpus (collection of proteins) that the data directory holds. */
export interface CorpusInfo {
  name: string;
  /** SHA-256 of its content, which is also its file's name. */
  hash: string;
  sequences: number;
  residues: number;
  /** Size of its file. */
  bytes: number;
  /** Milliseconds since 1970-01-01 UTC. */
  added: number;
  /** Whether jobs are scored against it. */
  active: boolean;
  /** Where its file is. */
  path: string;
}

export interface CorpusSource {
  /** Name that results show, such as `swissprot-2026_01`. */
  name: string;
  /** A FASTA file of proteins: plain, or compressed with gzip or zstd, told apart by its first bytes. */
  bytes: ReadableStream<Uint8Array> | Blob | string;
  /** Called with the numbers so far, after every piece that was read. */
  report?: (sequences: number, residues: number) => void;
}

export const sha256 = (): Bun.CryptoHasher => new Bun.CryptoHasher("sha256");

/** What stands for a corpus while there is none: searching it finds nothing. */
export function emptyCorpus(): Corpus {
  return openCorpus(packCorpus("none", [], sha256));
}

/** What results say that were computed without a corpus. */
export const NO_CORPUS =
  "There is no corpus to search for homologs: add one with `labd corpus add FILE` (FASTA) and submit again.";

/**
 * Maps a corpus file: every worker that maps it shares the same pages of memory. The mapping is private, so that no
 * stray write could reach the file. Windows, where Bun does not map files, reads it into memory.
 * @throws Problem bad_corpus
 */
export function openCorpusFile(path: string): Corpus {
  let bytes: Uint8Array;
  try {
    bytes = process.platform === "win32" ? readFileSync(path) : Bun.mmap(path, { shared: false });
  } catch (error) {
    throw new Problem("bad_corpus", `corpora/${basename(path)} cannot be read.`, { cause: error });
  }
  try {
    return openCorpus(bytes);
  } catch (error) {
    throw corpusProblem(error, `corpora/${basename(path)}`);
  }
}

/** The corpora of one data directory: files in `corpora/`, and a row each that says which one is in use. */
export class Corpora {
  readonly #directory: string;
  #emptyHash: string | undefined;

  constructor(
    dataDirectory: string,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.#directory = join(dataDirectory, "corpora");
  }

  /**
   * Reads a FASTA file as a stream, packs it and stores it under its content hash. The first one is taken into use.
   * Adding the same content again changes nothing and gives what is there.
   * @throws Problem invalid_request that names line and reason, or the name that is taken
   */
  async add({ name, bytes, report }: CorpusSource): Promise<CorpusInfo> {
    if (!/^[^\p{C}]{1,200}$/u.test(name)) {
      throw new Problem("invalid_request", "corpus name: expected 1 to 200 printable characters.");
    }
    const builder = new CorpusBuilder(name);
    const reader = fastaReader();
    try {
      for await (const piece of decompressed(bytes)) {
        for (const entry of reader.feed(piece)) builder.add(entry);
        report?.(builder.sequenceCount, builder.residueCount);
      }
      for (const entry of reader.finish()) builder.add(entry);
    } catch (error) {
      throw corpusProblem(error, name);
    }
    report?.(builder.sequenceCount, builder.residueCount);
    if (builder.sequenceCount === 0) {
      throw new Problem("invalid_request", `corpus ${name}: the file holds no sequence. Expected FASTA.`);
    }
    const packed = builder.finish(sha256);
    const known = this.#find("hash = ?", packed.hash);
    if (known && existsSync(known.path)) return known;
    if (!known && this.#find("name = ?", name)) {
      throw new Problem(
        "conflict",
        `corpus ${name}: a corpus of this name with other content is there already. Choose another name.`,
      );
    }
    writeDurably(this.#path(packed.hash), packed.chunks);
    this.database
      .query(
        `INSERT INTO corpus (hash, name, sequences, residues, bytes, added, active)
         VALUES (?, ?, ?, ?, ?, ?, NOT EXISTS (SELECT 1 FROM corpus WHERE active = 1)) ON CONFLICT DO NOTHING`,
      )
      .run(
        packed.hash,
        name,
        builder.sequenceCount,
        builder.residueCount,
        packed.byteLength,
        this.clock.now(),
      );
    return this.#find("hash = ?", packed.hash)!;
  }

  /** All corpora, in order of their addition. */
  list(): CorpusInfo[] {
    return this.#select("ORDER BY added, name");
  }

  /**
   * Takes a corpus into use, by its name, its hash or the first eight or more digits of that. Jobs that are
   * running keep the one they began with.
   * @throws Problem not_found with near names
   */
  use(wanted: string): CorpusInfo {
    const all = this.list();
    const found =
      all.find(({ name, hash }) => name === wanted || hash === wanted) ??
      (wanted.length >= 8 ? all.find(({ hash }) => hash.startsWith(wanted)) : undefined);
    if (!found) {
      const names = all.map(({ name }) => name);
      const near = nearest(wanted, names);
      const hint =
        names.length === 0
          ? "there is none yet; `labd corpus add FILE` adds one."
          : near.length > 0
            ? `did you mean ${near.join(" or ")}?`
            : `there are ${names.join(", ")}.`;
      throw new Problem("not_found", `corpus ${wanted}: no corpus has this name or hash; ${hint}`);
    }
    // Mapped before the switch: a file that is damaged must not take the place of one that works.
    openCorpusFile(found.path);
    this.database.transaction(() => {
      this.database.query("UPDATE corpus SET active = 0 WHERE active = 1").run();
      this.database.query("UPDATE corpus SET active = 1 WHERE hash = ?").run(found.hash);
    })();
    return { ...found, active: true };
  }

  /** The corpus in use; null where none was added. */
  active(): CorpusInfo | null {
    return this.#find("active = ?", 1);
  }

  /** What a job would be scored on now. */
  basis(): Basis {
    return { corpus: this.active()?.hash ?? (this.#emptyHash ??= emptyCorpus().hash), method: METHOD };
  }

  /** The corpus in use, mapped; the empty one where none was added. @throws Problem bad_corpus */
  openActive(): Corpus {
    const active = this.active();
    return active ? openCorpusFile(active.path) : emptyCorpus();
  }

  /** Reads every byte of the corpus in use. @throws Problem bad_corpus where one was altered */
  verify(): void {
    const active = this.active();
    if (!active) return;
    try {
      openCorpusFile(active.path).verify(sha256);
    } catch (error) {
      throw corpusProblem(error, `corpora/${basename(active.path)}`);
    }
  }

  #path(hash: string): string {
    return join(this.#directory, `${hash}.labc`);
  }

  #find(condition: "hash = ?" | "name = ?" | "active = ?", value: string | number): CorpusInfo | null {
    return this.#select(`WHERE ${condition}`, value)[0] ?? null;
  }

  #select(rest: string, ...values: (string | number)[]): CorpusInfo[] {
    const rows = this.database
      .query(`SELECT name, hash, sequences, residues, bytes, added, active FROM corpus ${rest}`)
      .all(...values) as (Omit<CorpusInfo, "active" | "path"> & { active: number })[];
    return rows.map((row) => Object.assign(row, { active: row.active === 1, path: this.#path(row.hash) }));
  }
}

/** Errors of the library as Problems; what is none of them goes on as it is. */
function corpusProblem(error: unknown, where: string): unknown {
  if (error instanceof FastaError) {
    return new Problem("invalid_request", `${where}: ${error.message}.`, { cause: error });
  }
  if (error instanceof CorpusError) {
    return new Problem("bad_corpus", `${where}: ${error.message}. Add the corpus again.`, {
      cause: error,
    });
  }
  return error;
}

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** The bytes of a FASTA file, decompressed where its first bytes are those of gzip (RFC 1952) or zstd (RFC 8878). */
async function* decompressed(source: CorpusSource["bytes"]): AsyncGenerator<Uint8Array> {
  const stream = source instanceof ReadableStream ? source : new Blob([source]).stream();
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  // A pipe may hand over its first bytes one by one.
  let head: Uint8Array = new Uint8Array(0);
  let ended = false;
  while (!ended && head.length < ZSTD.length) {
    const { done, value } = await reader.read();
    ended = done;
    if (value) head = Buffer.concat([head, value]);
  }
  const begins = (magic: number[]): boolean => magic.every((byte, i) => head[i] === byte);
  const rest = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(head as Uint8Array<ArrayBuffer>),
    async pull(controller) {
      const { done, value } = ended ? { done: true } : await reader.read();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const format = begins(GZIP) ? "gzip" : begins(ZSTD) ? "zstd" : null;
  if (!format) return yield* rest;
  try {
    yield* rest.pipeThrough(new DecompressionStream(format as CompressionFormat));
  } catch (error) {
    // Errors of the consumer never arrive here: a generator sees only its own.
    throw new Problem("invalid_request", `The ${format} file is cut short or damaged.`, { cause: error });
  }
}

/** Writes a file so that it is either whole under its name or not there, whenever the power fails. */
function writeDurably(path: string, chunks: readonly Uint8Array[]): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true });
  const temporary = `${path}.${process.pid}.part`;
  const file = openSync(temporary, "w");
  try {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at, chunk.length - at);
    }
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  // The new name is an entry of the directory, which has to reach the disk as well. Windows cannot and need not.
  if (process.platform !== "win32") {
    const entry = openSync(directory, "r");
    fsyncSync(entry);
    closeSync(entry);
  }
}
