/**
 * Layout of a packed corpus, little-endian, sections aligned to 8 bytes: magic 8, version 4, sections 4, sequences 4,
 * species 4, residues 8, bytes of the file 8, table of (offset, length) of the sections, SHA-256 of everything else,
 * sections. Texts are UTF-8 in one block with n + 1 offsets.
 */

/** Bytes that are not a valid corpus. The message states the reason. */
export class CorpusError extends Error {
  constructor(reason: string) {
    super(`corpus: ${reason}`);
    this.name = "CorpusError";
  }
}

export const MAGIC = "labdcrps";

/** Sections of version 1, where `descriptions` has names of proteins. */
const FIRST_SECTIONS = [
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
/** The name index, since version 2, where `descriptions` has whole headers: see name-index.ts. */
export const NAME_SECTIONS = [
  "byEntryName",
  "byGene",
  "words",
  "wordOffsets",
  "wordProteins",
  "wordProteinOffsets",
  "speciesWords",
] as const;
export const SECTIONS = [...FIRST_SECTIONS, ...NAME_SECTIONS] as const;
export type Section = (typeof SECTIONS)[number];
export type NameSection = (typeof NAME_SECTIONS)[number];

/** Sections by version; the last version is packed, all are opened. */
export const VERSIONS: Readonly<Record<number, readonly Section[]>> = { 1: FIRST_SECTIONS, 2: SECTIONS };
export const CORPUS_VERSION = 2;

export const TABLE_AT = 40;
/** Position of the hash, which precedes the sections. */
export const hashAt = (sections: number): number => TABLE_AT + sections * 16;
export const HASH_BYTES = 32;
export const headerBytes = (sections: number): number => hashAt(sections) + HASH_BYTES;

export const CHUNK_BYTES = 1 << 22;
export const MAX_CODE = 25;

/** Bytes of 32-bit words. */
export const wordBytes = (words: ArrayLike<number>): Uint8Array =>
  new Uint8Array(Uint32Array.from(words).buffer);

/** Texts as UTF-8 in one block, and their n + 1 offsets. */
export function packTexts(texts: readonly string[]): { bytes: Uint8Array; offsets: Uint32Array } {
  const encoder = new TextEncoder();
  const parts = texts.map((part) => encoder.encode(part));
  const offsets = new Uint32Array(parts.length + 1);
  for (const [i, { length }] of parts.entries()) offsets[i + 1] = offsets[i] + length;
  return { bytes: concatenate(parts, offsets[parts.length]), offsets };
}

export function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Decodes UTF-8; copied first, because a decoder may refuse shared memory. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.slice());
}
