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
