import type { Corpus } from "../../motif/index.ts";

/** Bits per protein: about one in 20 other accessions has the bit of a protein. */
const BITS = 16;

/** FNV-1a (Fowler, Noll and Vo), 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

/**
 * True for every accession of the corpus, with or without its version, and for few others: for files with hundreds of
 * millions of other proteins, which a search of the corpus for each would slow down.
 */
export function accessionFilter(corpus: Corpus): (accession: string) => boolean {
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, corpus.sequenceCount) * BITS));
  const bits = new Uint8Array(Math.ceil(size / 8));
  const place = (accession: string): number => hash(accession) % size;
  for (let index = 0; index < corpus.sequenceCount; index++) {
    const accession = corpus.accession(index);
    for (const name of [accession, accession.replace(/\.\d+$/, "")])
      bits[place(name) >>> 3] |= 1 << (place(name) & 7);
  }
  return (accession) => (bits[place(accession) >>> 3] & (1 << (place(accession) & 7))) !== 0;
}
