import { rmSync } from "node:fs";
import { getAuditLog } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import { closeStore, createStore, type Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import { type Corpus, decode, identifyProtein, type IdentifiedProtein } from "../../motif/index.ts";
import { decodeText, decompressed, type FastaSource } from "../corpus/fasta-stream.ts";
import type { Feature, FeatureGroup } from "./feature.ts";
import {
  hashResidues,
  type FeatureFileInfo,
  type FeatureFiles,
  type Flag,
  hashRow,
  INDEXES,
  MAX_FILES,
  packFeatures,
  SCHEMA,
} from "./feature-files.ts";
import { MAX_PER_PROTEIN } from "../corpus/uniprot-entry.ts";
import { accessionFilter } from "./accession-filter.ts";
import type { FeatureRecord, Skip } from "./feature-reader.ts";
import { detectFormat, FEATURE_FORMATS, type FeatureFormatName } from "./formats.ts";

export interface FeatureImport {
  /** Plain, or compressed with gzip or zstd. */
  source: FastaSource;
  /** Name of the import; an earlier one of this name is replaced. */
  name: string;
  /** Format; detected from the content by default. */
  format?: FeatureFormatName | undefined;
  /** Group of all features; by default by their types. */
  group?: FeatureGroup | undefined;
  corpus: Corpus;
  /** Called with the format once it is known. */
  tell?: (format: FeatureFormatName) => void;
  /**
   * Called with the numbers of features so far: read, and of proteins of the corpus, and the part of the file that was
   * read; null where its size is unknown.
   */
  report?: (read: number, matched: number, part: number | null) => void;
}

/** Characters by which the format is detected. */
const HEAD = 8192;
/** Stored features of one file. */
const MAX_FEATURES = 100_000_000;
/** Unmatched identifiers that are listed. */
const EXAMPLES = 10;

/**
 * Imports the features that a file has for proteins of a corpus. Memory does not grow with the file.
 * @throws Problem invalid_request naming line and reason; nothing is imported then
 */
export async function importFeatures(
  request: FeatureImport,
  { files, database, clock }: { files: FeatureFiles; database: Database; clock: Clock },
): Promise<FeatureFileInfo> {
  const { name, corpus } = request;
  if (!/^[^\p{C}]{1,200}$/u.test(name))
    throw new Problem("invalid_request", "name: expected 1 to 200 printable characters.");
  const others = files.list().filter((one) => one.name !== name);
  if (others.length >= MAX_FILES)
    throw new Problem("conflict", `${MAX_FILES} files are imported already. Remove one, or join files.`);
  files.adoptFinished(getAuditLog(database, clock));
  const path = files.temporaryPath(name);
  const store = createStore(path, SCHEMA);
  try {
    const writer = new FeatureWriter(store, request);
    const { format, bytes } = await readAll(request, writer);
    writer.requireMatches(format);
    const info = { ...writer.counts(), name, format, corpus: corpus.name, imported: clock.now(), bytes };
    const about = JSON.stringify({ ...info, sha256: writer.sha256() });
    store.query("INSERT INTO about (json) VALUES (?)").run(about);
    closeStore(store, INDEXES);
    files.adopt(path, info, getAuditLog(database, clock));
    return files.list().find((one) => one.name === name)!;
  } catch (error) {
    store.close();
    rmSync(path, { force: true });
    throw error;
  }
}

/** @returns the format, and the bytes of the file. @throws Problem invalid_request */
async function readAll(
  request: FeatureImport,
  writer: FeatureWriter,
): Promise<{ format: FeatureFormatName; bytes: number }> {
  let head = "";
  let started:
    { format: FeatureFormatName; reader: ReturnType<(typeof FEATURE_FORMATS)["gff3"]["read"]> } | undefined;
  const start = () => {
    const format = request.format ?? detectFormat(head);
    request.tell?.(format);
    started = {
      format,
      reader: FEATURE_FORMATS[format].read((record) => writer.add(record), head, writer.skip),
    };
    started.reader.write(head);
    return started;
  };
  const { source } = request;
  let bytes = 0;
  const count = (some: number): void => void (bytes += some);
  const size = typeof source === "object" && "size" in source ? source.size : null;
  for await (const text of decodeText(decompressed(source, count))) {
    if (started) started.reader.write(text);
    else if ((head += text).length >= HEAD) start();
    request.report?.(writer.read, writer.features, size && bytes / size);
  }
  const { format, reader } = started ?? start();
  reader.end();
  return { format, bytes };
}

/** Stores the features of proteins of the corpus. */
class FeatureWriter {
  /** Features read, and those stored. */
  read = 0;
  features = 0;
  readonly #insert;
  readonly #hasher = new Bun.CryptoHasher("sha256");
  readonly #proteins = new Set<number>();
  /** Digests of sequences, of the last proteins. */
  #last: { index: number; residues: string; md5: string } | undefined;
  readonly #flagged: Partial<Record<Flag, number>> = {};
  readonly #groups: FeatureFileInfo["groups"] = {};
  /** Set once lines are skipped, with the accession of the last one. */
  #mayHave: ((accession: string) => boolean) | undefined;
  #skipped: string | undefined;
  readonly #unmatched = { proteins: 0, features: 0, examples: [] as string[] };

  constructor(
    store: Database,
    private readonly request: Pick<FeatureImport, "corpus" | "group">,
  ) {
    this.#insert = store.query("INSERT INTO known (accession, md5, flag, features) VALUES (?, ?, ?, ?)");
  }

  add({ names, features, sequence }: FeatureRecord): void {
    const { corpus, group } = this.request;
    this.read += features.length;
    if (this.features > MAX_FEATURES || features.length > MAX_PER_PROTEIN)
      throw new Problem(
        "invalid_request",
        `${names[0]}: more than ${MAX_PER_PROTEIN.toLocaleString("en")} features of one protein, or ${MAX_FEATURES.toLocaleString("en")} of proteins of the corpus. Split the file.`,
      );
    const found = this.#find(names);
    if (!found) return this.#miss(names[0], features.length);
    const { residues, md5 } = this.#readSequence(found.index);
    this.#proteins.add(found.index);
    const accession = corpus.accession(found.index);
    const flag = chooseFlag(found, sequence, { residues, md5 });
    const named = group === undefined ? features : features.map((one) => ({ ...one, group }));
    if (flag !== null) return this.#store(accession, md5, flag, named);
    const beyond = named.filter(({ end }) => end > residues.length);
    this.#store(
      accession,
      md5,
      null,
      beyond.length === 0 ? named : named.filter(({ end }) => end <= residues.length),
    );
    this.#store(accession, md5, "length", beyond);
  }

  /** For files that list all proteins of UniProt: nearly all of their lines are of others. */
  readonly skip: Skip = (accession) => {
    const isSame = accession === this.#skipped;
    if (!isSame && (this.#mayHave ??= accessionFilter(this.request.corpus))(accession)) return false;
    this.read++;
    if (isSame) this.#unmatched.features++;
    else this.#miss((this.#skipped = accession), 1);
    return true;
  };

  #find(names: readonly string[]): IdentifiedProtein | null {
    let other: IdentifiedProtein | null = null;
    for (const name of names) {
      const found = identifyProtein(this.request.corpus, name);
      if (found?.form === "same") return found;
      other ??= found;
    }
    return other;
  }

  #miss(name: string, features: number): void {
    this.#unmatched.proteins++;
    this.#unmatched.features += features;
    const { examples } = this.#unmatched;
    if (examples.length < EXAMPLES && !examples.includes(name)) examples.push(name.slice(0, 60));
  }

  #store(accession: string, md5: string, flag: Flag | null, features: Feature[]): void {
    if (features.length === 0) return;
    const packed = packFeatures(features);
    this.#insert.run(accession, md5, flag, packed);
    hashRow(this.#hasher, { accession, md5, flag, features: packed });
    this.features += features.length;
    if (flag !== null) this.#flagged[flag] = (this.#flagged[flag] ?? 0) + features.length;
    for (const { group } of features) this.#groups[group] = (this.#groups[group] ?? 0) + 1;
  }

  #readSequence(index: number): { index: number; residues: string; md5: string } {
    if (this.#last?.index === index) return this.#last;
    const { corpus } = this.request;
    const residues = decode(corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]));
    return (this.#last = { index, residues, md5: hashResidues(residues) });
  }

  /** Number of all rows. */
  sha256(): string {
    return this.#hasher.digest("hex");
  }

  counts() {
    return {
      features: this.features,
      proteins: this.#proteins.size,
      flagged: this.#flagged,
      unmatched: this.#unmatched,
      groups: this.#groups,
    };
  }

  /** @throws Problem invalid_request if there is nothing to store */
  requireMatches(format: FeatureFormatName): void {
    const { corpus } = this.request;
    const as = FEATURE_FORMATS[format].title;
    if (this.read === 0) throw new Problem("invalid_request", `The file, read as ${as}, has no features.`);
    if (this.features > 0) return;
    throw new Problem(
      "invalid_request",
      `No feature is of a protein of corpus ${corpus.name}, so that nothing is imported. The file, read as ${as}, names proteins such as ${this.#unmatched.examples.slice(0, 3).join(", ")}; the corpus has accessions such as ${corpus.accession(0)}.`,
    );
  }
}

/** Why the features are not of the corpus's sequence; null if they are, as far as one can tell. */
function chooseFlag(
  { form }: IdentifiedProtein,
  check: FeatureRecord["sequence"],
  { residues, md5 }: { residues: string; md5: string },
): Flag | null {
  const { residues: given = "", md5: sum, length } = check ?? {};
  if (given !== "") return given === residues ? null : "sequence";
  if (sum !== undefined) return sum === md5 ? null : "sequence";
  if (length !== undefined && length !== residues.length) return "sequence";
  return form === "same" ? null : form;
}
