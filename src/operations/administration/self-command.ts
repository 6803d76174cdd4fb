import { Problem } from "../../problem.ts";
import { TASK_VARIABLE } from "../../accounts/audit-offline.ts";
import { selfCommand } from "../../platform/self-command.ts";
import type { Report } from "./tasks.ts";

/** What a command of this program said. */
export interface Said {
  stdout: string;
  code: number;
}

/** Codes with which the command has done its work. */
const WELL: readonly number[] = [0];

/**
 * Runs a command of this program in a process of its own, so that who asks the server for something else does not wait
 * for it. What it writes to standard error is shown line by line. It ends when the task is called off.
 * @throws Problem bad_backup, bad_corpus or invalid_request with what the command said last, by its exit code
 */
export async function runCommand(
  words: readonly string[],
  report: Report,
  { environment = {}, well = WELL }: { environment?: Record<string, string>; well?: readonly number[] } = {},
): Promise<Said> {
  report.signal.throwIfAborted();
  const child = Bun.spawn([...selfCommand(), ...words], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...environment, [TASK_VARIABLE]: report.task },
  });
  const kill = (): void => child.kill("SIGKILL");
  report.signal.addEventListener("abort", kill);
  try {
    let last = "";
    const listen = async (): Promise<void> => {
      let rest = "";
      const decoder = new TextDecoder();
      for await (const chunk of child.stderr) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
        rest = lines.pop()!;
        for (const line of lines) if (line.trim() !== "") report.say((last = plain(line)));
      }
      if (rest.trim() !== "") last = plain(rest);
    };
    const [stdout, , code] = await Promise.all([new Response(child.stdout).text(), listen(), child.exited]);
    report.signal.throwIfAborted();
    if (!well.includes(code)) throw new Problem("invalid_request", last || `The command ended with ${code}.`);
    return { stdout, code };
  } finally {
    report.signal.removeEventListener("abort", kill);
  }
}

/** A line without what a shell wants of it. */
const plain = (line: string): string => line.trim().replace(/^labd: /, "");
