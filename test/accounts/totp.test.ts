import { expect, test } from "bun:test";
import {
  base32,
  computeCode,
  matchingStep,
  newTotpSecret,
  otpauthUri,
  toTimeStep,
} from "../../src/accounts/totp.ts";

const RFC_SECRET = Buffer.from("12345678901234567890");

test.each([
  [59, "94287082"],
  [1_111_111_109, "07081804"],
  [1_111_111_111, "14050471"],
  [1_234_567_890, "89005924"],
  [2_000_000_000, "69279037"],
  [20_000_000_000, "65353130"],
])("RFC 6238, appendix B, SHA-1: at %p s the code is %p", (seconds, code) => {
  expect(computeCode(RFC_SECRET, toTimeStep(seconds * 1000), 8)).toBe(code);
  expect(computeCode(RFC_SECRET, toTimeStep(seconds * 1000))).toBe(code.slice(2));
});

test("RFC 4226, appendix D: codes of the first ten counters", () => {
  const codes = Array.from({ length: 10 }, (_, count) => computeCode(RFC_SECRET, count));
  expect(codes).toEqual("755224 287082 359152 969429 338314 254676 287922 162583 399871 520489".split(" "));
});

test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("RFC 4648, section 10: %p in base 32 is %p", (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
});

test("a code is also valid one step before and after its time", () => {
  const secret = newTotpSecret();
  const at = 1_800_000_000_000;
  const code = computeCode(secret, toTimeStep(at));
  for (const [seconds, found] of [
    [-31, undefined],
    [-30, toTimeStep(at)],
    [0, toTimeStep(at)],
    [59, toTimeStep(at)],
    [60, undefined],
  ] as const)
    expect({ seconds, step: matchingStep(secret, code, at + seconds * 1000) }).toEqual({
      seconds,
      step: found,
    });
  expect(matchingStep(secret, code.slice(1), at)).toBeUndefined();
  expect(matchingStep(secret, "", at)).toBeUndefined();
});

test("the otpauth URI contains the encoded names of service and account", () => {
  const uri = otpauthUri(RFC_SECRET, "labd lab.example", "ada:x y");
  expect(uri).toStartWith("otpauth://totp/labd%20lab.example:ada%20x%20y?secret=GEZDGNBVGY3TQOJQ");
  const { searchParams } = new URL(uri);
  expect(Object.fromEntries(searchParams)).toEqual({
    secret: base32(RFC_SECRET),
    issuer: "labd lab.example",
    algorithm: "SHA1",
    digits: "6",
    period: "30",
  });
});
