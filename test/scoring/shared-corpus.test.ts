import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCorpus, packCorpus } from "../../src/motif/index.ts";
import { readFasta } from "../../src/motif/fasta.ts";
import { SharedCorpus } from "../../src/scoring/corpus/shared-corpus.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-shared-"));
  path = join(directory, "a.labc");
  const next = random(7);
  // More than one chunk.
  const entries = Array.from({ length: 300 }, (_, i) => ({
    ...readFasta(`>p${i}\nA\n`)[0],
    residues: randomProtein(next, 5000),
  }));
  writeFileSync(path, packCorpus("random", entries));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("reads a corpus once, into memory that later changes of the file do not reach", async () => {
  const shared = new SharedCorpus();
  const reading = shared.read(path);
  expect(reading).toBeInstanceOf(Promise);
  expect(shared.read(path)).toBe(reading);
  const bytes = (await reading)!;
  expect(bytes).toBeInstanceOf(SharedArrayBuffer);
  expect(Buffer.from(bytes).equals(readFileSync(path))).toBe(true);
  truncateSync(path, 0);
  expect(shared.read(path)).toBe(bytes);
  const corpus = openCorpus(new Uint8Array(bytes));
  expect([corpus.sequenceCount, corpus.residueCount]).toEqual([300, 1_500_000]);
  corpus.verify();
});

test.each([
  ["truncated", (bytes: Buffer) => bytes.subarray(0, -1), "is truncated or altered"],
  ["shorter than its header", (bytes: Buffer) => bytes.subarray(0, 100), "is truncated or altered"],
  [
    "with one altered bit",
    (bytes: Buffer) => (bytes.writeUInt8(bytes[1_200_000] ^ 1, 1_200_000), bytes),
    "altered",
  ],
])("rejects a file that is %s, until it is whole again", async (_, change, reason) => {
  const whole = readFileSync(path);
  writeFileSync(path, change(readFileSync(path)));
  const shared = new SharedCorpus();
  const rejected = shared.read(path) as Promise<unknown>;
  expect(rejected).rejects.toMatchObject({ code: "bad_corpus", message: expect.stringContaining(reason) });
  await rejected.catch(() => {});
  writeFileSync(path, whole);
  expect(await shared.read(path)).toBeInstanceOf(SharedArrayBuffer);
});

test("a corpus that would take too much memory is mapped instead of copied", async () => {
  const shared = new SharedCorpus(100_000);
  expect(await shared.read(path)).toBeUndefined();
  expect(shared.read(path)).toBeUndefined();
});

test("reports a missing file", async () => {
  rmSync(path);
  const missing = await Promise.allSettled([new SharedCorpus().read(path)]);
  expect(missing[0]).toMatchObject({
    reason: { code: "bad_corpus", message: "corpora/a.labc cannot be read." },
  });
});
