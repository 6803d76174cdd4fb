import { expect, test } from "bun:test";
import { readJson } from "../../src/platform/body.ts";

const sent = (body: string | Uint8Array<ArrayBuffer>, type?: string) =>
  new Request("http://localhost/", { method: "POST", body, headers: type ? { "Content-Type": type } : {} });

test.each([
  ['{"a": 1}', { a: 1 }],
  ["", {}],
  [" \n", {}],
  ['\ufeff{"a": 1}', { a: 1 }],
  ['{"a": 1, "a": 2}', { a: 2 }],
])("reads %j", async (text, value) => {
  expect(await readJson(sent(Buffer.from(text)))).toEqual(value);
});

test.each([
  ["broken JSON", sent('{"a":'), "malformed", "JSON parse error - Unexpected EOF."],
  ["an integer beyond 2^53", sent("[9007199254740993]"), "malformed", "would be rounded"],
  ["deep nesting", sent("[".repeat(65) + "]".repeat(65)), "malformed", "Nested deeper than 64."],
  ["other bytes than UTF-8", sent(Buffer.from([0x22, 0xff, 0x22])), "malformed", "The body must be UTF-8."],
  ["more bytes than allowed", sent('"123456789"'), "too_large", "more than 10 bytes"],
  ["another media type", sent("{}", "text/csv"), "unsupported_media_type", '"text/csv"'],
  ["markup as media type", sent("{}", "<b>/x"), "unsupported_media_type", "of this name"],
])("refuses %s", async (_, request, code, message) => {
  const types = ["", "text/plain", "application/json"];
  const read = readJson(request, { maxBytes: code === "too_large" ? 10 : 1000, types });
  expect(await read.catch((error: unknown) => error)).toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
});
