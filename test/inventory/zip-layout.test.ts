import { expect, test } from "bun:test";
import { readXlsx, streamXlsxRows, writeXlsxStream } from "hucre/xlsx";
import { toStreamable } from "../../src/inventory/imports/zip-layout.ts";

const ROWS = Array.from({ length: 3000 }, (_, i) => [`row ${i}`, i / 8, i % 2 === 0, "ä 😀 = <&>"]);
/** As part of a larger buffer, like request bodies. */
async function archive(): Promise<Buffer> {
  const written = await new Response(
    writeXlsxStream(ROWS, { name: "x", columns: [{ header: "a" }] }),
  ).bytes();
  return Buffer.concat([Buffer.from("before"), written, Buffer.from("")]).subarray("before".length);
}

const turn = async (): Promise<void> => {};

test("preserves content for streaming and random access", async () => {
  const bytes = await archive();
  const streamed: unknown[] = [];
  for await (const { values } of streamXlsxRows(toStreamable(bytes, 1e9, turn))) streamed.push(values);
  expect(streamed.slice(1)).toEqual(ROWS);
  const whole = await new Response(toStreamable(bytes, 1e9, turn)).bytes();
  expect((await readXlsx(whole)).sheets[0].rows.slice(1)).toEqual(ROWS);
  // Twice the same: nothing is left that would be moved.
  expect(await new Response(toStreamable(whole, 1e9, turn)).bytes()).toEqual(whole);
});

test("rejects archives that are too large or truncated", async () => {
  const bytes = await archive();
  expect(() => toStreamable(bytes, 1000, turn)).toThrow("too large");
  for (const length of [0, 10, 22, 1000, bytes.length - 1])
    expect(() => toStreamable(bytes.subarray(0, length), 1e9, turn)).toThrow("truncated");
});

/** The archive with its central directory repeated, and with claims of each entry changed. */
function altered(bytes: Buffer, times: number, claim: (entry: Buffer) => void): Buffer {
  const end = Buffer.from(bytes.subarray(-22));
  const start = end.readUInt32LE(16);
  const directory = Buffer.from(bytes.subarray(start, -22));
  for (let at = 0; at < directory.length;) {
    claim(directory.subarray(at));
    at += 46 + directory.readUInt16LE(at + 28) + directory.readUInt16LE(at + 30);
  }
  end.writeUInt16LE(end.readUInt16LE(10) * times, 10);
  return Buffer.concat([bytes.subarray(0, start), ...Array<Buffer>(times).fill(directory), end]);
}

test("rejects a ZIP part that is larger than declared, and several files in one", async () => {
  const bytes = await archive();
  const read = (of: Buffer) => new Response(toStreamable(of, 1e9, turn)).bytes();
  expect(await read(altered(bytes, 1, () => {}))).toBeInstanceOf(Uint8Array);
  const smaller = altered(bytes, 1, (entry) => entry.writeUInt32LE(entry.readUInt32LE(24) - 1, 24));
  expect(read(smaller)).rejects.toThrow("is damaged: its size or checksum is wrong");
  expect(() =>
    toStreamable(
      altered(bytes, 2, () => {}),
      1e9,
      turn,
    ),
  ).toThrow("truncated");
});

test("stops examining the parts once the import is cancelled", async () => {
  const check = (): void => {
    throw new Error("cancelled");
  };
  expect(new Response(toStreamable(await archive(), 1e9, turn, check)).bytes()).rejects.toThrow("cancelled");
});
