import { type Command, type Streams, unknownWord } from "./command.ts";
import { formatOverview } from "./help.ts";
import { systemProblem } from "./named-file.ts";
import { runCommand } from "./run-command.ts";
import { findCause, logLine } from "../platform/log.ts";
import { Problem } from "../problem.ts";
import { COMMIT, VERSION } from "../version.ts";

/** All commands by name, in the order in which a new user needs them. A server does not load those of others. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import("./demo.ts")).demo,
  serve: async () => (await import("./serve.ts")).serve,
  worker: async () => (await import("./worker.ts")).worker,
  mcp: async () => (await import("./mcp.ts")).mcp,
  farm: async () => (await import("./farm.ts")).farm,
  score: async () => (await import("./score.ts")).score,
  scan: async () => (await import("./scan.ts")).scan,
  proteome: async () => (await import("./proteome.ts")).proteome,
  merge: async () => (await import("./merge.ts")).merge,
  corpus: async () => (await import("./corpus.ts")).corpus,
  elm: async () => (await import("./elm.ts")).elm,
  features: async () => (await import("./features.ts")).features,
  import: async () => (await import("./import.ts")).importFile,
  export: async () => (await import("./export.ts")).exportFile,
  user: async () => (await import("./user.ts")).user,
  token: async () => (await import("./token.ts")).token,
  webhook: async () => (await import("./webhook.ts")).webhook,
  check: async () => (await import("./check.ts")).check,
  doctor: async () => (await import("./doctor.ts")).doctor,
  health: async () => (await import("./health.ts")).health,
  wsdl: async () => (await import("./wsdl.ts")).wsdl,
  clients: async () => (await import("./clients.ts")).clients,
  openapi: async () => (await import("./openapi.ts")).openapi,
  backup: async () => (await import("./backup.ts")).backup,
  restore: async () => (await import("./restore.ts")).restore,
  compact: async () => (await import("./compact.ts")).compact,
  audit: async () => (await import("./audit.ts")).audit,
  upgrade: async () => (await import("./upgrade.ts")).upgrade,
  install: async () => (await import("./install.ts")).install,
  uninstall: async () => (await import("./install.ts")).uninstall,
};

/** All commands, in that order. */
export const loadCommands = (): Promise<Command[]> =>
  Promise.all(Object.values(COMMANDS).map((load) => load()));

/** Runs one command line and returns the exit code. */
export async function main(
  [name = "--help", ...words]: string[],
  environment: Record<string, string | undefined>,
  streams: Streams = process,
): Promise<number> {
  try {
    if (["--help", "-h", "help"].includes(name)) {
      streams.stdout.write(formatOverview(await loadCommands(), VERSION));
      return 0;
    }
    if (["--version", "-V", "version"].includes(name)) {
      streams.stdout.write(`labd ${VERSION} (${COMMIT})\n`);
      return 0;
    }
    if (Object.hasOwn(COMMANDS, name))
      return await runCommand(await COMMANDS[name](), words, environment, streams);
    throw unknownWord(
      name.startsWith("-") ? "flag" : "command",
      name,
      [...Object.keys(COMMANDS), "--help", "--version"],
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
  const isService = ["serve", "worker"].includes(name) && code !== "usage" && code !== "invalid_setting";
  const text = `labd: ${message}\n${cause ? `${cause}\n` : ""}`;
  streams.stderr.write(
    isService && !streams.stderr.isTTY ? logLine("error", "not started", { code, message, cause }) : text,
  );
}
