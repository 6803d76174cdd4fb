import {
  CHUNK_BYTES,
  CORPUS_VERSION,
  CorpusError,
  HASH_BYTES,
  hashAt,
  headerBytes,
  MAGIC,
  MAX_CODE,
  type Section,
  SECTIONS,
  TABLE_AT,
  text,
  VERSIONS,
} from "./corpus-format.ts";
import { type ProteinIdentity, readHeader } from "./header.ts";
import { firstNotBelow, type NameIndex, type SortedKeys } from "./name-index.ts";

/**
 * An immutable collection of proteins in one block of bytes: a mapped file, or memory shared by all workers.
 * Opening parses only the header. The layout is in corpus-format.ts.
 */
export interface Corpus {
  readonly name: string;
  /** SHA-256 in hexadecimal; equal for equal collections. */
  readonly hash: string;
  readonly sequenceCount: number;
  readonly residueCount: number;
  /** Residue codes 0–25 of all sequences, concatenated. */
  readonly residues: Uint8Array;
  /** n + 1 offsets: sequence i is `residues.subarray(offsets[i], offsets[i + 1])`. */
  readonly offsets: Uint32Array;
  /** Number of species distinguished by the headers. */
  readonly speciesCount: number;
  /** Version of the file's format: 1 has no headers, so neither genes nor entry names. */
  readonly version: number;
  accession(index: number): string;
  /** The FASTA header without `>`; accession and name in version 1. */
  header(index: number): string;
  identity(index: number): ProteinIdentity;
  description(index: number): string;
  organism(index: number): string | null;
  /** Number of the sequence's species; -1 if its header names none. */
  species(index: number): number;
  /** Key of that species as in `readHeader`; null if the header names none. */
  speciesKey(index: number): string | null;
  /** Index of the (first) sequence with this accession, or -1. */
  findAccession(accession: string): number;
  /** Name index for `searchNames`. */
  readonly names: NameIndex;
  /** Checks the hash and every residue. @throws CorpusError if bytes were altered */
  verify(): void;
}

/** Sections of a packed corpus, checked for position, length and order. */
class Sections {
  readonly data: Uint8Array;
  readonly sequenceCount: number;
  readonly speciesCount: number;
  readonly residueCount: number;
  readonly version: number;
  readonly #sections: readonly Section[];
  readonly #view: DataView;
  readonly #size: number;

  /** @throws CorpusError for a header that is truncated, altered or of another version */
  constructor(bytes: Uint8Array) {
    if (bytes.length < TABLE_AT)
      throw new CorpusError(`truncated: ${bytes.length} bytes are too few for a header`);
    // Tables are read in place as 32-bit words, which needs an aligned start.
    const data = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (text(data.subarray(0, 8)) !== MAGIC) throw new CorpusError("not a corpus file");
    const version = view.getUint32(8, true);
    const sections = VERSIONS[version];
    if (!sections)
      throw new CorpusError(`format version ${version} is not supported; expected 1 to ${CORPUS_VERSION}`);
    const size = Number(view.getBigUint64(32, true));
    if (size > data.length) throw new CorpusError(`truncated: ${data.length} of ${size} bytes are present`);
    if (size < data.length) throw new CorpusError(`altered: ${data.length - size} extra bytes after the end`);
    if (view.getUint32(12, true) !== sections.length)
      throw new CorpusError("altered: wrong number of sections");
    this.data = data;
    this.version = version;
    this.#sections = sections;
    this.#view = view;
    this.#size = size;
    this.sequenceCount = view.getUint32(16, true);
    this.speciesCount = view.getUint32(20, true);
    this.residueCount = Number(view.getBigUint64(24, true));
  }

  get headerBytes(): number {
    return headerBytes(this.#sections.length);
  }

  bytes(name: Section, expected?: number): Uint8Array {
    const i = this.#sections.indexOf(name);
    const at = Number(this.#view.getBigUint64(TABLE_AT + i * 16, true));
    const length = Number(this.#view.getBigUint64(TABLE_AT + i * 16 + 8, true));
    const fits = at >= this.headerBytes && at % 8 === 0 && at + length <= this.#size;
    if (!fits || (expected !== undefined && length !== expected))
      throw new CorpusError(`altered: section ${name} has an invalid position or length`);
    return this.data.subarray(at, at + length);
  }

  words(name: Section, count: number): Uint32Array {
    const part = this.bytes(name, count * 4);
    return new Uint32Array(part.buffer, part.byteOffset, count);
  }

  offsets(name: Section, count: number, length: number): Uint32Array {
    const offsets = this.words(name, count + 1);
    if (offsets[0] !== 0 || offsets[count] !== length || !ascends(offsets))
      throw new CorpusError(`altered: ${name} do not ascend to the end of their section`);
    return offsets;
  }

  /** Text of a section by index. */
  texts(name: Section, offsetsName: Section, count: number): (index: number) => string {
    const bytes = this.bytes(name);
    const offsets = this.offsets(offsetsName, count, bytes.length);
    return (index) => text(bytes.subarray(offsets[index], offsets[index + 1]));
  }
}

// Loops over all sequences are small functions, which the engine compiles in a fraction of the time for large ones.

function ascends(offsets: Uint32Array): boolean {
  for (let i = 1; i < offsets.length; i++) if (offsets[i] < offsets[i - 1]) return false;
  return true;
}

function isWithin(values: Int32Array | Uint32Array, min: number, end: number): boolean {
  for (let i = 0; i < values.length; i++) if (values[i] < min || values[i] >= end) return false;
  return true;
}

/**
 * Opens a packed corpus in place. Checks header, sections, offsets and species; `verify` also checks hash and
 * residues.
 * @throws CorpusError
 */
export function openCorpus(packed: Uint8Array): Corpus {
  const sections = new Sections(packed);
  const { data, sequenceCount, speciesCount, residueCount } = sections;
  const residues = sections.bytes("residues", residueCount);
  const offsets = sections.offsets("offsets", sequenceCount, residueCount);
  const accession = sections.texts("accessions", "accessionOffsets", sequenceCount);
  const description = sections.texts("descriptions", "descriptionOffsets", sequenceCount);
  const isFirst = sections.version === 1;
  const header = isFirst
    ? (index: number): string => `${accession(index)} ${description(index)}`.trim()
    : description;
  const organism = sections.texts("organisms", "organismOffsets", speciesCount);
  const speciesKey = sections.texts("speciesKeys", "speciesKeyOffsets", speciesCount);
  const byAccession = sections.words("byAccession", sequenceCount);
  const speciesWords = sections.words("species", sequenceCount);
  const species = new Int32Array(speciesWords.buffer, speciesWords.byteOffset, sequenceCount);
  if (!isWithin(species, -1, speciesCount)) throw new CorpusError("altered: species out of range");
  if (!isWithin(byAccession, 0, sequenceCount))
    throw new CorpusError("altered: accession order out of range");
  const speciesAt = (index: number): string | null =>
    species[index] < 0 ? null : organism(species[index]) || null;
  const keyAt = (index: number): string | null => (species[index] < 0 ? null : speciesKey(species[index]));
  const identity = (index: number): ProteinIdentity => {
    const read = isFirst ? firstIdentity(description(index), keyAt(index)) : readHeader(header(index));
    const { description: name, entryName, gene, taxon } = read;
    const named = speciesAt(index) ?? read.organism;
    return { accession: accession(index), description: name, entryName, gene, organism: named, taxon };
  };
  let names: NameIndex | undefined;
  return {
    name: text(sections.bytes("name")),
    hash: data.subarray(sections.headerBytes - HASH_BYTES, sections.headerBytes).toHex(),
    version: sections.version,
    sequenceCount,
    residueCount,
    residues,
    offsets,
    speciesCount,
    accession,
    header,
    identity,
    description: isFirst ? description : (index) => readHeader(header(index)).description,
    species: (index) => species[index],
    speciesKey: keyAt,
    organism: speciesAt,
    findAccession(target) {
      const place = firstNotBelow(sequenceCount, (at) => accession(byAccession[at]), target);
      return place < sequenceCount && accession(byAccession[place]) === target ? byAccession[place] : -1;
    },
    get names() {
      const accessions = keysInOrder(byAccession, accession);
      return (names ??= openNames(sections, accessions, identity));
    },
    verify() {
      const hasher = new CorpusHasher();
      for (let at = 0; at < data.length; at += CHUNK_BYTES) {
        hasher.update(data.subarray(at, Math.min(at + CHUNK_BYTES, data.length)));
      }
      if (!hasher.matches()) throw new CorpusError("altered: the content does not match its hash");
      for (let i = 0; i < residues.length; i++) {
        if (residues[i] > MAX_CODE) throw new CorpusError(`residue code ${residues[i]} is above ${MAX_CODE}`);
      }
    },
  };
}

/** The part of a header that version 1 keeps. */
const firstIdentity = (description: string, key: string | null) => ({
  description,
  entryName: null,
  gene: null,
  organism: null,
  taxon: key?.startsWith("ox:") ? Number(key.slice(3)) : null,
});

const keysInOrder = (order: Uint32Array, readKey: (index: number) => string): SortedKeys => ({
  count: order.length,
  key: (place) => readKey(order[place]),
  proteins: (from, to) => order.subarray(from, to),
});

const NO_KEYS = keysInOrder(new Uint32Array(0), () => "");

function openNames(
  sections: Sections,
  accessions: SortedKeys,
  identity: (index: number) => ProteinIdentity,
): NameIndex {
  if (sections.version === 1)
    return { accessions, entryNames: NO_KEYS, genes: NO_KEYS, words: NO_KEYS, speciesWords: () => [] };
  const order = (name: Section): Uint32Array => sections.words(name, sections.bytes(name).length / 4);
  const count = sections.bytes("wordOffsets").length / 4 - 1;
  const proteins = order("wordProteins");
  const offsets = sections.offsets("wordProteinOffsets", count, proteins.length);
  const species = text(sections.bytes("speciesWords"));
  const speciesWords = species === "" ? [] : species.split("\n");
  const lower = (value: string | null): string => (value ?? "").toLowerCase();
  return {
    accessions,
    entryNames: keysInOrder(order("byEntryName"), (index) => lower(identity(index).entryName)),
    genes: keysInOrder(order("byGene"), (index) => lower(identity(index).gene)),
    words: {
      count,
      key: sections.texts("words", "wordOffsets", count),
      proteins: (from, to) => proteins.subarray(offsets[from], offsets[to]),
    },
    speciesWords: () => speciesWords,
  };
}

const LONGEST_HEADER = headerBytes(SECTIONS.length);

/** Checks the hash of a packed corpus while its bytes are read, in order. */
export class CorpusHasher {
  readonly #running = new Bun.CryptoHasher("sha256");
  /** The first bytes, which contain the header of any version. */
  readonly #first = new Uint8Array(LONGEST_HEADER);
  #length = 0;
  #hash = "";

  update(chunk: Uint8Array): void {
    const missing = LONGEST_HEADER - this.#length;
    if (missing <= 0) {
      this.#running.update(chunk);
      return;
    }
    this.#first.set(chunk.subarray(0, missing), this.#length);
    this.#length += Math.min(missing, chunk.length);
    if (this.#length < LONGEST_HEADER) return;
    this.#updateFirst();
    this.#running.update(chunk.subarray(missing));
  }

  #updateFirst(): void {
    const first = this.#first.subarray(0, this.#length);
    const count = new DataView(this.#first.buffer).getUint32(12, true);
    const at = hashAt(Math.min(count, SECTIONS.length));
    this.#hash = first.subarray(at, at + HASH_BYTES).toHex();
    this.#running.update(first.subarray(0, at));
    this.#running.update(first.subarray(at + HASH_BYTES));
  }

  /** True if all bytes gave the hash in the header. */
  matches(): boolean {
    if (this.#length < LONGEST_HEADER) this.#updateFirst();
    return this.#running.digest("hex") === this.#hash;
  }
}
