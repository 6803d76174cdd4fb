import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The runner of the tests, on small files that fail in every way a test file can. */

const IMPORT = 'import { afterAll, beforeAll, expect, test } from "bun:test";\n';

async function run(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<{ code: number; lines: string[]; text: string }> {
  const folder = mkdtempSync(join(tmpdir(), "labd-runner-"));
  try {
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, `${name}.test.ts`), IMPORT + text);
    const runner = Bun.spawn([process.execPath, "run", join(import.meta.dir, "test-files.ts"), folder], {
      cwd: join(import.meta.dir, ".."),
      env: { ...process.env, ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [text, errors, code] = await Promise.all([
      Bun.readableStreamToText(runner.stdout),
      Bun.readableStreamToText(runner.stderr),
      runner.exited,
    ]);
    expect(errors).toBe("");
    const said = text.replaceAll(`${folder}/`, "");
    return { code, text: said, lines: said.trimEnd().split("\n") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("what passes is counted over all files, and nothing is said again", async () => {
  const { code, lines, text } = await run({
    one: 'test("a", () => {}); test("b", () => {});',
    two: 'test("c", () => console.log("7 fail")); test.skip("d", () => {});',
  });
  expect([code, lines.at(-1)]).toEqual([0, "3 passed, 0 failed, 1 skipped"]);
  expect(text).not.toContain("What failed");
});

test("every failure is said again with its message, in the last eight thousand characters", async () => {
  const noise = "for (let i = 0; i < 400; i++) console.error(`noise ${i}`);";
  const { code, lines, text } = await run({
    assertion: `test("early", () => {}); test("differs", () => { ${noise} expect({ a: 1 }).toEqual({ a: 2 } as never); });`,
    between: "throw new Error('the module fails');",
    late: 'test("slow", async () => { await Bun.sleep(60_000); }, 50); test("after it", () => {});',
    long: 'test("long", () => { const list = Array.from({ length: 500 }, (_, i) => i); expect(list).toEqual(list.map((i) => i + 1)); });',
    setup: 'beforeAll(() => { throw new Error("set-up fails"); }); test("never", () => {});',
    teardown: 'afterAll(() => { throw new Error("tear-down fails"); }); test("fine", () => {});',
    good: 'test("good", () => {});',
  });
  expect([code, lines.at(-1)]).toEqual([1, "4 passed, 6 failed"]);
  const again = text.slice(text.lastIndexOf("What failed:"));
  expect(again.length).toBeLessThan(8000);
  for (const said of [
    "assertion.test.ts: differs",
    '-   "a": 2,',
    "between.test.ts: Unhandled error between tests",
    "error: the module fails",
    "late.test.ts: slow",
    "this test timed out after 50ms",
    "long.test.ts: long",
    "- Expected  - 1",
    "error: set-up fails",
    "error: tear-down fails",
  ])
    expect(again).toContain(said);
  // Of what is long the part that says why.
  expect(again.match(/^noise/gm)!.length).toBeLessThan(60);
  for (const one of again.split(/^── /m).slice(1)) expect(one.split("\n").length).toBeLessThan(66);
});

test("a file in which Bun dies or ends early fails for itself alone", async () => {
  const { code, lines, text } = await run({
    dies: 'test("lives", () => {}); test("dies", () => { process.kill(process.pid, "SIGKILL"); });',
    leaves: 'test("leaves", () => { console.error("about to leave"); process.exit(0); });',
    nothing: "",
    sound: 'test("sound", () => {});',
  });
  expect([code, lines.at(-1)]).toEqual([1, "2 passed, 3 failed"]);
  const again = text.slice(text.lastIndexOf("What failed:"));
  expect(again).toContain(
    [
      "What failed:",
      "  dies.test.ts: bun test ended with SIGKILL before it was through",
      "  leaves.test.ts: bun test ended before it was through",
      "  nothing.test.ts: bun test ",
    ].join("\n"),
  );
  expect(again).toContain("about to leave");
});

test("a file that never gives way is ended", async () => {
  const hangs = 'test("hangs", () => { for (;;); });';
  const { code, lines, text } = await run({ hangs }, { TEST_FILE_SECONDS: "1" });
  expect([code, lines.at(-1)]).toEqual([1, "0 passed, 1 failed"]);
  expect(text).toContain("hangs.test.ts: bun test was ended after 1 s before it was through");
});

test("a process that a file leaves behind does not hold up the run", async () => {
  const { code, lines } = await run({
    leaves:
      'test("leaves", () => { Bun.spawn(["sleep", "20"], { stdin: "ignore", stdout: "inherit", stderr: "inherit" }).unref(); });',
  });
  expect([code, lines.at(-1)]).toEqual([0, "1 passed, 0 failed"]);
});

test("nothing to run is a failure", async () => {
  const { code, lines } = await run({});
  expect([code, lines.at(-1)]).toEqual([1, "0 passed, 1 failed"]);
});
