import { expect, test } from "bun:test";
import { parseJson } from "../../src/platform/parse-json.ts";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test.each(["{}", "null", "1", ' [1, {"a": "b"}] ', nested(64)])("parses %p", (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each([
  ["", "JSON parse error - Unexpected EOF."],
  ['{"a":1,}', "JSON parse error - "],
  [nested(65), "JSON parse error - Nested deeper than 64."],
  [`{"a":${nested(64)}}`, "JSON parse error - Nested deeper than 64."],
])("rejects %p", (text, message) => {
  expect(() => parseJson(text)).toThrow(message);
});
