import { expect, setDefaultTimeout, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileHash } from "../../src/platform/durable-file.ts";
import { scratch } from "../scratch.ts";

setDefaultTimeout(300_000);

const REPOSITORY = join(import.meta.dir, "../..");
const SOURCES = ["build.ts", "bun.lock", "package.json", "tsconfig.json", "db", "docs", "packaging", "src"];

/** Builds a copy of the sources in a folder. @returns SHA-256 of the executable */
function build(folder: string, env: Record<string, string>): string {
  for (const name of SOURCES) cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true });
  for (const words of [
    ["install", "--frozen-lockfile"],
    ["run", "build.ts"],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, ...words], {
      cwd: folder,
      env: { ...process.env, ...env },
      stderr: "pipe",
    });
    expect([words[0], exitCode, exitCode === 0 || stderr.toString()]).toEqual([words[0], 0, true]);
  }
  return fileHash(join(folder, "dist/labd"));
}

test("builds in two folders, time zones and languages are equal byte for byte", () => {
  using place = scratch();
  const first = build(join(place.directory, "a"), { TZ: "UTC", LC_ALL: "C" });
  const second = build(join(place.directory, "another/folder"), { TZ: "Asia/Tokyo", LC_ALL: "de_DE.UTF-8" });
  expect(second).toBe(first);
});
