/**
 * `npm test`: checks format, lint and types, builds the executable and runs the tests. Arguments name test files or
 * folders to run instead; `--all` adds the slow ones (farm, faults, browsers, kills). The last line is the count alone.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "bun";

/** Tests that start the executable or a browser, and still run every time: a sample of each service. */
const SAMPLE = new Set([
  "test/executable/service.test.ts",
  "test/executable/rest-process.test.ts",
  "test/executable/soap-golden.test.ts",
  "test/executable/readme.test.ts",
  "test/browser/score.test.ts",
  "test/browser/inventory-record.test.ts",
]);
const SLOW = /^test\/((executable|browser)\/|farm\/farm(-families)?\.test)/;
/** Milliseconds that one test may take unless it says otherwise, and one group of files. */
const TEST_TIMEOUT = 300_000;
const GROUP_TIMEOUT = 3_600_000;

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  /** `file: name` of each failed test. */
  failures: string[];
}

/** Counts and failures of a JUnit report. */
function readReport(xml: string): Outcome {
  const [, tests, failed, skipped] =
    /<testsuites[^>]*? tests="(\d+)"[^>]*? failures="(\d+)"[^>]*? skipped="(\d+)"/.exec(xml) ?? [];
  const cases = xml.matchAll(
    /<testcase name="([^"]*)"[^>]*? file="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  );
  const failures = [...cases]
    .filter(([, , , body]) => body?.includes("<failure"))
    .map(([, name, file]) => `${file}: ${name!.replaceAll("&gt;", ">").replaceAll("&quot;", '"')}`);
  return {
    passed: Number(tests) - Number(failed) - Number(skipped),
    failed: Number(failed),
    skipped: Number(skipped),
    failures,
  };
}

/** Runs test files in one `bun test`; `parallel` files at a time, each in a fresh global object. */
export async function runTests(files: readonly string[], parallel: number): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "labd-report-"));
  const report = join(folder, "report.xml");
  const run = spawn(
    [
      process.execPath,
      "test",
      "--only-failures",
      `--parallel=${parallel}`,
      `--timeout=${TEST_TIMEOUT}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...files.map((file) => `./${file}`),
    ],
    { stdin: "ignore", stdout: "inherit", stderr: "inherit", timeout: GROUP_TIMEOUT, killSignal: "SIGKILL" },
  );
  const code = await run.exited;
  const outcome = existsSync(report)
    ? readReport(readFileSync(report, "utf8"))
    : { passed: 0, failed: 0, skipped: 0, failures: [] };
  rmSync(folder, { recursive: true });
  // Bun also ends with an error for what fails outside a test, such as a module that cannot be loaded.
  if (outcome.failed === 0 && (code !== 0 || outcome.passed + outcome.skipped === 0)) {
    outcome.failed = 1;
    outcome.failures.push(
      `bun test ended with ${run.signalCode ?? code}, after ${outcome.passed} tests passed`,
    );
  }
  return outcome;
}

async function succeeds([name, ...command]: readonly string[]): Promise<boolean> {
  const started = performance.now();
  const code = await spawn([process.execPath, ...command], { stdout: "inherit", stderr: "inherit" }).exited;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${name}: ${code === 0 ? "ok" : `failed with ${code}`} (${seconds} s)`);
  return code === 0;
}

const CHECKS = [
  ["format", "fmt", "--check", "build.ts", "src", "db", "packaging", "test"],
  ["lint", "x", "--bun", "oxlint", "--deny-warnings"],
  ["types", "check", "--no-script"],
];
const BUILD = ["build", "run", "build.ts"];

async function main(words: readonly string[]): Promise<Outcome> {
  const failedIn = (name: string): Outcome => ({ passed: 0, failed: 1, skipped: 0, failures: [name] });
  const checked = await Promise.all(CHECKS.map(succeeds));
  if (checked.includes(false)) return failedIn(CHECKS[checked.indexOf(false)]![0]!);
  const all = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((path) => `test/${path.replaceAll("\\", "/")}`)
    .filter((path) => /\.test\.tsx?$/.test(path))
    .toSorted();
  const named = words.filter((word) => word !== "--all");
  const chosen =
    named.length > 0
      ? all.filter((path) => named.some((word) => path.includes(word.replace(/^\.\//, ""))))
      : all;
  const wanted = (path: string): boolean => named.length > 0 || words.includes("--all") || SAMPLE.has(path);
  const run = (files: readonly string[], parallel: number): Promise<Outcome> | Outcome =>
    files.length === 0 ? { passed: 0, failed: 0, skipped: 0, failures: [] } : runTests(files, parallel);
  const inMemory = chosen.filter((path) => !SLOW.test(path));
  const slow = chosen.filter((path) => SLOW.test(path) && wanted(path));
  const runSlow = async (): Promise<Outcome> => ((await succeeds(BUILD)) ? run(slow, 1) : failedIn("build"));
  // One more than there are processors, because some of them wait.
  const runInMemory = () => run(inMemory, navigator.hardwareConcurrency + 1);
  // Tests of the executable mostly wait. With --all they measure memory and times, so they run alone.
  const outcomes = words.includes("--all")
    ? [await runInMemory(), await runSlow()]
    : await Promise.all([runInMemory(), runSlow()]);
  const sum: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const outcome of outcomes) {
    sum.passed += outcome.passed;
    sum.failed += outcome.failed;
    sum.skipped += outcome.skipped;
    sum.failures.push(...outcome.failures);
  }
  if (sum.passed + sum.failed === 0) return { ...sum, failed: 1, failures: ["No test file matches."] };
  return sum;
}

if (import.meta.main) {
  const { passed, failed, skipped, failures } = await main(process.argv.slice(2));
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map((line) => `  ${line}`).join("\n")}\n`);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exit(failed === 0 ? 0 : 1);
}
