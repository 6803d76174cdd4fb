import { expect, setDefaultTimeout, test } from "bun:test";
import { tmpdir } from "node:os";
import { LABD } from "./labd.ts";

// strace stops the process at each call that it looks at.
setDefaultTimeout(180_000);

/** System calls that service managers and containers forbid (seccomp's EPERM), forbidden here by strace. */
const strace = (...words: string[]): string[] => ["strace", "-f", "-qq", "-e", "signal=none", ...words];
const mayTrace =
  Bun.which("strace") !== null && Bun.spawnSync(strace("-e", "trace=none", "true")).exitCode === 0;

test.skipIf(!mayTrace)(
  `scoring works where priorities may not be changed${mayTrace ? "" : " (SKIPPED: strace is missing or may not trace)"}`,
  async () => {
    const forbidden = ["-e", "trace=setpriority", "-e", "inject=setpriority:error=EPERM"];
    const run = Bun.spawn(strace(...forbidden, LABD, "demo", "--once"), {
      cwd: tmpdir(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, traced] = await Promise.all([
      Bun.readableStreamToText(run.stdout),
      Bun.readableStreamToText(run.stderr),
    ]);
    if (process.platform === "linux") expect(traced).toContain("EPERM (Operation not permitted) (INJECTED)");
    expect([await run.exited, printed]).toEqual([0, expect.stringContaining("FSDLWKLL")]);
  },
);
