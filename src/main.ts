#!/usr/bin/env bun
import { causeOf } from "./platform/log.ts";
import { helpOf, helpOfAll, parseCall, unknown, type Command } from "./commands/command-line.ts";
import { Problem } from "./problem.ts";
import { audit } from "./commands/audit.ts";
import { backup } from "./commands/backup.ts";
import { check } from "./commands/check.ts";
import { corpus } from "./commands/corpus.ts";
import { demo } from "./commands/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { elm } from "./commands/elm.ts";
import { exportFile } from "./commands/export.ts";
import { farm } from "./commands/farm.ts";
import { importFile } from "./commands/import.ts";
import { install, uninstall } from "./commands/install.ts";
import { merge } from "./commands/merge.ts";
import { problemOfSystem } from "./commands/named-file.ts";
import { openapi } from "./commands/openapi.ts";
import { restore } from "./commands/restore.ts";
import { score } from "./commands/score.ts";
import { serve } from "./commands/serve.ts";
import { token } from "./commands/token.ts";
import { user } from "./commands/user.ts";
import { webhook } from "./commands/webhook.ts";
import { worker } from "./commands/worker.ts";
import { wsdl } from "./commands/wsdl.ts";
import { VERSION } from "./version.ts";

/** In the order in which a newcomer needs them; `labd --help` prints them so. */
export const COMMANDS: readonly Command[] = [
  demo,
  serve,
  worker,
  farm,
  score,
  merge,
  corpus,
  elm,
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
  audit,
  install,
  uninstall,
];

/** Runs one command line and returns the exit code. */
export async function main(
  words: string[],
  environment: Record<string, string | undefined>,
): Promise<number> {
  try {
    const [name, ...rest] = words;
    if (name === undefined || name === "--help" || name === "-h" || name === "help") {
      process.stdout.write(helpOfAll(COMMANDS, VERSION));
      return 0;
    }
    if (name === "--version" || name === "-V" || name === "version") {
      process.stdout.write(`labd ${VERSION}\n`);
      return 0;
    }
    const verb = COMMANDS.find((candidate) => candidate.name === name);
    if (!verb) {
      const choices = COMMANDS.map((candidate) => candidate.name);
      throw unknown(
        name.startsWith("-") ? "flag" : "verb",
        name,
        [...choices, "--help", "--version"],
        "labd --help",
      );
    }
    const call = parseCall(verb, rest, environment);
    if (call.has("--help")) {
      process.stdout.write(helpOf(verb));
      return 0;
    }
    return await verb.run(call);
  } catch (error) {
    const problem = problemOfSystem(error) ?? Problem.from(error);
    process.stderr.write(`labd: ${problem.message}\n`);
    const cause = causeOf(problem);
    if (cause) process.stderr.write(`${cause}\n`);
    return problem.exitCode;
  }
}

if (import.meta.main) {
  const code = await main(process.argv.slice(2), process.env);
  // exit() would cut off what a pipe has not taken yet.
  await Promise.all([process.stdout, process.stderr].map(written));
  process.exit(code);
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.end(() => resolve()));
}
