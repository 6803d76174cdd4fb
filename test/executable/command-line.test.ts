import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import PROTEINS from "../../src/sample/proteins.fasta" with { type: "text" };
import { killWhileWriting, LABD, labd, scratch } from "./labd.ts";

test("--version prints version and commit", async () => {
  const version = await labd(["--version"]);
  expect(version).toMatchObject({ code: 0, stderr: "" });
  expect(version.stdout).toMatch(/^labd \d+\.\d+\.\d+\S* \(\S+\)\n$/);
});

test.each<[string[], number, string]>([
  [["serve", "--data-dir", LABD], 78, "is a file. Name a directory."],
  [["serve", "--port", "0", "--host", "203.0.113.1"], 75, "this machine has no such address"],
])("%p exits with %p and prints %p", async (words, code, text) => {
  using place = scratch();
  const { stderr, ...ended } = await labd(words, { env: { LABD_DATA_DIR: place.directory } });
  expect(ended).toEqual({ code, stdout: "" });
  expect(stderr).toContain(text);
  expect(stderr).not.toContain("    at ");
});

test("a killed batch continues with --resume and equals an uninterrupted run", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory, LABD_WORKERS: "1" };
  await labd(["corpus", "add", "--sample"], { env });
  const table = join(place.directory, "batch.tsv");
  const records = PROTEINS.split(/^>/m).slice(1, 41);
  writeFileSync(table, records.map((record) => `${record.split(/\s/, 1)[0]}\tP..P\n`).join(""));
  for (const format of ["tsv", "xml"]) {
    const path = join(place.directory, `scores.${format}`);
    const words = ["score", "--batch", table, "--format", format];
    const single = await labd(words, { env });
    expect(await killWhileWriting([...words, "--output", path], env, path, 5)).toBeLessThan(40);
    expect((await labd([...words, "--output", path], { env })).stderr).toContain("Continue it with --resume");
    const resumed = await labd([...words, "--output", path, "--resume"], { env });
    expect([resumed.code, resumed.stdout]).toEqual([0, ""]);
    expect(readFileSync(path, "utf8")).toBe(single.stdout);
    expect(existsSync(`${path}.progress`)).toBe(false);
  }
});

test("demo --once uses both services and leaves no files behind", async () => {
  using place = scratch();
  const ended = await labd(["demo", "--once", "--port", "0"], {
    cwd: place.directory,
    env: { TMPDIR: place.directory },
  });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/DEG_MDM2_SWIB_1\s+19–26\s+FSDLWKLL\s+.*\sconserved/);
  expect(ended.stdout).toContain("-80 North");
  expect([...new Bun.Glob("**").scanSync({ cwd: place.directory, dot: true })]).toEqual([]);
});
