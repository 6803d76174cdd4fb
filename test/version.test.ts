import { expect, test } from "bun:test";
import { compareVersions } from "../src/version.ts";

test("orders releases, and the builds before each by their number", () => {
  const ordered = [
    "0.2.0+source",
    "0.2.0+9.g1a2b3c4d",
    "0.2.0+12.g00000000.dirty",
    "0.2.0",
    "0.10.0+1.gf",
    "0.10.0",
    "1.0.0",
  ];
  for (const [i, a] of ordered.entries())
    for (const [j, b] of ordered.entries())
      expect([a, b, Math.sign(compareVersions(a, b))]).toEqual([a, b, Math.sign(i - j)]);
});
