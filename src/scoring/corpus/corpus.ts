import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import {
  type Corpus,
  CORPUS_VERSION,
  CorpusError,
  FastaError,
  METHOD,
  openCorpus,
  packCorpus,
} from "../../motif/index.ts";
import { nearest, Problem } from "../../problem.ts";
import { getAuditLog } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import { hashSource, dropSegments, packFasta, type Packed } from "./corpus-packing.ts";
import { PART, writeDurably } from "../../platform/durable-file.ts";
import type { FastaSource } from "./fasta-stream.ts";
import { removeFamilies } from "./families-file.ts";

/** A protein collection in the data directory. */
export interface CorpusInfo {
  name: string;
  /** SHA-256 of its content, also the name of its file. */
  hash: string;
  sequences: number;
  residues: number;
  bytes: number;
  /** Milliseconds since 1970-01-01 UTC. */
  added: number;
  /** True if jobs are scored against it. */
  active: boolean;
  path: string;
}

/** The versions and data on which a result depends besides the request. */
export interface ScoringVersion {
  /** Content hash of the corpus. */
  corpus: string;
  /** Version of the method. */
  method: string;
}

export interface CorpusSource {
  /** Name shown in results, such as `swissprot-2026_01`. */
  name: string;
  bytes: FastaSource;
  /** Called with the numbers so far, after every chunk. */
  report?: (sequences: number, residues: number) => void;
  /** Called with a sentence if an interrupted attempt is continued. */
  tell?: (sentence: string) => void;
  /** Bytes of FASTA per stored segment. */
  segmentBytes?: number;
}

/** Milliseconds after which an interrupted download is discarded. */
const ABANDONED_AFTER = 7 * 86_400_000;

/** Stands for a missing corpus: searching it finds nothing. */
export function emptyCorpus(): Corpus {
  return openCorpus(packCorpus("none", []));
}

/** Warning in results that were computed without a corpus. */
export const NO_CORPUS =
  "There is no corpus to search for homologs: add one with `labd corpus add FILE` (FASTA) and submit again.";

/**
 * Opens a corpus: the content of the file if it has been read, or else the mapped file.
 * The mapping is private, so that no stray write reaches the file.
 * @throws Problem bad_corpus
 */
export function openCorpusFile(path: string, content?: SharedArrayBuffer): Corpus {
  let bytes: Uint8Array;
  try {
    bytes = content ? new Uint8Array(content) : mapOrRead(path);
  } catch (error) {
    throw new Problem("bad_corpus", `corpora/${basename(path)} cannot be read.`, { cause: error });
  }
  try {
    return openCorpus(bytes);
  } catch (error) {
    throw corpusProblem(error, `corpora/${basename(path)}`);
  }
}

let opened: { path: string; stamp: string; corpus: Corpus } | undefined;

/** A corpus that stays open until another is asked for, or its file has changed. @throws Problem bad_corpus */
export function openedCorpus(path: string): Corpus {
  const stat = statSync(path, { throwIfNoEntry: false });
  const stamp = `${stat?.ino} ${stat?.size} ${stat?.mtimeMs}`;
  // Reading beyond the end of a mapped file that was truncated would end the process.
  if (opened?.path !== path || opened.stamp !== stamp) opened = { path, stamp, corpus: openCorpusFile(path) };
  return opened.corpus;
}

/** Errors of files that can only be read. */
const ONLY_READ = new Set(["EROFS", "EACCES", "EPERM"]);

/**
 * Bun maps no files on Windows, and elsewhere only files that it may open for writing. Others are read into each worker's
 * memory.
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

/** True if an earlier version of labd packed it, without names of genes; false for a file that cannot be read. */
export function isEarlierFormat(path: string): boolean {
  try {
    const head = new Uint8Array(12);
    const file = openSync(path, "r");
    readSync(file, head);
    closeSync(file);
    return new DataView(head.buffer).getUint32(8, true) < CORPUS_VERSION;
  } catch {
    return false;
  }
}

/** Path of a corpus in a data directory. */
export const corpusPath = (dataDirectory: string, hash: string): string =>
  join(dataDirectory, "corpora", `${hash}.labc`);

/**
 * Reads every byte of a corpus file.
 * @throws Problem bad_corpus if its content does not have this hash
 */
export function verifyCorpusFile(path: string, hash: string): Corpus {
  const corpus = openCorpusFile(path);
  if (corpus.hash !== hash)
    throw new Problem(
      "bad_corpus",
      `corpora/${basename(path)} contains corpus ${corpus.hash} instead of ${hash}.`,
    );
  try {
    corpus.verify();
  } catch (error) {
    throw corpusProblem(error, `corpora/${basename(path)}`);
  }
  return corpus;
}

/** Reads every byte of a corpus file. @returns the damage; null if it is intact */
export function findCorpusDamage(path: string): string | null {
  try {
    const corpus = openCorpus(mapOrRead(path));
    corpus.verify();
    const named = basename(path, ".labc");
    return corpus.hash === named ? null : `it contains corpus ${corpus.hash}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The corpora of one data directory: a file in `corpora/` and a database row each. */
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
   * Packs a file of FASTA or UniProt entries as a stream and stores it under its content hash. The first corpus becomes active. Adding the same
   * content again returns the existing corpus. An interrupted attempt with this name is continued.
   * @throws Problem invalid_request naming line and reason; conflict if the name is taken
   */
  async add({ name, bytes, report, tell, segmentBytes }: CorpusSource): Promise<CorpusInfo> {
    if (!/^[^\p{C}]{1,200}$/u.test(name)) {
      throw new Problem("invalid_request", "corpus name: expected 1 to 200 printable characters.");
    }
    this.#sweep();
    const same = bytes instanceof ReadableStream ? null : await this.#withSource(() => hashSource(bytes));
    if (same) return same;
    let packed: Packed;
    try {
      packed = await packFasta({ name, bytes, directory: this.#directory, report, tell, segmentBytes });
    } catch (error) {
      throw corpusProblem(error, name);
    }
    const { hash, source, sequences } = packed;
    if (sequences === 0) {
      throw new Problem(
        "invalid_request",
        `corpus ${name}: the file contains no sequences. Expected FASTA, or a flat file or JSON of UniProt.`,
      );
    }
    const known = this.#find("hash = ?", hash) ?? (await this.#withSource(() => source));
    if (known && this.#isCurrent(known)) {
      dropSegments(this.#directory, name);
      return known;
    }
    this.#store(name, packed, this.#earlierFormat(source));
    return this.#find("hash = ?", hash)!;
  }

  /** @param former the corpus that it replaces */
  #store(name: string, packed: Packed, former: CorpusInfo | undefined): void {
    const { hash, source, sequences, residues, byteLength } = packed;
    const namesake = this.#find("name = ?", name);
    if (namesake && namesake.hash !== hash && namesake.hash !== former?.hash) {
      dropSegments(this.#directory, name);
      throw new Problem("conflict", `corpus ${name}: another corpus has this name. Choose another name.`);
    }
    writeDurably(this.#path(hash), packed.chunks);
    writeDurably(this.#sourcePath(hash), [new TextEncoder().encode(source)]);
    this.#insert({ hash, name, sequences, residues, bytes: byteLength }, former);
    if (former) this.#removeFiles(former);
    dropSegments(this.#directory, name);
  }

  /** The corpus that an earlier version of labd packed from this source, to be replaced. */
  #earlierFormat(source: string): CorpusInfo | undefined {
    return this.list().find(
      ({ hash, path }) => this.#readSourceHash(hash) === source && isEarlierFormat(path),
    );
  }

  /**
   * Registers a verified file that is already in its place, such as a download. The first corpus becomes active.
   * @throws Problem bad_corpus; conflict if another corpus has the name
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
        `corpus ${as}: another corpus has this name. Choose another name (--name).`,
      );
    const { sequenceCount: sequences, residueCount: residues } = corpus;
    this.#insert({ hash, name: as, sequences, residues, bytes: statSync(path).size });
    return this.#find("hash = ?", hash)!;
  }

  /** @param former the corpus that it replaces, in use or not */
  #insert(
    added: Pick<CorpusInfo, "hash" | "name" | "sequences" | "residues" | "bytes">,
    former?: CorpusInfo,
  ): void {
    const { hash, name, sequences, residues, bytes } = added;
    this.database
      .transaction(() => {
        if (former) this.database.query("DELETE FROM corpus WHERE hash = ?").run(former.hash);
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

  /** Removes a corpus, which may be active only if it is the last. Results that were computed with it remain. */
  remove(wanted: string): CorpusInfo {
    const found = this.find(wanted);
    if (found.active && this.list().length > 1) {
      throw new Problem(
        "conflict",
        `corpus ${found.name} is in use: activate another one first (labd corpus use NAME).`,
      );
    }
    // Row first: a kill in between leaves a file without a row, which the next `add` removes.
    this.database
      .transaction(() => {
        this.database.query("DELETE FROM corpus WHERE hash = ?").run(found.hash);
        this.#note("corpus.remove", found);
      })
      .immediate();
    this.#removeFiles(found);
    return { ...found, active: false };
  }

  #removeFiles({ path, hash }: CorpusInfo): void {
    rmSync(path, { force: true });
    removeFamilies(path);
    rmSync(this.#sourcePath(hash), { force: true });
  }

  /** Removes leftovers of killed processes, and downloads that were abandoned a week ago. */
  #sweep(): void {
    if (!existsSync(this.#directory)) return;
    const known = new Set(this.list().map(({ hash }) => hash));
    for (const file of readdirSync(this.#directory)) {
      const [hash] = file.split(".", 1);
      const isLeftover =
        file.endsWith(PART) || (/\.(labc|source|null|families)$/.test(file) && !known.has(hash));
      const isAbandoned =
        /\.labc\.(fetching|lock(-journal)?)$/.test(file) && this.#age(file) > ABANDONED_AFTER;
      if (isLeftover || isAbandoned) rmSync(join(this.#directory, file), { recursive: true });
    }
  }

  #age(file: string): number {
    return Date.now() - (statSync(join(this.#directory, file), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  }

  /** The corpus made from this FASTA, or null. The digest is computed only if there is a candidate. */
  async #withSource(digest: () => string | Promise<string>): Promise<CorpusInfo | null> {
    const candidates = this.list().filter(({ hash }) => this.#readSourceHash(hash) !== null);
    if (candidates.length === 0) return null;
    const wanted = await digest();
    const found = candidates.find(({ hash }) => this.#readSourceHash(hash) === wanted);
    return found && this.#isCurrent(found) ? found : null;
  }

  /** SHA-256 of the FASTA that it was packed from, or null if that is not known. */
  #readSourceHash(hash: string): string | null {
    const path = this.#sourcePath(hash);
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  }

  /** True if its file is unchanged and of the current format; others are written again. */
  #isCurrent(info: CorpusInfo): boolean {
    try {
      return verifyCorpusFile(info.path, info.hash).version === CORPUS_VERSION;
    } catch (error) {
      if (error instanceof Problem && error.code === "bad_corpus") return false;
      throw error;
    }
  }

  /** All corpora, oldest first. */
  list(): CorpusInfo[] {
    return this.#select("ORDER BY added, name");
  }

  /** Finds a corpus by name, hash, or at least eight initial digits of the hash. @throws Problem not_found with near names */
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
          ? "there is none yet; add one with `labd corpus add FILE`."
          : near.length > 0
            ? `did you mean ${near.join(" or ")}?`
            : `available: ${names.join(", ")}.`;
      throw new Problem("not_found", `corpus ${wanted}: no corpus has this name or hash; ${hint}`);
    }
    return found;
  }

  /**
   * Makes a corpus active. Running jobs keep the corpus they started with.
   * @throws Problem not_found with near names
   */
  use(wanted: string): CorpusInfo {
    const found = this.find(wanted);
    // Opened before the switch: a damaged file must not replace a working one.
    openCorpusFile(found.path);
    this.database
      .transaction(() => {
        this.database.query("UPDATE corpus SET active = 0 WHERE active = 1").run();
        this.database.query("UPDATE corpus SET active = 1 WHERE hash = ?").run(found.hash);
        this.#note("corpus.use", found);
      })
      .immediate();
    return { ...found, active: true };
  }

  #note(
    action: string,
    { hash, name }: { hash: string; name: string },
    more: Record<string, number> = {},
  ): void {
    const subject = { kind: "corpus", id: hash };
    getAuditLog(this.database, this.clock).record({ action, subject, detail: { name, ...more } });
  }

  /** The corpus in use, or null. */
  active(): CorpusInfo | null {
    return this.#find("active = ?", 1);
  }

  /** Corpus and method version of a job that starts now. @param corpus by default the one in use */
  scoringVersion(corpus: Pick<CorpusInfo, "hash"> | null = this.#activeHash()): ScoringVersion {
    return { corpus: corpus ? corpus.hash : (this.#emptyHash ??= emptyCorpus().hash), method: METHOD };
  }

  /** The hash alone: each job asks for it. */
  #activeHash(): Pick<CorpusInfo, "hash"> | null {
    return this.database.query("SELECT hash FROM corpus WHERE active = 1").get() as { hash: string } | null;
  }

  /** A corpus, mapped, or the empty corpus. @param corpus by default the one in use @throws Problem bad_corpus */
  open(corpus = this.active()): Corpus {
    return corpus ? openCorpusFile(corpus.path) : emptyCorpus();
  }

  /** The corpus in use, which stays open as long as it is in use. @throws Problem bad_corpus */
  opened(): Corpus {
    const active = this.active();
    return active ? openedCorpus(active.path) : emptyCorpus();
  }

  /** Reads every byte of a corpus. @throws Problem bad_corpus if one was altered */
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

/** Errors of the library as Problems; other errors unchanged. */
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
