import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTests } from "./run.ts";

const CASES: [name: string, source: string, counts: [number, number, number], failure: RegExp | null][] = [
  ["passing and skipped tests", 'test("a", () => {}); test.skip("b", () => {});', [1, 0, 1], null],
  [
    "a failing test",
    'test("a", () => {}); test("b > c", () => expect(1).toBe(2));',
    [1, 1, 0],
    /one\.test\.ts: b > c$/,
  ],
  ["a file that cannot be loaded", 'throw new Error("broken");', [0, 1, 0], /bun test ended with 1/],
  ["a process that is killed", 'test("a", () => process.kill(process.pid, "SIGKILL"));', [0, 1, 0], /./],
];

test.each(CASES)("counts %s", async (_, source, counts, failure) => {
  const folder = mkdtempSync("test/run-test-");
  try {
    const file = join(folder, "one.test.ts");
    writeFileSync(file, `import { expect, test } from "bun:test";\n${source}`);
    const { passed, failed, skipped, failures } = await runTests([file], 1);
    expect([passed, failed, skipped]).toEqual(counts);
    expect(failures).toHaveLength(counts[1]);
    if (failure) expect(failures[0]).toMatch(failure);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
