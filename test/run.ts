/**
 * The one command of CONTRIBUTING.md: format, lint, types, build (which runs the executable), tests. Stops at
 * the first step that fails and closes with the count of tests alone on a line. Words name test files.
 */
import { spawn } from "bun";
import { finish, runTests } from "./test-files.ts";

const bun = process.execPath;
const steps: [string, string[]][] = [
  ["format", [bun, "fmt", "--check", "build.ts", "src", "db", "packaging", "test"]],
  ["lint", [bun, "x", "--bun", "oxlint", "--deny-warnings"]],
  ["types", [bun, "check", "--no-script"]],
  ["build", [bun, "run", "build.ts"]],
];

let failed = 0;
for (const [name, command] of steps) {
  const started = performance.now();
  const code = await spawn(command, { stdout: "inherit", stderr: "inherit" }).exited;
  process.stdout.write(
    `${name}: ${code === 0 ? "ok" : `failed with ${code}`} (${Math.round(performance.now() - started)} ms)\n`,
  );
  if (code !== 0) {
    failed++;
    break;
  }
}

finish(
  failed === 0 ? await runTests(process.argv.slice(2)) : { pass: 0, fail: failed, skip: 0, failures: [] },
);
