import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { decode } from "../../src/motif/alphabet.ts";
import { CorpusBuilder, packCorpus } from "../../src/motif/corpus-builder.ts";
import { CorpusError } from "../../src/motif/corpus-format.ts";
import { CorpusHasher, openCorpus } from "../../src/motif/corpus.ts";
import { searchNames } from "../../src/motif/name-search.ts";
import { readFasta } from "../../src/motif/fasta.ts";

const FASTA = `>sp|P2|B_HUMAN second OS=Homo sapiens OX=9606
MKVLAW
>P1 first [Mus musculus]
ACDEFGHIKLMNPQRSTVWYBJOUXZ
>zeta \u00fcber
W
>P1 a second of that name OS=Homo sapiens OX=9606
MM
`;
/** A corpus that labd 0.2.0 packed. */
const FIRST_VERSION = Bun.gunzipSync(
  readFileSync(join(import.meta.dir, "../fixtures/corpus-version-1.labc.gz")),
);
const packed = (): Uint8Array => packCorpus("four", readFasta(FASTA));

describe("a packed corpus", () => {
  test("returns residues, texts, species and accessions", () => {
    const corpus = openCorpus(packed());
    expect(corpus.name).toBe("four");
    expect(corpus.sequenceCount).toBe(4);
    expect(corpus.residueCount).toBe(35);
    expect(corpus.speciesCount).toBe(2);
    const read = readFasta(FASTA);
    for (const [i, entry] of read.entries()) {
      const residues = corpus.residues.subarray(corpus.offsets[i], corpus.offsets[i + 1]);
      expect(decode(residues)).toBe(decode(entry.residues));
      expect(corpus.accession(i)).toBe(entry.accession);
      expect(corpus.description(i)).toBe(entry.description);
      expect(corpus.organism(i)).toBe(entry.organism);
    }
    expect([0, 1, 2, 3].map((i) => corpus.species(i))).toEqual([0, 1, -1, 0]);
    expect(["P1", "P2", "zeta", "P", "P3", "", "~"].map((a) => corpus.findAccession(a))).toEqual([
      1, 0, 2, -1, -1, -1, -1,
    ]);
    corpus.verify();
  });

  test("a corpus has a reproducible hash of its content", () => {
    const first = openCorpus(packed());
    expect(first.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(openCorpus(packed()).hash).toBe(first.hash);
    const other = packCorpus("four", readFasta(FASTA.replace("MKVLAW", "MKVLAY")));
    expect(openCorpus(other).hash).not.toBe(first.hash);
  });

  test("a corpus may be larger than one chunk of the builder", () => {
    const builder = new CorpusBuilder("long");
    const residues = new Uint8Array(3_000_001).map((_, i) => (i * 7) % 20);
    for (const accession of ["A", "B", "C"]) {
      builder.add({ accession, description: "", organism: null, speciesKey: null, residues });
    }
    const { chunks, byteLength, hash } = builder.finish();
    const bytes = new Uint8Array(Buffer.concat(chunks));
    expect(bytes.length).toBe(byteLength);
    const corpus = openCorpus(bytes);
    corpus.verify();
    expect(corpus.hash).toBe(hash);
    expect(corpus.residues.subarray(corpus.offsets[1], corpus.offsets[2])).toEqual(residues);
  });

  test("opens in shared memory and at an unaligned address", () => {
    const bytes = packed();
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const odd = new Uint8Array(bytes.length + 3).subarray(3);
    odd.set(bytes);
    for (const corpus of [openCorpus(shared), openCorpus(odd)]) {
      corpus.verify();
      expect(corpus.accession(2)).toBe("zeta");
      expect(corpus.description(2)).toBe("\u00fcber");
      expect(corpus.findAccession("P2")).toBe(0);
    }
    expect(openCorpus(shared).residues.buffer).toBe(shared.buffer);
  });

  test("a corpus keeps whole headers", () => {
    const corpus = openCorpus(packed());
    expect(corpus.version).toBe(2);
    expect(corpus.header(0)).toBe("sp|P2|B_HUMAN second OS=Homo sapiens OX=9606");
    expect(corpus.identity(0)).toEqual({
      accession: "P2",
      description: "second",
      entryName: "B_HUMAN",
      gene: null,
      organism: "Homo sapiens",
      taxon: 9606,
    });
  });

  test("opens version 1, which has names of proteins only", () => {
    const corpus = openCorpus(FIRST_VERSION);
    corpus.verify();
    const hasher = new CorpusHasher();
    for (const byte of FIRST_VERSION) hasher.update(Uint8Array.of(byte));
    expect(hasher.matches()).toBe(true);
    expect([corpus.version, corpus.name, corpus.sequenceCount, corpus.findAccession("P1")]).toEqual([
      1,
      "first",
      2,
      1,
    ]);
    expect(corpus.identity(0)).toEqual({
      accession: "P2",
      description: "second",
      entryName: null,
      gene: null,
      organism: "Homo sapiens",
      taxon: 9606,
    });
    expect(searchNames(corpus, "p2", 5).proteins.map(({ description }) => description)).toEqual(["second"]);
    const builder = new CorpusBuilder("second");
    builder.addAll(corpus);
    const again = openCorpus(new Uint8Array(Buffer.concat(builder.finish().chunks)));
    expect([0, 1].map((i) => [again.accession(i), again.description(i), again.organism(i)])).toEqual([
      ["P2", "second", "Homo sapiens"],
      ["P1", "first", "Mus musculus"],
    ]);
  });

  test("a corpus may be empty", () => {
    const corpus = openCorpus(packCorpus("none", []));
    corpus.verify();
    expect([corpus.sequenceCount, corpus.residueCount, corpus.findAccession("P1")]).toEqual([0, 0, -1]);
  });

  test("rejects residue codes above 25", () => {
    const entry = { accession: "A", description: "", organism: null, speciesKey: null };
    expect(() => new CorpusBuilder("x").add({ ...entry, residues: Uint8Array.of(3, 26) })).toThrow(
      CorpusError,
    );
  });
});

describe("a damaged corpus is rejected", () => {
  test("rejects a corpus that is truncated anywhere or one byte too long", () => {
    const bytes = packed();
    for (let length = 0; length < bytes.length; length++) {
      expect(() => openCorpus(bytes.slice(0, length))).toThrow(/truncated/);
    }
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);
    expect(() => openCorpus(longer)).toThrow(/altered/);
  });

  test("rejects a corpus with any byte changed", () => {
    const bytes = packed();
    for (let i = 0; i < bytes.length; i++) {
      const altered = bytes.slice();
      altered[i] ^= 1 << (i % 8);
      expect(() => openCorpus(altered).verify()).toThrow(CorpusError);
    }
  });

  test("rejects a file of another type or version", () => {
    expect(() => openCorpus(new TextEncoder().encode(FASTA.repeat(10)))).toThrow(/not a corpus file/);
    const newer = packed();
    newer[8] = 3;
    expect(() => openCorpus(newer)).toThrow(/version 3/);
  });
});
