import { expect, test } from "bun:test";
import { decompressed } from "../../src/scoring/corpus/fasta-stream.ts";

const TEXT = ">A Ångström\nMKLV\n";
const utf8 = Buffer.from(TEXT);
const little = Buffer.from(`\ufeff${TEXT}`, "utf16le");
const big = Buffer.from(little).swap16();

/** Bytes one by one, as a slow pipe has them. */
const drops = (bytes: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });

const read = async (bytes: Uint8Array): Promise<string[]> => {
  const sources = [new Blob([bytes as Uint8Array<ArrayBuffer>]), drops(bytes)];
  return Promise.all(
    sources.map(async (source) =>
      Buffer.concat(await Array.fromAsync(decompressed(source))).toString("utf8"),
    ),
  );
};

test.each<[string, Uint8Array]>([
  ["UTF-8", utf8],
  ["UTF-8 with a mark, as editors of Windows save it", Buffer.concat([Buffer.from("\ufeff"), utf8])],
  ["UTF-16, little end first", little],
  ["UTF-16, big end first", big],
])("reads %s, plain and compressed, in one piece and byte by byte", async (_, bytes) => {
  const own = Uint8Array.from(bytes);
  const all = [own, Bun.gzipSync(own), Bun.zstdCompressSync(own)];
  for (const form of all) expect(await read(form)).toEqual([TEXT, TEXT]);
});

test.each<[string, string]>([
  ["PK\x03\x04word/document.xml", "a Word or Excel document"],
  ["%PDF-1.7", "a PDF document"],
  ["{\\rtf1", "an RTF document"],
  ["BZh91AY", "unpack it first"],
])("rejects %j and names its format", async (first, text) => {
  for (const bytes of [Buffer.from(first), Bun.gzipSync(Buffer.from(first))]) {
    const refused = await read(bytes).catch((error: Error) => error);
    expect(refused).toMatchObject({ code: "invalid_request", message: expect.stringContaining(text) });
  }
});

test("reports a truncated compressed file", async () => {
  const whole = Bun.gzipSync(utf8);
  const refused = await read(whole.slice(0, -9)).catch((error: Error) => error);
  expect((refused as Error).message).toBe("The gzip file is truncated or damaged.");
});

test("accepts an empty file", async () => {
  expect(await read(new Uint8Array(0))).toEqual(["", ""]);
});
