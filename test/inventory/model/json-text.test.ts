import { expect, test } from "bun:test";
import { parseJson } from "../../../src/inventory/model/parse-json.ts";
import { Problem } from "../../../src/problem.ts";
import { seeded } from "../random.ts";

const refusal = (text: string): string => {
  try {
    parseJson(text);
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).code).toBe("malformed");
    return (error as Problem).message;
  }
  throw new Error(`accepted: ${text}`);
};

test.each([
  ['{"a":1,}', "Expecting a name in double quotes: line 1 column 8 (char 7)"],
  ["[1,]", "Expecting value: line 1 column 4 (char 3)"],
  ["[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"],
  ['{"a" 1}', "Expecting ':' delimiter: line 1 column 6 (char 5)"],
  ['{\n "a": tru}', "Expecting value: line 2 column 7 (char 8)"],
  ['{"a": "b', "Unterminated string starting at: line 1 column 7 (char 6)"],
  ['"a\tb"', "Invalid control character at: line 1 column 3 (char 2)"],
  ['"\\x"', "Invalid \\escape: line 1 column 2 (char 1)"],
  ["{} {}", "Extra data: line 1 column 4 (char 3)"],
  ["'a'", "Expecting value: line 1 column 1 (char 0)"],
  ["01", "Extra data: line 1 column 2 (char 1)"],
  ["NaN", "Expecting value: line 1 column 1 (char 0)"],
])("%s is refused with the place of the mistake", (text, message) => {
  expect(refusal(text)).toBe(`JSON parse error - ${message}`);
});

test("nesting is bounded, also where it is well-formed", () => {
  expect(refusal("[".repeat(70) + "]".repeat(70))).toContain("Nested deeper than 64");
  expect(refusal("[".repeat(100_000))).toContain("Nested deeper than 64");
  expect(parseJson("[".repeat(60) + "]".repeat(60))).toBeArray();
});

test("mutilated texts are accepted or refused as the engine does, and the place of the mistake is within them", () => {
  const random = seeded(4);
  const whole = '{"a":[1,-2.5e3,true,null,"x\\u00e9\\n"],"b":{"c":"","d":[[],{}]}}';
  let refused = 0;
  for (let i = 0; i < 3000; i++) {
    const place = random.below(whole.length);
    const text =
      whole.slice(0, place) +
      random.pick(["", '"', "}", "]", ",", "0", "\\", " "]) +
      whole.slice(place + random.below(3));
    let valid = true;
    try {
      JSON.parse(text);
    } catch {
      valid = false;
    }
    if (valid) {
      expect(parseJson(text)).toEqual(JSON.parse(text));
      continue;
    }
    refused++;
    const at = Number(/\(char (\d+)\)$/.exec(refusal(text))?.[1]);
    expect(at).toBeLessThanOrEqual(text.length);
    // Nothing before the place is wrong by itself: it can be completed, so cutting there and closing must not move it left.
    expect(Number(/\(char (\d+)\)$/.exec(refusal(`${text}\u0000`))?.[1])).toBeGreaterThanOrEqual(
      Math.min(at, text.length),
    );
  }
  expect(refused).toBeGreaterThan(1000);
});
