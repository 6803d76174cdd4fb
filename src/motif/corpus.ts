import type { Calibration } from "./p-value.ts";
import type { FastaEntry } from "./fasta.ts";

/**
 * An immutable collection of proteins in one block of bytes: a mapped file, or memory shared by all workers.
 * Opening parses only the header.
 *
 * Layout, little-endian, sections aligned to 8 bytes: magic, version, counts, table of (offset, length) of
 * the SECTIONS, SHA-256 of everything else, sections. Texts are UTF-8 in one block with n + 1 offsets.
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
  accession(index: number): string;
  description(index: number): string;
  organism(index: number): string | null;
  /** Number of the sequence's species; -1 if its header names none. */
  species(index: number): number;
  /** Key of that species as in `readHeader`; null if the header names none. */
  speciesKey(index: number): string | null;
  /** Index of the (first) sequence with this accession, or -1. */
  findAccession(accession: string): number;
  /** Null distribution of this corpus, if calibrated; P values then come from it. */
  calibration?: Calibration;
  /** Checks the hash and every residue. @throws CorpusError if bytes were altered */
  verify(): void;
}

/** Bytes that are not a valid corpus. The message states the reason. */
export class CorpusError extends Error {
  constructor(reason: string) {
    super(`corpus: ${reason}`);
    this.name = "CorpusError";
  }
}

/** Result of `CorpusBuilder.finish`: chunks to be written in order. */
export interface PackedCorpus {
  hash: string;
  byteLength: number;
  chunks: Uint8Array[];
}

const MAGIC = "labdcrps";
const CORPUS_VERSION = 1;
const SECTIONS = [
  "name",
  "residues",
  "offsets",
  "accessions",
  "accessionOffsets",
  "byAccession",
  "descriptions",
  "descriptionOffsets",
  "species",
  "organisms",
  "organismOffsets",
  "speciesKeys",
  "speciesKeyOffsets",
] as const;
type Section = (typeof SECTIONS)[number];

// magic 8, version 4, sections 4, sequences 4, species 4, residues 8, bytes of the file 8, then the table.
const TABLE_AT = 40;
const HASH_AT = TABLE_AT + SECTIONS.length * 16;
const HEADER_BYTES = HASH_AT + 32;
/** Offsets have 32 bits, which limits each section. */
const MAX_BYTES_PER_SECTION = 0xffff_ffff;
const CHUNK_BYTES = 1 << 22;
const MAX_CODE = 25;

/** Append-only buffer that grows by chunks, so that nothing large is copied. */
interface ByteBuffer {
  chunks: Uint8Array[];
  used: number;
  length: number;
}
const emptyBuffer = (): ByteBuffer => ({ chunks: [], used: 0, length: 0 });

function append(to: ByteBuffer, bytes: Uint8Array): void {
  if (to.length + bytes.length > MAX_BYTES_PER_SECTION) {
    throw new CorpusError(
      `more than ${MAX_BYTES_PER_SECTION} bytes of residues or text do not fit into one corpus`,
    );
  }
  let from = 0;
  while (from < bytes.length) {
    if (to.chunks.length === 0 || to.used === CHUNK_BYTES) {
      to.chunks.push(new Uint8Array(CHUNK_BYTES));
      to.used = 0;
    }
    const part = bytes.subarray(from, from + CHUNK_BYTES - to.used);
    to.chunks[to.chunks.length - 1].set(part, to.used);
    to.used += part.length;
    from += part.length;
  }
  to.length += bytes.length;
}

const usedChunks = (from: ByteBuffer): Uint8Array[] =>
  from.chunks.map((chunk, i) => (i === from.chunks.length - 1 ? chunk.subarray(0, from.used) : chunk));

/** Collects proteins into a packed corpus. Memory: the packed bytes and about 50 bytes per sequence. */
export class CorpusBuilder {
  readonly #name: string;
  readonly #encoder = new TextEncoder();
  readonly #residues = emptyBuffer();
  readonly #accessionBytes = emptyBuffer();
  readonly #descriptions = emptyBuffer();
  readonly #offsets: number[] = [0];
  readonly #accessionOffsets: number[] = [0];
  readonly #descriptionOffsets: number[] = [0];
  readonly #accessions: string[] = [];
  readonly #species: number[] = [];
  readonly #speciesIds = new Map<string, number>();
  readonly #organisms: string[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  get sequenceCount(): number {
    return this.#accessions.length;
  }
  get residueCount(): number {
    return this.#residues.length;
  }

  /** Appends a copy of a protein. @throws CorpusError for a residue code above 25 */
  add(entry: Pick<FastaEntry, "accession" | "description" | "organism" | "speciesKey" | "residues">): void {
    for (const code of entry.residues) {
      if (code > MAX_CODE) throw new CorpusError(`residue code ${code} is above ${MAX_CODE}`);
    }
    append(this.#residues, entry.residues);
    this.#offsets.push(this.#residues.length);
    append(this.#accessionBytes, this.#encoder.encode(entry.accession));
    this.#accessionOffsets.push(this.#accessionBytes.length);
    append(this.#descriptions, this.#encoder.encode(entry.description));
    this.#descriptionOffsets.push(this.#descriptions.length);
    this.#accessions.push(entry.accession);
    this.#species.push(this.#speciesOf(entry.speciesKey, entry.organism));
  }

  /** Appends all proteins of a corpus. */
  addAll(corpus: Corpus): void {
    for (let i = 0; i < corpus.sequenceCount; i++) {
      this.add({
        accession: corpus.accession(i),
        description: corpus.description(i),
        organism: corpus.organism(i),
        speciesKey: corpus.speciesKey(i),
        residues: corpus.residues.subarray(corpus.offsets[i], corpus.offsets[i + 1]),
      });
    }
  }

  #speciesOf(key: string | null, organism: string | null): number {
    if (key === null) return -1;
    let id = this.#speciesIds.get(key);
    if (id === undefined) {
      id = this.#organisms.length;
      this.#speciesIds.set(key, id);
      this.#organisms.push(organism ?? "");
    }
    return id;
  }

  /** Packs the corpus. Equal entries give equal bytes. */
  finish(): PackedCorpus {
    const count = this.#accessions.length;
    const accessions = this.#accessions;
    const byAccession = new Uint32Array(count).map((_, i) => i);
    byAccession.sort((a, b) =>
      accessions[a] < accessions[b] ? -1 : accessions[a] > accessions[b] ? 1 : a - b,
    );
    const organisms = packTexts(this.#organisms, this.#encoder);
    const keys = packTexts([...this.#speciesIds.keys()], this.#encoder);
    const sections: Record<Section, Uint8Array[]> = {
      name: [this.#encoder.encode(this.#name)],
      residues: usedChunks(this.#residues),
      offsets: [wordBytes(this.#offsets)],
      accessions: usedChunks(this.#accessionBytes),
      accessionOffsets: [wordBytes(this.#accessionOffsets)],
      byAccession: [new Uint8Array(byAccession.buffer)],
      descriptions: usedChunks(this.#descriptions),
      descriptionOffsets: [wordBytes(this.#descriptionOffsets)],
      species: [new Uint8Array(Int32Array.from(this.#species).buffer)],
      organisms: [organisms.bytes],
      organismOffsets: [wordBytes(organisms.offsets)],
      speciesKeys: [keys.bytes],
      speciesKeyOffsets: [wordBytes(keys.offsets)],
    };

    const header = new Uint8Array(HEADER_BYTES);
    const view = new DataView(header.buffer);
    header.set(this.#encoder.encode(MAGIC));
    view.setUint32(8, CORPUS_VERSION, true);
    view.setUint32(12, SECTIONS.length, true);
    view.setUint32(16, count, true);
    view.setUint32(20, this.#organisms.length, true);
    view.setBigUint64(24, BigInt(this.#residues.length), true);
    const chunks: Uint8Array[] = [header];
    let at = HEADER_BYTES;
    for (const [i, section] of SECTIONS.entries()) {
      const length = sections[section].reduce((sum, chunk) => sum + chunk.length, 0);
      view.setBigUint64(TABLE_AT + i * 16, BigInt(at), true);
      view.setBigUint64(TABLE_AT + i * 16 + 8, BigInt(length), true);
      chunks.push(...sections[section]);
      const padding = -length & 7;
      if (padding > 0) chunks.push(new Uint8Array(padding));
      at += length + padding;
    }
    view.setBigUint64(32, BigInt(at), true);
    const hash = new Bun.CryptoHasher("sha256");
    hash.update(header.subarray(0, HASH_AT));
    for (const chunk of chunks.slice(1)) hash.update(chunk);
    const digest = hash.digest("hex");
    header.set(Uint8Array.fromHex(digest), HASH_AT);
    return { hash: digest, byteLength: at, chunks };
  }
}

/** Packs a corpus in memory; for large ones write the chunks of CorpusBuilder. */
export function packCorpus(name: string, entries: Iterable<Parameters<CorpusBuilder["add"]>[0]>): Uint8Array {
  const builder = new CorpusBuilder(name);
  for (const entry of entries) builder.add(entry);
  const packed = builder.finish();
  return concatenate(packed.chunks, packed.byteLength);
}

/** Sections of a packed corpus, checked for position, length and order. */
class Sections {
  readonly data: Uint8Array;
  readonly sequenceCount: number;
  readonly speciesCount: number;
  readonly residueCount: number;
  readonly #view: DataView;
  readonly #size: number;

  /** @throws CorpusError for a header that is truncated, altered or of another version */
  constructor(bytes: Uint8Array) {
    if (bytes.length < HEADER_BYTES)
      throw new CorpusError(`truncated: ${bytes.length} bytes are too few for a header`);
    // Tables are read in place as 32-bit words, which needs an aligned start.
    const data = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (text(data.subarray(0, 8)) !== MAGIC) throw new CorpusError("not a corpus file");
    const version = view.getUint32(8, true);
    if (version !== CORPUS_VERSION)
      throw new CorpusError(`format version ${version} is not supported; expected ${CORPUS_VERSION}`);
    const size = Number(view.getBigUint64(32, true));
    if (size > data.length) throw new CorpusError(`truncated: ${data.length} of ${size} bytes are present`);
    if (size < data.length) throw new CorpusError(`altered: ${data.length - size} extra bytes after the end`);
    if (view.getUint32(12, true) !== SECTIONS.length)
      throw new CorpusError("altered: wrong number of sections");
    this.data = data;
    this.#view = view;
    this.#size = size;
    this.sequenceCount = view.getUint32(16, true);
    this.speciesCount = view.getUint32(20, true);
    this.residueCount = Number(view.getBigUint64(24, true));
  }

  bytes(name: Section, expected?: number): Uint8Array {
    const i = SECTIONS.indexOf(name);
    const at = Number(this.#view.getBigUint64(TABLE_AT + i * 16, true));
    const length = Number(this.#view.getBigUint64(TABLE_AT + i * 16 + 8, true));
    const fits = at >= HEADER_BYTES && at % 8 === 0 && at + length <= this.#size;
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
    let valid = offsets[0] === 0 && offsets[count] === length;
    for (let i = 0; i < count && valid; i++) valid = offsets[i] <= offsets[i + 1];
    if (!valid) throw new CorpusError(`altered: ${name} do not ascend to the end of their section`);
    return offsets;
  }

  /** Text of a section by index. */
  texts(name: Section, offsetsName: Section, count: number): (index: number) => string {
    const bytes = this.bytes(name);
    const offsets = this.offsets(offsetsName, count, bytes.length);
    return (index) => text(bytes.subarray(offsets[index], offsets[index + 1]));
  }
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
  const organism = sections.texts("organisms", "organismOffsets", speciesCount);
  const speciesKey = sections.texts("speciesKeys", "speciesKeyOffsets", speciesCount);
  const byAccession = sections.words("byAccession", sequenceCount);
  const speciesWords = sections.words("species", sequenceCount);
  const species = new Int32Array(speciesWords.buffer, speciesWords.byteOffset, sequenceCount);
  for (let i = 0; i < sequenceCount; i++) {
    if (species[i] < -1 || species[i] >= speciesCount) throw new CorpusError("altered: species out of range");
    if (byAccession[i] >= sequenceCount) throw new CorpusError("altered: accession order out of range");
  }
  const hash = data.subarray(HASH_AT, HEADER_BYTES).toHex();
  return {
    name: text(sections.bytes("name")),
    hash,
    sequenceCount,
    residueCount,
    residues,
    offsets,
    speciesCount,
    accession,
    description,
    species: (index) => species[index],
    speciesKey: (index) => (species[index] < 0 ? null : speciesKey(species[index])),
    organism: (index) => (species[index] < 0 ? null : organism(species[index]) || null),
    findAccession(target) {
      let low = 0;
      let high = sequenceCount;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (accession(byAccession[middle]) < target) low = middle + 1;
        else high = middle;
      }
      return low < sequenceCount && accession(byAccession[low]) === target ? byAccession[low] : -1;
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

/** Checks the hash of a packed corpus while its bytes are read, in order. */
export class CorpusHasher {
  readonly #header = new Uint8Array(HEADER_BYTES);
  readonly #running = new Bun.CryptoHasher("sha256");
  #length = 0;

  update(chunk: Uint8Array): void {
    const missing = Math.max(0, HEADER_BYTES - this.#length);
    this.#header.set(chunk.subarray(0, missing), Math.min(this.#length, HEADER_BYTES));
    this.#length += chunk.length;
    if (missing > 0 && this.#length >= HEADER_BYTES) this.#running.update(this.#header.subarray(0, HASH_AT));
    this.#running.update(chunk.subarray(missing));
  }

  /** Whether all bytes gave the hash in the header. */
  matches(): boolean {
    return this.#running.digest("hex") === this.#header.subarray(HASH_AT).toHex();
  }
}

function wordBytes(numbers: number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(numbers).buffer);
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function packTexts(texts: string[], encoder: TextEncoder): { bytes: Uint8Array; offsets: number[] } {
  const into = emptyBuffer();
  const offsets = [0];
  for (const part of texts) {
    append(into, encoder.encode(part));
    offsets.push(into.length);
  }
  return { bytes: concatenate(usedChunks(into), into.length), offsets };
}

/** Decodes UTF-8; copied first, because a decoder may refuse shared memory. */
function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.slice());
}
