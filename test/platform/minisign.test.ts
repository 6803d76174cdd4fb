import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifySignature } from "../../src/platform/minisign.ts";
import { scratch } from "../scratch.ts";

/** Made by minisign 0.11 over the text `release` with a line end: `minisign -S -t "labd 0.3.0"`. */
const KEY = "RWSzNmNpCYQyJWVpw+/MJ8Eifx8VJZjtW9xtTpiuGt/WcqgWY1BOYyHx";
const SIGNATURE = `untrusted comment: signature from minisign secret key
RUSzNmNpCYQyJWEUq/IOBdmmvGuy6NSeYJgKihdf/Dr2Ei09ZoRyqieJi/DVZEoEBK/WqHVVC/gtI4KMP9M1l68Xp/XNEvfCOwU=
trusted comment: labd 0.3.0
NlIBTOrCVfITnpILINjiMhGYobolcpyeJRI5xUZgTpPIL0r3NWLAT+ADG6epz6BAksmABSJT5KR8K6FuoaxBAQ==
`;
/** With `-l`. */
const LEGACY =
  "RWSzNmNpCYQyJV83uPnYN9eHF+xcZPWHdY15pTOLtr204K1+ZnY5rcqx5NRUz3g0paU00cndOEw2/90CGPyz+WvSj/uW5dmNOQg=";

test("accepts a signature of minisign, and no file, key, signature or comment that differs", () => {
  using place = scratch();
  const path = join(place.directory, "file");
  writeFileSync(path, "release\n");
  expect(verifySignature(path, SIGNATURE, KEY)).toBe("labd 0.3.0");
  expect(verifySignature(path, SIGNATURE.replaceAll("\n", "\r\n"), KEY)).toBe("labd 0.3.0");
  const [first, signed, comment, global] = SIGNATURE.split("\n");
  const wrong: [string, string, string][] = [
    [SIGNATURE.replace("0.3.0", "0.3.1"), KEY, "trusted comment was changed"],
    [SIGNATURE.replace("RUSzNmNpCYQyJWEU", "RUSzNmNpCYQyJWEV"), KEY, "not the one that was signed"],
    [SIGNATURE, KEY.replace("pw+/M", "pw+/N"), "not the one that was signed"],
    [SIGNATURE, KEY.replace("RWSz", "RWSy"), "made with key 25328409696336B3, not with 25328409696336B2"],
    [[first, LEGACY, comment, global].join("\n"), KEY, "old format"],
    [[first, signed, comment].join("\n"), KEY, "not a signature of minisign"],
    [[first, signed, "comment", global].join("\n"), KEY, "not a signature of minisign"],
    ["", KEY, "not a signature of minisign"],
    [SIGNATURE, `${KEY}=`, "not a public key of minisign"],
  ];
  for (const [signature, key, reason] of wrong)
    expect(() => verifySignature(path, signature, key)).toThrow(reason);
  writeFileSync(path, "release");
  expect(() => verifySignature(path, SIGNATURE, KEY)).toThrow("not the one that was signed");
});

test.skipIf(Bun.which("minisign") === null)("accepts what minisign signs now", async () => {
  using place = scratch();
  const [path, key, secret] = ["file", "key.pub", "key"].map((name) => join(place.directory, name));
  writeFileSync(path, crypto.getRandomValues(new Uint8Array(40_000)));
  const run = (...words: string[]): string => {
    const { exitCode, stdout } = Bun.spawnSync(["minisign", ...words]);
    expect([words[0], exitCode]).toEqual([words[0], 0]);
    return stdout.toString();
  };
  run("-G", "-W", "-p", key, "-s", secret);
  run("-S", "-s", secret, "-m", path, "-t", "labd 1.2.3 linux-x64");
  const [signature, published] = [await Bun.file(`${path}.minisig`).text(), await Bun.file(key).text()];
  expect(verifySignature(path, signature, published.split("\n")[1])).toBe("labd 1.2.3 linux-x64");
});
