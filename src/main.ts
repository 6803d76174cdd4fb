#!/usr/bin/env bun
import { causeOf } from "./shell/log.ts";
import { helpOf, helpOfAll, parseCall, unknown, type Verb } from "./command-line.ts";
import { Problem } from "./problem.ts";
import { audit } from "./verb/audit.ts";
import { backup } from "./verb/backup.ts";
import { check } from "./verb/check.ts";
import { corpus } from "./verb/corpus.ts";
import { demo } from "./verb/demo.ts";
import { doctor } from "./verb/doctor.ts";
import { elm } from "./verb/elm.ts";
import { exportFile } from "./verb/export.ts";
import { farm } from "./verb/farm.ts";
import { importFile } from "./verb/import.ts";
import { install, uninstall } from "./verb/install.ts";
import { merge } from "./verb/merge.ts";
import { problemOfSystem } from "./verb/named-file.ts";
import { openapi } from "./verb/openapi.ts";
import { restore } from "./verb/restore.ts";
import { score } from "./verb/score.ts";
import { serve } from "./verb/serve.ts";
import { token } from "./verb/token.ts";
import { user } from "./verb/user.ts";
import { webhook } from "./verb/webhook.ts";
import { worker } from "./verb/worker.ts";
import { wsdl } from "./verb/wsdl.ts";
import { COMMIT, VERSION } from "./version.ts";

/** In the order in which a newcomer needs them; `labd --help` prints them so. */
export const VERBS: readonly Verb[] = [
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
      process.stdout.write(helpOfAll(VERBS, VERSION));
      return 0;
    }
    if (name === "--version" || name === "-V" || name === "version") {
      process.stdout.write(`labd ${VERSION} (${COMMIT})\n`);
      return 0;
    }
    const verb = VERBS.find((candidate) => candidate.name === name);
    if (!verb) {
      const choices = VERBS.map((candidate) => candidate.name);
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
