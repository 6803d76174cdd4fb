import { audit } from "./audit.ts";
import { backup } from "./backup.ts";
import { check } from "./check.ts";
import { type Command, type Streams, unknownWord } from "./command.ts";
import { compact } from "./compact.ts";
import { corpus } from "./corpus.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { elm } from "./elm.ts";
import { exportFile } from "./export.ts";
import { farm } from "./farm.ts";
import { features } from "./features.ts";
import { helpOfAll } from "./help.ts";
import { importFile } from "./import.ts";
import { install, uninstall } from "./install.ts";
import { merge } from "./merge.ts";
import { systemProblem } from "./named-file.ts";
import { openapi } from "./openapi.ts";
import { proteome } from "./proteome.ts";
import { restore } from "./restore.ts";
import { runCommand } from "./run-command.ts";
import { scan } from "./scan.ts";
import { score } from "./score.ts";
import { serve } from "./serve.ts";
import { token } from "./token.ts";
import { user } from "./user.ts";
import { webhook } from "./webhook.ts";
import { worker } from "./worker.ts";
import { wsdl } from "./wsdl.ts";
import { findCause, logLine } from "../platform/log.ts";
import { Problem } from "../problem.ts";
import { COMMIT, VERSION } from "../version.ts";

/** All commands, in the order in which a new user needs them. */
export const COMMANDS: readonly Command[] = [
  demo,
  serve,
  worker,
  farm,
  score,
  scan,
  proteome,
  merge,
  corpus,
  elm,
  features,
  importFile,
  exportFile,
  user,
  token,
  webhook,
  check,
  doctor,
  wsdl,
  openapi,
  backup,
  restore,
  compact,
  audit,
  install,
  uninstall,
];

/** Runs one command line and returns the exit code. */
export async function main(
  [name = "--help", ...words]: string[],
  environment: Record<string, string | undefined>,
  streams: Streams = process,
): Promise<number> {
  try {
    if (["--help", "-h", "help"].includes(name)) {
      streams.stdout.write(helpOfAll(COMMANDS, VERSION));
      return 0;
    }
    if (["--version", "-V", "version"].includes(name)) {
      streams.stdout.write(`labd ${VERSION} (${COMMIT})\n`);
      return 0;
    }
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (command) return await runCommand(command, words, environment, streams);
    const names = COMMANDS.map((candidate) => candidate.name);
    throw unknownWord(
      name.startsWith("-") ? "flag" : "command",
      name,
      [...names, "--help", "--version"],
      "labd --help",
    );
  } catch (error) {
    const problem = systemProblem(error) ?? toCommandProblem(error);
    reportFailure(problem, name, streams);
    return problem.exitCode;
  }
}

/** Commands have no request id, and print the cause. */
function toCommandProblem(error: unknown): Problem {
  const problem = Problem.from(error);
  if (problem.code !== "internal" || error instanceof Problem) return problem;
  const text = `Unexpected error: ${String((error as Error)?.message ?? error)}. This is a defect of labd; report it with what follows.`;
  return new Problem("internal", text, { cause: error });
}

function reportFailure(problem: Problem, name: string, streams: Streams): void {
  const cause = findCause(problem);
  const { code, message } = problem;
  // Before the settings are read, the error is that of a command, not of a service.
  const isService =
    [serve.name, worker.name].includes(name) && code !== "usage" && code !== "invalid_setting";
  const text = `labd: ${message}\n${cause ? `${cause}\n` : ""}`;
  streams.stderr.write(
    isService && !streams.stderr.isTTY ? logLine("error", "not started", { code, message, cause }) : text,
  );
}
