import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { corpusFile } from "../../src/scoring/corpus/corpus-download.ts";

const SIZE = 1000;
const hash = "a".repeat(64);
const directory = mkdtempSync(join(tmpdir(), "labd-download-"));
const path = join(directory, `${hash}.labc`);
writeFileSync(path, Buffer.alloc(SIZE, "labc"));
afterAll(() => rmSync(directory, { recursive: true }));

const request = (headers: Record<string, string>): Response =>
  corpusFile(new Request("http://x/", { headers }), { path, hash } as never);

test.each([
  ["bytes=0-9", 206, `bytes 0-9/${SIZE}`],
  ["bytes=-10", 206, `bytes 990-999/${SIZE}`],
  ["bytes=100-", 206, `bytes 100-999/${SIZE}`],
  ["bytes=999-", 206, `bytes 999-999/${SIZE}`],
  ["bytes=5-999999999999", 206, `bytes 5-999/${SIZE}`],
  ["bytes=1000-", 416, `bytes */${SIZE}`],
  ["bytes=-0", 416, `bytes */${SIZE}`],
  ["bytes=9-5", 200, null],
  ["bytes=0-1,5-6", 200, null],
  ["lines=1-2", 200, null],
  ["bytes=-", 200, null],
])("responds to Range: %s", async (range, status, contentRange) => {
  const response = request({ Range: range });
  expect(response.status).toBe(status);
  expect(response.headers.get("content-range")).toBe(contentRange);
  const length = Number(response.headers.get("content-length") ?? 0);
  expect((await response.arrayBuffer()).byteLength).toBe(length);
});

test("If-Range and If-None-Match compare the hash", () => {
  expect(request({ Range: "bytes=1-", "If-Range": `"${hash}"` }).status).toBe(206);
  expect(request({ Range: "bytes=1-", "If-Range": '"other"' }).status).toBe(200);
  expect(request({ "If-None-Match": `"other", W/"${hash}"` }).status).toBe(304);
});
