/**
 * The one command of CONTRIBUTING.md: format, lint, types, build (which runs the executable), tests. Stops at
 * the first step that fails and closes with the count of tests alone on a line.
 */
import { spawn } from "bun";

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

const counts = { pass: 0, fail: failed, skip: 0 };
if (failed === 0) {
  const tests = spawn([bun, "test", "--timeout", "120000", ...process.argv.slice(2)], {
    stdout: "inherit",
    stderr: "pipe",
  });
  const decoder = new TextDecoder();
  let report = "";
  for await (const chunk of tests.stderr) {
    process.stderr.write(chunk);
    report += decoder.decode(chunk, { stream: true });
  }
  const code = await tests.exited;
  for (const word of ["pass", "fail", "skip"] as const) {
    counts[word] += Number(report.match(new RegExp(`^\\s*(\\d+) ${word}$`, "m"))?.[1] ?? 0);
  }
  // A crash of the runner, or a run in which nothing ran, is a failure whatever it counted.
  if (counts.fail === 0 && (code !== 0 || counts.pass === 0)) counts.fail = 1;
}
const skipped = counts.skip > 0 ? `, ${counts.skip} skipped` : "";
process.stdout.write(`${counts.pass} passed, ${counts.fail} failed${skipped}\n`);
process.exit(counts.fail === 0 ? 0 : 1);
