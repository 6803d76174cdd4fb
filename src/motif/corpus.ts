import type { Calibration } from "./p-value.ts";
import type { FastaEntry } from "./fasta.ts";

/**
 * A collection of proteins as one immutable block of bytes that is used where it lies: a mapped file, or memory
 * shared by all workers. Nothing is copied or parsed at opening but the header.
 *
 * Layout, little-endian, sections aligned to 8 bytes: magic, version, counts, a table of (offset, length) of the
 * SECTIONS, SHA-256 of everything but itself; then the sections. Texts are UTF-8 in one block with n + 1 offsets.
 */
export interface Corpus {
  readonly name: string;
  /** SHA-256 in hexadecimal: equal hashes are equal collections. */
  readonly hash: string;
  readonly sequenceCount: number;
  readonly residueCount: number;
  /** Residue codes 0–25 of all sequences, end to end. */
  readonly residues: Uint8Array;
  /** n + 1 positions: sequence i is `residues.subarray(offsets[i], offsets[i + 1])`. */
  readonly offsets: Uint32Array;
  /** Number of species that the headers tell apart. */
  readonly speciesCount: number;
  accession(index: number): string;
  description(index: number): string;
  organism(index: number): string | null;
  /** Number of the sequence's species, or -1 where its header says none. */
  species(index: number): number;
  /** What tells that species from others, as `readHeader` gives it; null where its header says none. */
  speciesKey(index: number): string | null;
  /** Index of the (first) sequence with this accession, or -1. */
  findAccession(accession: string): number;
  /** Its own empirical null, where it was made and given to it: P values of labd-2 then come from it. */
  calibration?: Calibration;
  /** Recomputes the hash and checks every residue: throws CorpusError where bytes were altered. */
  verify(createHash: HashFactory): void;
}

/** A running SHA-256, as `new Bun.CryptoHasher("sha256")` and node's `createHash("sha256")` are. */
export interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(encoding: "hex"): string;
}
export type HashFactory = () => Hash;

/** Bytes that are no corpus, or no longer the one that was written. The text says what is wrong. */
export class CorpusError extends Error {
  constructor(reason: string) {
    super(`corpus: ${reason}`);
    this.name = "CorpusError";
  }
}

/** What `CorpusBuilder.finish` makes: write the chunks one after the other. */
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
/** Offsets are 32 bits wide: so many residues, and so many bytes of descriptions, fit into one corpus. */
const MAX_BYTES_PER_SECTION = 0xffff_ffff;
const CHUNK_BYTES = 1 << 22;
const MAX_CODE = 25;

/** Bytes that grow by whole chunks, so that nothing large is ever copied. */
interface ByteBuffer {
  chunks: Uint8Array[];
  used: number;
  length: number;
}
const emptyBuffer = (): ByteBuffer => ({ chunks: [], used: 0, length: 0 });

function append(to: ByteBuffer, bytes: Uint8Array): void {
  if (to.length + bytes.length > MAX_BYTES_PER_SECTION) {
    throw new CorpusError(`more than ${MAX_BYTES_PER_SECTION} bytes of residues or text do not fit into one`);
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

/** Collects proteins and packs them. Memory: the packed bytes and some 50 bytes per sequence. */
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

  /** Appends one protein; its residues are copied. Throws CorpusError where a residue code is above 25. */
  add(entry: Pick<FastaEntry, "accession" | "description" | "organism" | "speciesKey" | "residues">): void {
    for (const code of entry.residues) {
      if (code > MAX_CODE)
        throw new CorpusError(`residue code ${code} of a sequence to add is above ${MAX_CODE}`);
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

  /** The corpus as chunks to be written in order, and its hash. The same entries give the same bytes. */
  finish(createHash: HashFactory): PackedCorpus {
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
    const hash = createHash();
    hash.update(header.subarray(0, HASH_AT));
    for (const chunk of chunks.slice(1)) hash.update(chunk);
    const digest = hash.digest("hex");
    header.set(fromHex(digest), HASH_AT);
    return { hash: digest, byteLength: at, chunks };
  }
}

/** A whole corpus in memory of its own; for large ones write the builder's chunks instead. */
export function packCorpus(
  name: string,
  entries: Iterable<Parameters<CorpusBuilder["add"]>[0]>,
  createHash: HashFactory,
): Uint8Array {
  const builder = new CorpusBuilder(name);
  for (const entry of entries) builder.add(entry);
  const packed = builder.finish(createHash);
  const bytes = new Uint8Array(packed.byteLength);
  let at = 0;
  for (const chunk of packed.chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The sections of a packed corpus, each checked for its place, length and order. */
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
      throw new CorpusError(`truncated: ${bytes.length} bytes contain no header`);
    // Tables are read as 32-bit words in place, which needs an aligned start; a mapped file always has one.
    const data = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (text(data.subarray(0, 8)) !== MAGIC) throw new CorpusError("not a corpus file");
    const version = view.getUint32(8, true);
    if (version !== CORPUS_VERSION)
      throw new CorpusError(`format version ${version} is not supported; expected ${CORPUS_VERSION}`);
    const size = Number(view.getBigUint64(32, true));
    if (size > data.length) throw new CorpusError(`truncated: ${data.length} of ${size} bytes are there`);
    if (size < data.length) throw new CorpusError(`altered: ${data.length - size} bytes after its end`);
    if (view.getUint32(12, true) !== SECTIONS.length) throw new CorpusError("altered: number of sections");
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
      throw new CorpusError(`altered: section ${name} has an invalid place or length`);
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

  /** Texts of one section, by number. */
  texts(name: Section, offsetsName: Section, count: number): (index: number) => string {
    const bytes = this.bytes(name);
    const offsets = this.offsets(offsetsName, count, bytes.length);
    return (index) => text(bytes.subarray(offsets[index], offsets[index + 1]));
  }
}

/**
 * Opens a packed corpus in place. Header, sections, offsets and species are checked here; hash and residues only by
 * `verify`, which reads everything. @throws CorpusError
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
  const hash = toHex(data.subarray(HASH_AT, HEADER_BYTES));
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
    verify(createHash) {
      const running = createHash();
      running.update(data.subarray(0, HASH_AT));
      for (let at = HEADER_BYTES; at < data.length; at += CHUNK_BYTES) {
        running.update(data.subarray(at, Math.min(at + CHUNK_BYTES, data.length)));
      }
      if (running.digest("hex") !== hash)
        throw new CorpusError("altered: the content does not match its hash");
      for (let i = 0; i < residues.length; i++) {
        if (residues[i] > MAX_CODE) throw new CorpusError(`residue code ${residues[i]} is above ${MAX_CODE}`);
      }
    },
  };
}

function wordBytes(numbers: number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(numbers).buffer);
}

function packTexts(texts: string[], encoder: TextEncoder): { bytes: Uint8Array; offsets: number[] } {
  const into = emptyBuffer();
  const offsets = [0];
  for (const part of texts) {
    append(into, encoder.encode(part));
    offsets.push(into.length);
  }
  const bytes = new Uint8Array(into.length);
  let at = 0;
  for (const chunk of usedChunks(into)) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { bytes, offsets };
}

/** UTF-8 to text; copied first, because a decoder may refuse memory that is shared between workers. */
function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.slice());
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(digits: string): Uint8Array {
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) =>
    parseInt(digits.slice(i * 2, i * 2 + 2), 16),
  );
}
