import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { progressBar, transferText } from "../../src/commands/progress.ts";
import { openOutput } from "../../src/commands/score-output.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-output-"));
  path = join(directory, "scores.tsv");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A run that is killed after two queries, while it writes the third. */
async function cutOff(): Promise<void> {
  const output = openOutput(path, "asked", false);
  await output.write("head\n", 0);
  await output.write("one\n", 1);
  await output.write("zwei: \u03b6\n", 2);
  appendFileSync(path, "thr");
}

test("continues an interrupted file after the last complete query", async () => {
  await cutOff();
  const output = openOutput(path, "asked", true);
  expect([output.done, output.isNew]).toEqual([2, false]);
  await output.write("three\n", 3);
  expect(output.digest()).toBe(
    new Bun.CryptoHasher("sha256").update("head\none\nzwei: \u03b6\nthree\n").digest("hex"),
  );
  await output.finish("end\n");
  expect(readFileSync(path, "utf8")).toBe("head\none\nzwei: \u03b6\nthree\nend\n");
  expect(existsSync(`${path}.progress`)).toBe(false);
  expect(() => openOutput(path, "asked", true)).toThrow("nothing to resume");
  expect(() => openOutput(path, "asked", false)).toThrow("already exists");
});

test("writes the end of the file once after a kill during finish", async () => {
  const output = openOutput(path, "asked", false);
  await output.write("one\n", 1);
  const mark = readFileSync(`${path}.progress`);
  await output.finish("end\n");
  writeFileSync(`${path}.progress`, mark);
  const again = openOutput(path, "asked", true);
  expect(again.done).toBe(1);
  await again.finish("end\n");
  expect(readFileSync(path, "utf8")).toBe("one\nend\n");
});

test("rejects a checkpoint of another request, and does not overwrite a file", async () => {
  await cutOff();
  expect(() => openOutput(path, "asked", false)).toThrow("Continue it with --resume");
  expect(() => openOutput(path, "else", true)).toThrow("started with other queries");
  expect(readFileSync(path, "utf8")).toContain("thr");
});

test("starts again with --resume if the file is missing or shorter than the checkpoint", async () => {
  expect(openOutput(path, "asked", true)).toMatchObject({ done: 0, isNew: true });
  rmSync(path);
  await cutOff();
  truncateSync(path, 7);
  expect(openOutput(path, "asked", true)).toMatchObject({ done: 0, isNew: true });
  expect(readFileSync(path, "utf8")).toBe("");
});

test("draws the progress bar by the fraction of all work", () => {
  expect(progressBar(0, 1, "homologs", 0.5)).toBe(
    `[${"#".repeat(11)}${".".repeat(13)}] 0 of 1 query, homologs 50 %`,
  );
  expect(progressBar(50, 100, "scores", 1)).toBe(
    `[${"#".repeat(12)}${".".repeat(12)}] 50 of 100 queries, scores 100 %`,
  );
});

test("shows the progress of a transfer even without a known total", () => {
  expect(transferText(70e6, 280e6, 35)).toBe(`[${"#".repeat(6)}${".".repeat(18)}] 70 of 280 MB, 35 MB/s`);
  expect(transferText(65_000_000, 0, 1)).toBe("65 MB, 1.0 MB/s");
  expect(transferText(0, 0, 0)).toBe(`[${".".repeat(24)}] 0 of 0 MB, 0.0 MB/s`);
});
