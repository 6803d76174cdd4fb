import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { FAMILY_METHOD, type SizeRange, type StoredFamily } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { PART, writeDurably } from "../../platform/durable-file.ts";

/**
 * Families of proteins, beside their corpus: a directory of immutable files, each with some hundred records. A file is
 * named by its content, so files from other machines can be copied into the directory. Its first line is JSON, the second
 * the SHA-256 of the first and of all bytes after the second, which are the records.
 */
interface Contents {
  format: number;
  method: string;
  /** SHA-256 of the corpus. */
  corpus: string;
  /** Index in the corpus of each protein, and the bytes of its record. */
  proteins: number[];
  bytes: number[];
  /** Residues of the corpora in which the family would be the same. */
  sizes: SizeRange[];
}

/** A file of families whose first line has been read. */
export interface FamiliesFile {
  path: string;
  proteins: number[];
  /** Bytes of the file. */
  size: number;
}

const FORMAT = 2;
const EXTENSION = ".families";
const FILE_ENDING = ".labf";

const stripExtension = (corpusPath: string): string => corpusPath.replace(/\.labc$/, "");

/** Directory of a corpus's families, which belong to its content and the method that made them. */
export const familiesPath = (corpusPath: string): string =>
  `${stripExtension(corpusPath)}.${FAMILY_METHOD}${EXTENSION}`;

const displayName = (path: string): string => `corpora/${basename(dirname(path))}/${basename(path)}`;

const altered = (path: string): Problem =>
  new Problem(
    "bad_corpus",
    `${displayName(path)} was altered. Delete it, and run labd proteome build again.`,
  );

/** Adds a file of records to a corpus. */
export function writeFamilies(
  corpus: { path: string; hash: string },
  families: readonly StoredFamily[],
): void {
  const records = families.map(({ record }) => record);
  const contents: Contents = {
    format: FORMAT,
    method: FAMILY_METHOD,
    corpus: corpus.hash,
    proteins: families.map(({ protein }) => protein),
    bytes: records.map(({ length }) => length),
    sizes: families.map(({ sizes }) => sizes),
  };
  const line = `${JSON.stringify(contents)}\n`;
  const hash = hashRecords(line, records);
  const chunks = [new TextEncoder().encode(`${line}${hash}\n`), ...records];
  writeDurably(join(familiesPath(corpus.path), `${hash.slice(0, 16)}${FILE_ENDING}`), chunks);
}

const hashRecords = (line: string, records: readonly Uint8Array[]): string =>
  records
    .reduce((hash, record) => hash.update(record), new Bun.CryptoHasher("sha256").update(line))
    .digest("hex");

/** The files of a corpus, in order of names. @throws Problem bad_corpus */
export function listFamilies(corpus: { path: string; hash: string }): FamiliesFile[] {
  const directory = familiesPath(corpus.path);
  if (!statSync(directory, { throwIfNoEntry: false })) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(FILE_ENDING));
  return names.toSorted().map((name) => {
    const path = join(directory, name);
    const { proteins } = parseContents(path, firstLine(path), corpus.hash);
    return { path, proteins, size: statSync(path).size };
  });
}

/** Families by the protein's index. @throws Problem bad_corpus if the file was altered */
export function readFamilies(path: string, corpusHash: string): Map<number, StoredFamily> {
  const file = readFileSync(path);
  const line = file.subarray(0, file.indexOf("\n") + 1).toString("utf8");
  let at = file.indexOf("\n", line.length) + 1;
  const hash = file.subarray(line.length, Math.max(line.length, at - 1)).toString("utf8");
  if (at === 0 || hash !== hashRecords(line, [file.subarray(at)])) throw altered(path);
  const { proteins, bytes, sizes } = parseContents(path, line, corpusHash);
  return new Map(
    proteins.map((protein, i) => [
      protein,
      { protein, record: file.subarray(at, (at += bytes[i])), sizes: sizes[i] },
    ]),
  );
}

/** @throws Problem bad_corpus */
function parseContents(path: string, line: string, corpusHash: string): Contents {
  let contents: Contents;
  try {
    contents = JSON.parse(line) as Contents;
  } catch {
    throw altered(path);
  }
  const { format, method, corpus } = contents;
  if (format === FORMAT && method === FAMILY_METHOD && corpus === corpusHash) return contents;
  throw new Problem(
    "bad_corpus",
    `${displayName(path)} belongs to another corpus or version of labd. Move it out of this directory.`,
  );
}

const CHUNK = 8192;

/** Up to the first line feed, or everything if there is none. */
function firstLine(path: string): string {
  const file = openSync(path, "r");
  try {
    const chunks: Buffer[] = [];
    for (;;) {
      const chunk = Buffer.alloc(CHUNK);
      const read = readSync(file, chunk, 0, CHUNK, null);
      const end = chunk.subarray(0, read).indexOf("\n");
      chunks.push(chunk.subarray(0, end < 0 ? read : end));
      if (end >= 0 || read === 0) return Buffer.concat(chunks).toString("utf8");
    }
  } finally {
    closeSync(file);
  }
}

/** Milliseconds after which an unfinished file belongs to no running build. */
const ABANDONED_AFTER = 3_600_000;

/** Removes what killed builds left unfinished. */
export function sweepFamilies(corpusPath: string): void {
  const directory = familiesPath(corpusPath);
  const names = statSync(directory, { throwIfNoEntry: false }) ? readdirSync(directory) : [];
  for (const name of names.filter((one) => one.endsWith(PART))) {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > ABANDONED_AFTER) rmSync(join(directory, name), { force: true });
  }
}

/** Removes the families of a corpus, also those by earlier methods. @param kept method of those to keep */
export function removeFamilies(corpusPath: string, kept?: string): void {
  const directory = dirname(corpusPath);
  const stem = `${basename(stripExtension(corpusPath))}.`;
  if (!statSync(directory, { throwIfNoEntry: false })) return;
  for (const name of readdirSync(directory)) {
    if (name.startsWith(stem) && name.endsWith(EXTENSION) && name !== `${stem}${kept}${EXTENSION}`)
      rmSync(join(directory, name), { recursive: true, force: true });
  }
}
