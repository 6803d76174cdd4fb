import {
  CHUNK_BYTES,
  concatenate,
  CORPUS_VERSION,
  CorpusError,
  hashAt,
  headerBytes,
  MAGIC,
  MAX_CODE,
  type NameSection,
  packTexts,
  SECTIONS,
  type Section,
  TABLE_AT,
  wordBytes,
} from "./corpus-format.ts";
import type { Corpus } from "./corpus.ts";
import type { FastaEntry } from "./fasta.ts";
import { NameIndexBuilder } from "./name-index-builder.ts";

/** Result of `CorpusBuilder.finish`: chunks to be written in order. */
export interface PackedCorpus {
  hash: string;
  byteLength: number;
  chunks: Uint8Array[];
}

/** Offsets have 32 bits, which limits each section. */
const MAX_BYTES_PER_SECTION = 0xffff_ffff;

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

/** The input of the builder for a protein; without `header` it is made of accession and description. */
export type NewProtein = Pick<
  FastaEntry,
  "accession" | "description" | "organism" | "speciesKey" | "residues"
> &
  Partial<Pick<FastaEntry, "header" | "entryName" | "gene" | "taxon">>;

/** Collects proteins into a packed corpus. Memory: the packed bytes and about 250 bytes per sequence. */
export class CorpusBuilder {
  readonly #name: string;
  readonly #encoder = new TextEncoder();
  readonly #residues = emptyBuffer();
  readonly #accessionBytes = emptyBuffer();
  readonly #headers = emptyBuffer();
  readonly #offsets: number[] = [0];
  readonly #accessionOffsets: number[] = [0];
  readonly #headerOffsets: number[] = [0];
  readonly #accessions: string[] = [];
  readonly #species: number[] = [];
  readonly #speciesIds = new Map<string, number>();
  readonly #organisms: string[] = [];
  readonly #names = new NameIndexBuilder();

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
  add(entry: NewProtein): void {
    for (const code of entry.residues) {
      if (code > MAX_CODE) throw new CorpusError(`residue code ${code} is above ${MAX_CODE}`);
    }
    append(this.#residues, entry.residues);
    this.#offsets.push(this.#residues.length);
    append(this.#accessionBytes, this.#encoder.encode(entry.accession));
    this.#accessionOffsets.push(this.#accessionBytes.length);
    const { accession, header = `${accession} ${entry.description}`.trim() } = entry;
    append(this.#headers, this.#encoder.encode(header));
    this.#headerOffsets.push(this.#headers.length);
    this.#accessions.push(accession);
    const species = this.#addSpecies(entry.speciesKey, entry.organism);
    this.#species.push(species);
    const { description, organism, entryName = null, gene = null, taxon = null } = entry;
    this.#names.add({ description, organism, entryName, gene, taxon }, species);
  }

  /** Appends all proteins of a corpus. */
  addAll(corpus: Corpus): void {
    for (let i = 0; i < corpus.sequenceCount; i++) {
      this.add({
        ...corpus.identity(i),
        header: corpus.header(i),
        speciesKey: corpus.speciesKey(i),
        residues: corpus.residues.subarray(corpus.offsets[i], corpus.offsets[i + 1]),
      });
    }
  }

  #addSpecies(key: string | null, organism: string | null): number {
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
    const organisms = packTexts(this.#organisms);
    const keys = packTexts([...this.#speciesIds.keys()]);
    const sections: Record<Section, Uint8Array[]> = {
      name: [this.#encoder.encode(this.#name)],
      residues: usedChunks(this.#residues),
      offsets: [wordBytes(this.#offsets)],
      accessions: usedChunks(this.#accessionBytes),
      accessionOffsets: [wordBytes(this.#accessionOffsets)],
      byAccession: [new Uint8Array(byAccession.buffer)],
      descriptions: usedChunks(this.#headers),
      descriptionOffsets: [wordBytes(this.#headerOffsets)],
      species: [new Uint8Array(Int32Array.from(this.#species).buffer)],
      organisms: [organisms.bytes],
      organismOffsets: [wordBytes(organisms.offsets)],
      speciesKeys: [keys.bytes],
      speciesKeyOffsets: [wordBytes(keys.offsets)],
      ...this.#packNames(),
    };

    const counts = { sequences: count, species: this.#organisms.length, residues: this.#residues.length };
    return assemble(sections, counts);
  }

  #packNames(): Record<NameSection, Uint8Array[]> {
    const sections = Object.entries(this.#names.finish()).map(([name, bytes]) => [name, [bytes]]);
    return Object.fromEntries(sections) as Record<NameSection, Uint8Array[]>;
  }
}

/** Header, sections and hash. */
function assemble(
  sections: Record<Section, Uint8Array[]>,
  counts: { sequences: number; species: number; residues: number },
): PackedCorpus {
  const header = new Uint8Array(headerBytes(SECTIONS.length));
  const view = new DataView(header.buffer);
  header.set(new TextEncoder().encode(MAGIC));
  view.setUint32(8, CORPUS_VERSION, true);
  view.setUint32(12, SECTIONS.length, true);
  view.setUint32(16, counts.sequences, true);
  view.setUint32(20, counts.species, true);
  view.setBigUint64(24, BigInt(counts.residues), true);
  const chunks: Uint8Array[] = [header];
  let at = header.length;
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
  hash.update(header.subarray(0, hashAt(SECTIONS.length)));
  for (const chunk of chunks.slice(1)) hash.update(chunk);
  const digest = hash.digest("hex");
  header.set(Uint8Array.fromHex(digest), hashAt(SECTIONS.length));
  return { hash: digest, byteLength: at, chunks };
}

/** Packs a corpus in memory; for large ones write the chunks of CorpusBuilder. */
export function packCorpus(name: string, entries: Iterable<NewProtein>): Uint8Array {
  const builder = new CorpusBuilder(name);
  for (const entry of entries) builder.add(entry);
  const packed = builder.finish();
  return concatenate(packed.chunks, packed.byteLength);
}
