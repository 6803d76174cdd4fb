import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type AuditLog, getAuditLog } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import { isRunning } from "../../platform/running-process.ts";
import { createDirectory } from "../../platform/owned-file.ts";
import { type Database, openReader } from "../../platform/sqlite.ts";
import { nearest, Problem } from "../../problem.ts";
import { fileHash, PART, renameDurably } from "../../platform/durable-file.ts";
import type { Feature, FeatureGroup } from "./feature.ts";

/** Why features of a protein are not shown. */
export const FLAGS = {
  sequence: "belong to another sequence of this protein",
  isoform: "belong to an isoform of this protein",
  version: "belong to another version of this protein",
  length: "end after the last residue",
} as const;
export type Flag = keyof typeof FLAGS;
export type Flagged = Partial<Record<Flag, number>>;

/** An imported file. */
export interface FeatureFileInfo {
  name: string;
  /** Name of its format, such as `gff3`. */
  format: string;
  /** Corpus in use at the import. */
  corpus: string;
  /** Milliseconds since 1970-01-01 UTC. */
  imported: number;
  /** Features that are stored for proteins of the corpus, flagged ones included, and these proteins. */
  features: number;
  proteins: number;
  flagged: Flagged;
  /** Identifiers that no protein has, with their features and the first of them. */
  unmatched: { proteins: number; features: number; examples: string[] };
  groups: Partial<Record<Feature["group"], number>>;
  /** Size of the file as it was given; of one that an earlier version imported, size on disk. */
  bytes: number;
}

/** Features of one protein. */
export interface ProteinFeatures {
  accession: string;
  /** MD5 of the sequence to which the features belong. */
  md5: string;
  features: Feature[];
  flagged: Flagged;
}

/** Features in stored form: those of one group, type and source together, without the names of fields. */
type Packed = [FeatureGroup, string, string, [number, number, string, string, string?, string[]?][]][];

export function packFeatures(features: readonly Feature[]): string {
  const packed = new Map<string, Packed[number]>();
  for (const { group, type, source, start, end, name, id, logic, structures } of features) {
    const key = `${group}\n${type}\n${source}`;
    const kind = packed.get(key) ?? [group, type, source, []];
    packed.set(key, kind);
    if (logic === undefined) kind[3].push([start, end, name, id]);
    else kind[3].push([start, end, name, id, logic, structures ?? []]);
  }
  return JSON.stringify([...packed.values()]);
}

export const unpackFeatures = (text: string): Feature[] =>
  (JSON.parse(text) as Packed).flatMap(([group, type, source, some]) =>
    some.map(([start, end, name, id, logic, structures = []]): Feature => {
      const feature: Feature = { group, type, start, end, name, id, source };
      if (logic !== undefined) feature.logic = logic;
      if (structures.length > 0) feature.structures = structures;
      return feature;
    }),
  );

/** The layout of the files; readers refuse others. */
const VERSION = 1;
export const SCHEMA = `
  PRAGMA user_version = ${VERSION};
  CREATE TABLE about (json TEXT NOT NULL) STRICT;
  CREATE TABLE known (accession TEXT NOT NULL, md5 TEXT NOT NULL, flag TEXT, features TEXT NOT NULL) STRICT;`;
export const INDEXES =
  "CREATE INDEX by_accession ON known (accession); CREATE INDEX by_sequence ON known (md5);";
const EXTENSION = ".features";
/** Audit entry of an import. */
const ADD_ACTION = "features.add";
/** Milliseconds without a write after which an unfinished file belongs to no running import. */
const ABANDONED_AFTER = 3_600_000;

export const MAX_FILES = 100;

export const hashResidues = (residues: string): string =>
  new Bun.CryptoHasher("md5").update(residues).digest("hex");

interface Opened {
  stamp: string;
  database: Database;
  info: FeatureFileInfo;
  /** SHA-256 of the rows; undefined if a former version wrote the file. */
  sha256?: string;
  isDamaged: boolean;
}

export interface Row {
  accession: string;
  md5: string;
  flag: Flag | null;
  features: string;
}

/** Rows with their features; none of a file that proves to be damaged, which is left out from then on. */
function readRows(opened: Opened, query: string, value: string) {
  try {
    const rows = opened.database.query(query).all(value) as Row[];
    return rows.map(({ accession, md5, flag, features }) => ({
      accession,
      md5,
      flag,
      read: unpackFeatures(features),
    }));
  } catch {
    opened.isDamaged = true;
    return [];
  }
}

/** The imported features of a data directory: a SQLite file for each imported file, which never changes. */
export class FeatureFiles {
  readonly directory: string;
  readonly #open = new Map<string, Opened>();

  constructor(dataDirectory: string) {
    this.directory = join(dataDirectory, "features");
  }

  /** Feature files by name. */
  list(): FeatureFileInfo[] {
    return this.#current().map(({ info }) => info);
  }

  /** Paths of files that cannot be read; they are left out everywhere. */
  damaged(): string[] {
    const readable = new Set(this.#current().map(({ stamp }) => stamp.split(":", 1)[0]));
    return this.#names()
      .filter((name) => !readable.has(name))
      .map((name) => join(this.directory, name));
  }

  /** SHA-256 of the content of all files. */
  hash(): string {
    const contents = this.#current().map(({ info, sha256, stamp }) => [info.name, sha256 ?? stamp]);
    return new Bun.CryptoHasher("sha256").update(JSON.stringify(contents)).digest("hex");
  }

  /** Changes whenever a file is added or removed. */
  version(): string {
    return this.#current()
      .map(({ stamp }) => stamp)
      .join();
  }

  get isEmpty(): boolean {
    return this.#current().length === 0;
  }

  /** The folder into which an import writes before `adopt`. */
  temporaryPath(name: string): string {
    createDirectory(this.directory);
    return `${this.#path(name)}.${process.pid}${PART}`;
  }

  /** Records a finished file in the audit log and gives it its name; it replaces an earlier import of that name. */
  adopt(temporary: string, { name, format, features, proteins }: FeatureFileInfo, audit: AuditLog): void {
    const detail = { name, format, features, proteins, sha256: fileHash(temporary) };
    const event = { action: ADD_ACTION, subject: { kind: "features", id: name }, detail };
    renameDurably(temporary, this.#path(name), () => audit.record(event));
  }

  /** Adopts files whose import was killed after it was recorded, and removes what others left. */
  adoptFinished(audit: AuditLog): void {
    if (!existsSync(this.directory)) return;
    for (const part of readdirSync(this.directory).filter((one) => one.endsWith(PART))) {
      const path = join(this.directory, part);
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
      if (isRunning(Number(part.split(".").at(-2))) && age <= ABANDONED_AFTER) continue;
      const found = openFile(path, 0);
      found?.database.close();
      const last = found && audit.findLastEntry("features", found.info.name);
      if (last?.action === ADD_ACTION && last.detail.sha256 === fileHash(path))
        renameDurably(path, this.#path(found!.info.name));
      else rmSync(path, { force: true });
    }
  }

  /** @throws Problem not_found with near names */
  remove(name: string, database: Database, clock: Clock): void {
    const names = this.list().map((one) => one.name);
    if (!names.includes(name)) {
      const near = nearest(name, names);
      const hint =
        names.length === 0
          ? "No file is imported."
          : `Choose from ${(near.length > 0 ? near : names).join(", ")}.`;
      throw new Problem("not_found", `features ${name}: no imported file has this name. ${hint}`);
    }
    getAuditLog(database, clock).record({
      action: "features.remove",
      subject: { kind: "features", id: name },
      detail: { name },
    });
    rmSync(this.#path(name), { force: true });
  }

  /** Features of proteins by their accessions in the corpus. */
  findByAccession(accessions: readonly string[]): Map<string, ProteinFeatures> {
    const found = this.#select("accession IN (SELECT value FROM json_each(?))", JSON.stringify(accessions));
    return new Map(found.map((one) => [one.accession, one]));
  }

  /** Features of the proteins with exactly this sequence. */
  findBySequence(md5: string): ProteinFeatures[] {
    return this.#select("md5 = ?", md5);
  }

  /** Proteins with features of the group `motif`, in no particular order. */
  motifs(): ProteinFeatures[] {
    return this.#select("flag IS NULL AND instr(features, ?)", '["motif",');
  }

  #select(condition: string, value: string): ProteinFeatures[] {
    const proteins = new Map<string, ProteinFeatures>();
    const query = `SELECT accession, md5, flag, features FROM known WHERE ${condition} ORDER BY accession, rowid`;
    for (const opened of this.#current()) {
      const rows = readRows(opened, query, value);
      for (const { accession, md5, flag, read } of rows) {
        const protein = proteins.get(accession) ?? { accession, md5, features: [], flagged: {} };
        proteins.set(accession, protein);
        if (flag !== null) protein.flagged[flag] = (protein.flagged[flag] ?? 0) + read.length;
        else if (protein.md5 === md5) protein.features.push(...read);
        // The file was imported when the corpus had another sequence of the protein.
        else protein.flagged.sequence = (protein.flagged.sequence ?? 0) + read.length;
      }
    }
    return [...proteins.values()];
  }

  /** The present files on disk: another process may have imported or removed some. */
  #current(): Opened[] {
    const names = this.#names();
    for (const [name, { database }] of this.#open)
      if (!names.includes(name)) {
        database.close();
        this.#open.delete(name);
      }
    return names
      .flatMap((name) => this.#opened(name) ?? [])
      .toSorted((a, b) => (a.info.name < b.info.name ? -1 : 1));
  }

  #names(): string[] {
    return existsSync(this.directory)
      ? readdirSync(this.directory).filter((name) => name.endsWith(EXTENSION))
      : [];
  }

  #opened(name: string): Opened | undefined {
    const path = join(this.directory, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return undefined;
    const stamp = `${name}:${stat.ino}:${stat.size}:${stat.mtimeMs}`;
    const known = this.#open.get(name);
    if (known?.stamp === stamp) return known.isDamaged ? undefined : known;
    known?.database.close();
    this.#open.delete(name);
    const opened = openFile(path, stat.size);
    if (!opened) return undefined;
    this.#open.set(name, { stamp, ...opened, isDamaged: false });
    return this.#open.get(name);
  }

  #path(name: string): string {
    const stem = new Bun.CryptoHasher("sha256").update(name).digest("hex").slice(0, 16);
    return join(this.directory, `${stem}${EXTENSION}`);
  }

  close(): void {
    for (const { database } of this.#open.values()) database.close();
    this.#open.clear();
  }
}

/** Adds a row to the hash of a file's rows in their order. */
export const hashRow = (hasher: Bun.CryptoHasher, { accession, md5, flag, features }: Row): void =>
  void hasher.update(JSON.stringify([accession, md5, flag, features]));

/** Reads a whole file. @returns why it is damaged, as far as its version allows to tell; null if it is intact */
export function findFeatureDamage(path: string): string | null {
  const opened = openFile(path, 0);
  if (!opened) return "it cannot be read, or another version of labd wrote it";
  const { database, sha256 } = opened;
  try {
    const found = database.query("PRAGMA integrity_check(1)").get() as { integrity_check: string };
    if (found.integrity_check !== "ok") return found.integrity_check;
    const hasher = new Bun.CryptoHasher("sha256");
    const rows = database.query("SELECT accession, md5, flag, features FROM known ORDER BY rowid");
    for (const row of rows.iterate()) hashRow(hasher, row as Row);
    return sha256 === undefined || sha256 === hasher.digest("hex") ? null : "its rows were altered";
  } catch (error) {
    return (error as Error).message;
  } finally {
    database.close();
  }
}

/** Undefined for a file that is damaged, or was written by another version of labd. */
function openFile(path: string, bytes: number): Omit<Opened, "stamp" | "isDamaged"> | undefined {
  let database: Database | undefined;
  try {
    database = openReader(path);
    const { user_version: version } = database.query("PRAGMA user_version").get() as { user_version: number };
    if (version !== VERSION) throw new Error(`layout ${version}`);
    const { json } = database.query("SELECT json FROM about").get() as { json: string };
    // Former versions stored no hash.
    const { sha256, ...info } = JSON.parse(json) as FeatureFileInfo & { sha256?: string };
    return {
      database,
      info: { ...info, bytes: info.bytes || bytes },
      ...(sha256 !== undefined && { sha256 }),
    };
  } catch {
    database?.close();
    return undefined;
  }
}
