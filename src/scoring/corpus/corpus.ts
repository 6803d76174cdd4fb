import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type Corpus, CorpusError, FastaError, METHOD, openCorpus, packCorpus } from "../../motif/index.ts";
import { nearest, Problem } from "../../problem.ts";
import { auditOf } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import { calibrationStamp, readCalibration, removeCalibration } from "./calibration-file.ts";
import { digestOf, dropSegments, packFasta, type Packed } from "./corpus-packing.ts";
import { PART, writeDurably } from "./durable-file.ts";
import type { FastaSource } from "./fasta-stream.ts";
import type { ScoringVersion } from "../jobs/job.ts";

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
  bytes: FastaSource;
  /** Called with the numbers so far, after every piece that was read. */
  report?: (sequences: number, residues: number) => void;
  /** Called with a sentence where work that was begun is gone on with. */
  tell?: (sentence: string) => void;
  /** Bytes of FASTA after which what is packed is set down. */
  segmentBytes?: number;
}

/** Milliseconds after which a download that was cut off is not gone on with. */
const FORGOTTEN = 7 * 86_400_000;

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
 * stray write could reach the file. It has its own null with it, where one was made.
 * @throws Problem bad_corpus
 */
export function openCorpusFile(path: string): Corpus {
  let bytes: Uint8Array;
  try {
    bytes = mapOrRead(path);
  } catch (error) {
    throw new Problem("bad_corpus", `corpora/${basename(path)} cannot be read.`, { cause: error });
  }
  const own = readCalibration(path);
  try {
    return Object.assign(openCorpus(bytes), own && { calibration: own.calibration });
  } catch (error) {
    throw corpusProblem(error, `corpora/${basename(path)}`);
  }
}

/** Codes of a file that may be read and not written. */
const ONLY_READ = new Set(["EROFS", "EACCES", "EPERM"]);

/**
 * Bun maps files on no Windows, and elsewhere only those that it may open for writing. Others are read into memory,
 * once for every worker.
 */
function mapOrRead(path: string): Uint8Array {
  if (process.platform === "win32") return readFileSync(path);
  try {
    return Bun.mmap(path, { shared: false });
  } catch (error) {
    if (!ONLY_READ.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return readFileSync(path);
  }
}

/** Where a corpus of this content lies in a data directory. */
export const corpusPath = (dataDirectory: string, hash: string): string =>
  join(dataDirectory, "corpora", `${hash}.labc`);

/**
 * Reads every byte of a file that is to be the corpus of this content.
 * @throws Problem bad_corpus where it is another, or none
 */
export function verifyCorpusFile(path: string, hash: string): Corpus {
  const corpus = openCorpusFile(path);
  if (corpus.hash !== hash)
    throw new Problem("bad_corpus", `corpora/${basename(path)} holds ${corpus.hash}, not ${hash}.`);
  try {
    corpus.verify(sha256);
  } catch (error) {
    throw corpusProblem(error, `corpora/${basename(path)}`);
  }
  return corpus;
}

/** The corpora of one data directory: files in `corpora/`, and a row each that says which one is in use. */
export class Corpora {
  readonly #directory: string;
  #emptyHash: string | undefined;
  /** Method of what is scored with the null of a corpus, as it was last read. */
  #null: { path: string; stamp: string; method: string } | undefined;

  constructor(
    dataDirectory: string,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.#directory = join(dataDirectory, "corpora");
  }

  /**
   * Reads a FASTA file as a stream, packs it and stores it under its content hash. The first one is taken into use.
   * Adding the same content again, under whatever name, changes nothing and gives what is there. What a killed process
   * has begun under this name is gone on with (ADR 0044).
   * @throws Problem invalid_request that names line and reason, or the name that is taken
   */
  async add({ name, bytes, report, tell, segmentBytes }: CorpusSource): Promise<CorpusInfo> {
    if (!/^[^\p{C}]{1,200}$/u.test(name)) {
      throw new Problem("invalid_request", "corpus name: expected 1 to 200 printable characters.");
    }
    this.#sweep();
    const same = bytes instanceof ReadableStream ? null : await this.#withSource(() => digestOf(bytes));
    if (same) return same;
    let packed: Packed;
    try {
      packed = await packFasta({ name, bytes, directory: this.#directory, report, tell, segmentBytes });
    } catch (error) {
      throw corpusProblem(error, name);
    }
    const { hash, source, sequences, residues } = packed;
    if (sequences === 0) {
      throw new Problem("invalid_request", `corpus ${name}: the file holds no sequence. Expected FASTA.`);
    }
    const known = this.#find("hash = ?", hash) ?? (await this.#withSource(() => source));
    if (known && this.#isWhole(known)) {
      dropSegments(this.#directory, name);
      return known;
    }
    if (!known && this.#find("name = ?", name)) {
      dropSegments(this.#directory, name);
      throw new Problem(
        "conflict",
        `corpus ${name}: a corpus of this name with other content is there already. Choose another name.`,
      );
    }
    writeDurably(this.#path(hash), packed.chunks);
    writeDurably(this.#sourcePath(hash), [new TextEncoder().encode(source)]);
    this.#insert({ hash, name, sequences, residues, bytes: packed.byteLength });
    dropSegments(this.#directory, name);
    return this.#find("hash = ?", hash)!;
  }

  /**
   * Takes a file in that lies in its place already and was verified there, such as one that was fetched, under its own
   * name or another. The first corpus is taken into use. What is known already stays as it is.
   * @throws Problem bad_corpus, conflict where another corpus has the name
   */
  adopt(hash: string, name?: string): CorpusInfo {
    const known = this.#find("hash = ?", hash);
    if (known) return known;
    const path = this.#path(hash);
    const corpus = openCorpusFile(path);
    const as = name ?? corpus.name;
    if (this.#find("name = ?", as))
      throw new Problem(
        "conflict",
        `corpus ${as}: a corpus of this name with other content is there already. Choose another name (--name).`,
      );
    const { sequenceCount: sequences, residueCount: residues } = corpus;
    this.#insert({ hash, name: as, sequences, residues, bytes: statSync(path).size });
    return this.#find("hash = ?", hash)!;
  }

  #insert(added: Pick<CorpusInfo, "hash" | "name" | "sequences" | "residues" | "bytes">): void {
    const { hash, name, sequences, residues, bytes } = added;
    this.database
      .transaction(() => {
        this.database
          .query(
            `INSERT INTO corpus (hash, name, sequences, residues, bytes, added, active)
         VALUES (?, ?, ?, ?, ?, ?, NOT EXISTS (SELECT 1 FROM corpus WHERE active = 1)) ON CONFLICT DO NOTHING`,
          )
          .run(hash, name, sequences, residues, bytes, this.clock.now());
        this.#note("corpus.add", { hash, name }, { sequences, residues });
      })
      .immediate();
  }

  /** The corpus of this name or hash, which must not be the one in use unless there is no other, with its file. What was scored on it stays. */
  remove(wanted: string): CorpusInfo {
    const found = this.find(wanted);
    if (found.active && this.list().length > 1) {
      throw new Problem(
        "conflict",
        `corpus ${found.name} is in use: take another one into use first (labd corpus use NAME).`,
      );
    }
    // First the row: a kill in between leaves a file that nobody names, which the next `add` removes.
    this.database
      .transaction(() => {
        this.database.query("DELETE FROM corpus WHERE hash = ?").run(found.hash);
        this.#note("corpus.remove", found);
      })
      .immediate();
    rmSync(found.path, { force: true });
    removeCalibration(found.path);
    rmSync(this.#sourcePath(found.hash), { force: true });
    return { ...found, active: false };
  }

  /** Removes what killed processes have left behind, and downloads that nobody went on with for a week. One process at a time has the data directory. */
  #sweep(): void {
    if (!existsSync(this.#directory)) return;
    const known = new Set(this.list().map(({ hash }) => hash));
    for (const file of readdirSync(this.#directory)) {
      const [hash] = file.split(".", 1);
      const isLeft = file.endsWith(PART) || (/\.(labc|source|null)$/.test(file) && !known.has(hash));
      const isForgotten = /\.labc\.(fetching|lock(-journal)?)$/.test(file) && this.#age(file) > FORGOTTEN;
      if (isLeft || isForgotten) rmSync(join(this.#directory, file));
    }
  }

  #age(file: string): number {
    return Date.now() - (statSync(join(this.#directory, file), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  }

  /** The corpus that was made of this FASTA; null where none was. The digest is only asked for where there may be one. */
  async #withSource(digest: () => string | Promise<string>): Promise<CorpusInfo | null> {
    const candidates = this.list().filter(({ hash }) => existsSync(this.#sourcePath(hash)));
    if (candidates.length === 0) return null;
    const wanted = await digest();
    const found = candidates.find(({ hash }) => readFileSync(this.#sourcePath(hash), "utf8") === wanted);
    return found && this.#isWhole(found) ? found : null;
  }

  /** Whether its file is there as it was written: one that is not is made again where the same is added. */
  #isWhole(info: CorpusInfo): boolean {
    try {
      this.verify(info);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === "bad_corpus") return false;
      throw error;
    }
  }

  /** All corpora, in order of their addition. */
  list(): CorpusInfo[] {
    return this.#select("ORDER BY added, name");
  }

  /** A corpus by its name, its hash or the first eight or more digits of that. @throws Problem not_found with near names */
  find(wanted: string): CorpusInfo {
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
    return found;
  }

  /**
   * Takes a corpus into use, as `find` finds it. Jobs that are running keep the one they began with.
   * @throws Problem not_found with near names
   */
  use(wanted: string): CorpusInfo {
    const found = this.find(wanted);
    // Mapped before the switch: a file that is damaged must not take the place of one that works.
    openCorpusFile(found.path);
    this.database.transaction(() => {
      this.database.query("UPDATE corpus SET active = 0 WHERE active = 1").run();
      this.database.query("UPDATE corpus SET active = 1 WHERE hash = ?").run(found.hash);
      this.#note("corpus.use", found);
    })();
    return { ...found, active: true };
  }

  #note(
    action: string,
    { hash, name }: { hash: string; name: string },
    more: Record<string, number> = {},
  ): void {
    const subject = { kind: "corpus", id: hash };
    auditOf(this.database, this.clock).record({ action, subject, detail: { name, ...more } });
  }

  /** The corpus in use; null where none was added. */
  active(): CorpusInfo | null {
    return this.#find("active = ?", 1);
  }

  /** What a job would be scored on now. */
  scoringVersion(): ScoringVersion {
    const active = this.active();
    if (!active) return { corpus: (this.#emptyHash ??= emptyCorpus().hash), method: METHOD };
    const stamp = calibrationStamp(active.path);
    if (stamp === "") return { corpus: active.hash, method: METHOD };
    // Read again only where the file is another: it is asked for with every job.
    if (this.#null?.path !== active.path || this.#null.stamp !== stamp) {
      const own = readCalibration(active.path);
      this.#null = { path: active.path, stamp, method: own ? `${METHOD} ${own.hash}` : METHOD };
    }
    return { corpus: active.hash, method: this.#null.method };
  }

  /** The corpus in use, mapped; the empty one where none was added. @throws Problem bad_corpus */
  openActive(): Corpus {
    const active = this.active();
    return active ? openCorpusFile(active.path) : emptyCorpus();
  }

  /** Reads every byte of a corpus. @throws Problem bad_corpus where one was altered */
  verify({ path, hash }: CorpusInfo): void {
    verifyCorpusFile(path, hash);
  }

  #path(hash: string): string {
    return join(this.#directory, `${hash}.labc`);
  }

  #sourcePath(hash: string): string {
    return join(this.#directory, `${hash}.source`);
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
