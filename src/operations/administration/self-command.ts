import { TASK_VARIABLE } from "../../accounts/audit-offline.ts";
import { spawnSelf } from "../../platform/self-command.ts";
import { Problem } from "../../problem.ts";
import type { Report } from "../../tasks/task.ts";

/**
 * Runs a command of this executable in another process, so that requests do not wait for it. Lines of standard error
 * become the task's message, `37 %, …` also its progress; cancelling the task kills the process.
 * @param success exit codes of a command that did its work
 * @throws Problem invalid_request with the last line of standard error
 */
export async function runCommand(
  words: readonly string[],
  report: Report,
  {
    environment = {},
    success = [0],
  }: { environment?: Record<string, string>; success?: readonly number[] } = {},
): Promise<{ stdout: string }> {
  report.signal.throwIfAborted();
  const child = spawnSelf(words, {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...environment, [TASK_VARIABLE]: report.task },
    signal: report.signal,
    killSignal: "SIGKILL",
  });
  let last = "";
  const relay = async (): Promise<void> => {
    let rest = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.trim() === "") continue;
        report.say((last = message(line)));
        const [, percent] = /^(\d+) %,/.exec(line) ?? [];
        if (percent !== undefined) report.at(Number(percent) / 100);
      }
    }
    if (rest.trim() !== "") last = message(rest);
  };
  const [stdout, , code] = await Promise.all([new Response(child.stdout).text(), relay(), child.exited]);
  report.signal.throwIfAborted();
  if (!success.includes(code))
    throw new Problem("invalid_request", last || `The command ended with ${code}.`);
  return { stdout };
}

const message = (line: string): string => line.trim().replace(/^labd: /, "");
