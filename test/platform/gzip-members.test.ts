import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { gzipMember, isGzip, MemberJoiner } from "../../src/platform/gzip-members.ts";

const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));
const text = (length: number): Uint8Array => Buffer.from("retention ".repeat(length)).subarray(0, length);

test.each([[[0]], [[1]], [[0, 1, 0]], [[5, 70_000, 3]], [[262_144, 262_144, 262_144, 17]]])(
  "parts of %j bytes are joined into one member that gzip accepts",
  (lengths) => {
    for (const make of [random, text]) {
      const parts = lengths.map(make);
      const joiner = new MemberJoiner();
      const members = parts.map(gzipMember);
      for (const [i, member] of members.entries()) {
        expect(isGzip(member)).toBe(true);
        expect(gunzipSync(member).equals(parts[i])).toBe(true);
      }
      const pieces = members.map((member) => joiner.add(member));
      const joined = Buffer.concat([...pieces, joiner.end()]);
      expect(gunzipSync(joined).equals(Buffer.concat(parts))).toBe(true);
      // Not several members: bytes after the first would be ignored by some clients.
      expect(joined.indexOf(Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0), 1)).toBe(-1);
      const damaged = Buffer.from(joined);
      damaged[damaged.length - 8] ^= 1;
      expect(() => gunzipSync(damaged)).toThrow();
    }
  },
);
