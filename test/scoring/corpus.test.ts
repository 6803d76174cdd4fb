import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode } from "../../src/motif/alphabet.ts";
import { openCorpus } from "../../src/motif/index.ts";
import { Corpora, emptyCorpus, isEarlierFormat, openCorpusFile } from "../../src/scoring/corpus/corpus.ts";
import { CAN_MOUNT, quietly, smallDisk, UNLESS_MOUNTED } from "../executable/small-disk.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { rejection } from "./rejection.ts";
import { openMigrated } from "../database.ts";

const root = mkdtempSync(join(tmpdir(), "labd-corpus-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FASTA =
  ">sp|P1|ONE_HUMAN First OS=Homo sapiens OX=9606\nMKLV\nAAC\n>P2 second [Mus musculus]\r\nGGGWW\r\n>P3\nACDEFGHIKLMNPQRSTVWY";

let corpora: Corpora;
let directory: string;
let time = 0;
beforeEach(() => {
  directory = mkdtempSync(join(root, "data-"));
  corpora = open(directory);
});
function open(directory: string): Corpora {
  const database = openMigrated(join(directory, "labd.sqlite"));
  return new Corpora(directory, database, { now: () => ++time, newId: () => "unused" });
}

const files = (): string[] => readdirSync(join(directory, "corpora")).sort();

/** The bytes as a stream of pieces of this size. */
function pieces(bytes: Uint8Array<ArrayBuffer>, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, (at += size)));
    },
  });
}

/** Stores the corpus of test/fixtures, which labd 0.2.0 packed from EARLIER, as that version did. */
function storeEarlierFormat(): string {
  const bytes = Bun.gunzipSync(readFileSync(join(import.meta.dir, "../fixtures/corpus-version-1.labc.gz")));
  const { hash } = openCorpus(bytes);
  mkdirSync(join(directory, "corpora"), { recursive: true });
  writeFileSync(join(directory, "corpora", `${hash}.labc`), bytes);
  const source = new Bun.CryptoHasher("sha256").update(EARLIER).digest("hex");
  writeFileSync(join(directory, "corpora", `${hash}.source`), source);
  corpora.adopt(hash);
  return hash;
}
const EARLIER =
  ">sp|P2|B_HUMAN second OS=Homo sapiens OX=9606 GN=BB\nMKVLAW\n>P1 first [Mus musculus]\nACDEF\n";

describe("a corpus of an earlier format", () => {
  test("a corpus is replaced when its FASTA is added again, and stays in use", async () => {
    const hash = storeEarlierFormat();
    const former = corpora.find("first");
    expect(isEarlierFormat(former.path)).toBe(true);
    await corpora.add({ name: "other", bytes: FASTA });
    const added = await corpora.add({ name: "first", bytes: EARLIER });
    expect(added).toMatchObject({ name: "first", sequences: 2, active: true });
    expect(added.hash).not.toBe(hash);
    expect(isEarlierFormat(added.path)).toBe(false);
    expect(openCorpusFile(added.path).identity(0).gene).toBe("BB");
    expect(corpora.list().map(({ name }) => name)).toEqual(["other", "first"]);
    expect(files().some((file) => file.startsWith(hash))).toBe(false);
    expect(await corpora.add({ name: "first", bytes: EARLIER })).toEqual(added);
  });

  test("a corpus is kept when another FASTA has its name", async () => {
    storeEarlierFormat();
    expect((await rejection(corpora.add({ name: "first", bytes: FASTA }))).message).toMatch(/has this name/);
    expect(corpora.find("first").active).toBe(true);
  });
});

describe("adding a corpus", () => {
  test("stores the proteins under their hash, and uses the first corpus", async () => {
    const seen: [number, number][] = [];
    const info = await corpora.add({ name: "three", bytes: FASTA, report: (...counts) => seen.push(counts) });
    expect(info).toMatchObject({ name: "three", sequences: 3, residues: 32, active: true });
    expect(seen.at(-1)).toEqual([3, 32]);
    expect(files()).toEqual([`${info.hash}.labc`, `${info.hash}.source`]);
    expect(readFileSync(info.path).length).toBe(info.bytes);
    const corpus = openCorpusFile(info.path);
    expect(corpus).toMatchObject({ name: "three", hash: info.hash, sequenceCount: 3, residueCount: 32 });
    expect(decode(corpus.residues.subarray(corpus.offsets[1], corpus.offsets[2]))).toBe("GGGWW");
    expect(corpus.organism(0)).toBe("Homo sapiens");
    corpora.verify(info);
  });

  const plain = Buffer.from(FASTA);
  test.each([
    ["plain", plain, 1],
    ["plain", plain, 7],
    ["gzip", Bun.gzipSync(plain), 1],
    ["gzip", Bun.gzipSync(plain), 1000],
    [
      "gzip in two members",
      Buffer.concat([plain.subarray(0, 50), plain.subarray(50)].map((part) => Bun.gzipSync(part))),
      3,
    ],
    ["zstd", Bun.zstdCompressSync(plain), 1],
    ["zstd", Bun.zstdCompressSync(plain), 1000],
  ] as [string, Uint8Array<ArrayBuffer>, number][])(
    "reads %s in pieces into the same corpus",
    async (_, bytes, size) => {
      const { hash } = await corpora.add({ name: "three", bytes: FASTA });
      expect((await corpora.add({ name: "three", bytes: pieces(bytes, size) })).hash).toBe(hash);
      expect((await corpora.add({ name: "three", bytes: new Blob([bytes]) })).hash).toBe(hash);
      expect(corpora.list().length).toBe(1);
      expect(files().length).toBe(2);
    },
  );

  test("replaces a lost or damaged file", async () => {
    const { path } = await corpora.add({ name: "three", bytes: FASTA });
    const whole = readFileSync(path);
    const altered = Uint8Array.from(whole);
    altered[whole.length - 20] ^= 1;
    for (const damage of [null, whole.subarray(0, -8), altered]) {
      if (damage === null) rmSync(path);
      else writeFileSync(path, damage);
      await corpora.add({ name: "three", bytes: FASTA });
      expect(readFileSync(path)).toEqual(whole);
    }
  });

  test.each([
    ["", "no sequence"],
    ["\n\n", "no sequence"],
    ["MKL\n>a\nMK", "line 1"],
    [">a\nMK\n>b\nM1K", "line 4"],
    [">a\n>b\nMK", "no residues"],
    [`>a\n${"ACGT".repeat(20)}\n>b\n${"ACGUN".repeat(9)}`, "look like DNA or RNA"],
    [`>a\n${"ACGT".repeat(20)}\n`.repeat(150) + ">p\nMKLV", "look like DNA or RNA"],
    [Bun.gzipSync(plain).slice(0, 60), "truncated"],
    [Bun.zstdCompressSync(plain).slice(0, 40), "truncated"],
  ] as [string | Uint8Array<ArrayBuffer>, string][])(
    "rejects %p without leaving files",
    async (bytes, word) => {
      const problem = await rejection(corpora.add({ name: "bad", bytes: new Blob([bytes]) }));
      expect(problem.code).toBe("invalid_request");
      expect(problem.message).toContain(word);
      expect(corpora.list()).toEqual([]);
      expect(readdirSync(directory)).not.toContain("corpora");
    },
  );

  test("rejects a name that another corpus has, and unprintable names", async () => {
    await corpora.add({ name: "three", bytes: FASTA });
    const other = await rejection(corpora.add({ name: "three", bytes: ">x\nMMM" }));
    expect(other.code).toBe("conflict");
    expect((await rejection(corpora.add({ name: "a\nb", bytes: FASTA }))).code).toBe("invalid_request");
    expect(corpora.list().length).toBe(1);
  });
});

describe("selecting a corpus", () => {
  test("selects a corpus by name, hash or its beginning, also for later processes", async () => {
    const one = await corpora.add({ name: "one", bytes: FASTA });
    const two = await corpora.add({ name: "two", bytes: ">x\nMMM" });
    expect(corpora.active()?.name).toBe("one");
    expect(corpora.use("two")).toMatchObject({ hash: two.hash, active: true });
    expect(corpora.list().map(({ name, active }) => [name, active])).toEqual([
      ["one", false],
      ["two", true],
    ]);
    expect(open(directory).active()?.name).toBe("two");
    corpora.use(one.hash);
    expect(corpora.open().hash).toBe(one.hash);
    corpora.use(two.hash.slice(0, 8));
    expect(corpora.open().hash).toBe(two.hash);
  });

  test("rejects an unknown name with suggestions, and a damaged file", async () => {
    expect(() => corpora.use("none")).toThrow("labd corpus add");
    await corpora.add({ name: "swissprot", bytes: FASTA });
    const two = await corpora.add({ name: "two", bytes: ">x\nMMM" });
    expect(() => corpora.use("swisprot")).toThrow("did you mean swissprot?");
    truncateSync(two.path, two.bytes - 1);
    expect(() => corpora.use("two")).toThrow(expect.objectContaining({ code: "bad_corpus" }));
    expect(corpora.active()?.name).toBe("swissprot");
  });
});

describe("continues an interrupted corpus", () => {
  const next = random(11);
  const letters = (length: number): string => decode(randomProtein(next, length));
  const records = Array.from(
    { length: 300 },
    (_, i) =>
      `>sp|Q${i}|N${i}_${i % 3 === 0 ? "HUMAN" : "MOUSE"} Protein ${i}\r\n${letters(20 + (i % 90))}\r\n\r\n; remark\n`,
  );
  const whole = Buffer.from(records.join(""));
  const segmentBytes = 4000;

  /** Adds the corpus until the stream fails after so many bytes, as if the process had been killed. */
  async function begin(after: number, size: number): Promise<void> {
    const start = pieces(Uint8Array.from(whole.subarray(0, after)), size);
    const bytes = start.pipeThrough(
      new TransformStream({
        flush: (controller) => controller.error(new Error("cut off")),
      }),
    );
    const error = await rejection(corpora.add({ name: "big", bytes, segmentBytes }));
    expect(error.message).toContain("cut off");
  }
  const begun = (): string[] => files().filter((name) => name.endsWith(".begun"));

  test.each([
    [1, 1000],
    [7, 9000],
    [1000, 12_345],
    [4096, 20_000],
    [100_000, 15_000],
  ])("continues a corpus after %d-byte pieces and an interruption at %d bytes", async (size, behind) => {
    const { hash } = await open(mkdtempSync(join(root, "single-"))).add({
      name: "big",
      bytes: whole.toString(),
    });
    for (const more of [0, 6000]) await begin(behind + more, size);
    const messages: string[] = [];
    const seen: number[] = [];
    const added = await corpora.add({
      name: "big",
      bytes: new Blob([size === 7 ? Bun.gzipSync(whole) : Uint8Array.from(whole)]),
      segmentBytes,
      report: (sequences) => void seen.push(sequences),
      tell: (sentence) => void messages.push(sentence),
    });
    expect(added).toMatchObject({ hash, sequences: 300 });
    expect(messages).toEqual([expect.stringContaining("Continuing after")]);
    expect(seen[0]).toBeGreaterThan(10);
    expect(files().toSorted()).toEqual([`${hash}.labc`, `${hash}.source`]);
  });

  test("discards an interrupted corpus with other input", async () => {
    await begin(20_000, 500);
    expect(begun().length).toBeGreaterThan(2);
    const messages: string[] = [];
    const other = Buffer.from(whole);
    other[100] ^= 1;
    const bytes = new Blob([Uint8Array.from(other)]);
    const added = await corpora.add({ name: "big", bytes, tell: (sentence) => void messages.push(sentence) });
    expect(added.sequences).toBe(300);
    expect(messages).toEqual([expect.stringContaining("starting again")]);
    corpora.remove("big");
    await begin(20_000, 500);
    const refused = await rejection(corpora.add({ name: "big", bytes: pieces(Uint8Array.from(other), 999) }));
    expect(refused).toMatchObject({
      code: "conflict",
      message: expect.stringContaining("Run the command again"),
    });
    expect(begun()).toEqual([]);
    expect((await corpora.add({ name: "big", bytes: pieces(Uint8Array.from(other), 999) })).hash).toBe(
      added.hash,
    );
  });

  test("reads a damaged segment again", async () => {
    await begin(20_000, 500);
    const path = join(directory, "corpora", begun().toSorted()[1]);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] ^= 1;
    writeFileSync(path, bytes);
    const { hash } = await corpora.add({ name: "big", bytes: whole.toString(), segmentBytes });
    expect(
      (await open(mkdtempSync(join(root, "single-"))).add({ name: "big", bytes: whole.toString() })).hash,
    ).toBe(hash);
    expect(files()).toHaveLength(2);
  });

  test("removes incomplete files of a killed process", async () => {
    const { hash } = await corpora.add({ name: "three", bytes: FASTA });
    writeFileSync(join(directory, "corpora", `${"ab".repeat(32)}.labc.part`), "half");
    writeFileSync(join(directory, "corpora", `${"cd".repeat(32)}.labc`), "whole, but without its row");
    await corpora.add({ name: "three", bytes: FASTA });
    expect(files().toSorted()).toEqual([`${hash}.labc`, `${hash}.source`]);
  });
});

test("stores the same proteins once, under their first name", async () => {
  const first = await corpora.add({ name: "three", bytes: FASTA });
  const read: number[] = [];
  const report = (sequences: number): void => void read.push(sequences);
  expect(await corpora.add({ name: "other", bytes: FASTA, report })).toEqual(first);
  // Known by its digest: it was not read as FASTA again.
  expect(read).toEqual([]);
  expect(await corpora.add({ name: "other", bytes: pieces(Uint8Array.from(Buffer.from(FASTA)), 5) })).toEqual(
    first,
  );
  expect(corpora.list()).toHaveLength(1);
  expect(files()).toHaveLength(2);
});

test("removes a corpus with its files, but the one in use only if it is the last", async () => {
  const one = await corpora.add({ name: "one", bytes: FASTA });
  const two = await corpora.add({ name: "two", bytes: ">x\nMMM" });
  expect(() => corpora.remove("one")).toThrow(expect.objectContaining({ code: "conflict" }));
  expect(() => corpora.remove("tow")).toThrow("did you mean two?");
  corpora.use("two");
  expect(corpora.remove(one.hash.slice(0, 8))).toMatchObject({ name: "one", active: false });
  expect(corpora.list()).toEqual([{ ...two, active: true }]);
  expect(files()).toHaveLength(2);
  corpora.remove("two");
  expect(corpora.active()).toBeNull();
  expect(files()).toEqual([]);
});

test("verify detects an altered residue", async () => {
  const { path } = await corpora.add({ name: "three", bytes: FASTA });
  const bytes = readFileSync(path);
  const corpus = openCorpusFile(path);
  const at = corpus.residues.byteOffset;
  bytes[at] ^= 1;
  writeFileSync(path, bytes);
  expect(() => corpora.verify(corpora.active()!)).toThrow(expect.objectContaining({ code: "bad_corpus" }));
});

test.skipIf(!CAN_MOUNT)(`opens a corpus on a read-only file system${UNLESS_MOUNTED}`, async () => {
  using disk = smallDisk(directory)!;
  const { hash, path: packed } = await corpora.add({ name: "three", bytes: FASTA });
  const path = join(disk.directory, "packed.labc");
  copyFileSync(packed, path);
  expect(quietly("mount", "-o", "remount,ro", disk.directory)).toBe(true);
  expect(openCorpusFile(path)).toMatchObject({ hash, sequenceCount: 3 });
});

test("the service uses an empty corpus if none was added", () => {
  expect(corpora.active()).toBeNull();
  expect(corpora.open()).toMatchObject({ sequenceCount: 0, residueCount: 0, hash: emptyCorpus().hash });
});
