#!/usr/bin/env bun
import { audit } from "./commands/audit.ts";
import { backup } from "./commands/backup.ts";
import { check } from "./commands/check.ts";
import { type Command, type Streams, unknownWord } from "./commands/command.ts";
import { compact } from "./commands/compact.ts";
import { corpus } from "./commands/corpus.ts";
import { demo } from "./commands/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { elm } from "./commands/elm.ts";
import { exportFile } from "./commands/export.ts";
import { farm } from "./commands/farm.ts";
import { features } from "./commands/features.ts";
import { helpOfAll } from "./commands/help.ts";
import { importFile } from "./commands/import.ts";
import { install, uninstall } from "./commands/install.ts";
import { merge } from "./commands/merge.ts";
import { systemProblem } from "./commands/named-file.ts";
import { openapi } from "./commands/openapi.ts";
import { proteome } from "./commands/proteome.ts";
import { restore } from "./commands/restore.ts";
import { runCommand } from "./commands/run-command.ts";
import { scan } from "./commands/scan.ts";
import { score } from "./commands/score.ts";
import { serve } from "./commands/serve.ts";
import { token } from "./commands/token.ts";
import { user } from "./commands/user.ts";
import { webhook } from "./commands/webhook.ts";
import { worker } from "./commands/worker.ts";
import { wsdl } from "./commands/wsdl.ts";
import { REQUEST_PROCESS } from "./inventory/index.ts";
import { causeOf, logLine } from "./platform/log.ts";
import { Problem } from "./problem.ts";
import { COMMIT, VERSION } from "./version.ts";

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
    // Started by the server only.
    if (name === REQUEST_PROCESS && process.send)
      return await import("./inventory/api/request-process.ts").then((m) => m.serveRequests(VERSION));
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
    const problem = systemProblem(error) ?? Problem.from(error);
    reportFailure(problem, name, streams);
    return problem.exitCode;
  }
}

function reportFailure(problem: Problem, name: string, streams: Streams): void {
  const cause = causeOf(problem);
  const { code, message } = problem;
  // Before the settings are read, the error is that of a command, not of a service.
  const isService =
    [serve.name, worker.name].includes(name) && code !== "usage" && code !== "invalid_setting";
  const text = `labd: ${message}\n${cause ? `${cause}\n` : ""}`;
  streams.stderr.write(
    isService && !streams.stderr.isTTY ? logLine("error", "not started", { code, message, cause }) : text,
  );
}

if (import.meta.main) {
  // They would end the process; some administrators send them to every service, as for rotating logs.
  if (process.platform !== "win32") for (const signal of ["SIGUSR1", "SIGUSR2"]) process.on(signal, () => {});
  const code = await main(process.argv.slice(2), process.env);
  // exit() would cut off output that a pipe has not taken yet.
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.end(resolve))),
  );
  process.exit(code);
}
