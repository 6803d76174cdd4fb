import { parseArgs } from "node:util";
import { explainFailure } from "../app/data-directory.ts";
import { readConfig } from "../config.ts";
import { type Path, Problem } from "../problem.ts";
import { REMOVED_SETTINGS } from "../removed-settings.ts";
import {
  type Action,
  Call,
  type Command,
  type Flags,
  settingFlags,
  type Streams,
  unknownWord,
} from "./command.ts";
import { formatHelp } from "./help.ts";

/**
 * Parses the words after a command's name and runs it. `--flag value` and `--flag=value` are the same; `--` ends the flags.
 * @returns the exit code
 * @throws Problem usage, which names the word and the nearest flag or action
 */
export async function runCommand(
  command: Command,
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  streams: Streams = process,
): Promise<number> {
  const { operands, given } = parse(command, words);
  if (given.has("--help")) {
    streams.stdout.write(formatHelp(command));
    return 0;
  }
  const [name, action] = command.actions ? chooseAction(command, operands.shift()) : ["", command];
  const title = `labd ${command.name}${name && ` ${name}`}`;
  checkFlags(command, title, action, given);
  checkOperands(title, command, action, operands);
  const call = new Call(operands, given, command, environment, streams);
  try {
    return (await action.run(call)) ?? 0;
  } catch (thrown) {
    const error =
      thrown instanceof Problem ? thrown.translatePaths((path) => printFlag(path, command)) : thrown;
    if (!command.settings.includes("data_dir")) throw error;
    // The configuration itself may be the failure.
    throw explainFailure(readConfig(call.sources()).config.data_dir, error);
  }
}

/** The place of an error, such as `--pattern 2` for `["patterns", 1]`. */
function printFlag(path: Path, { flagNames = {} }: Command): string {
  const name = String(path.findLast((part) => typeof part === "string"));
  const index = path.at(-1);
  const flag = flagNames[name] ?? name;
  return typeof index === "number" ? `${flag} ${index + 1}` : flag;
}

function parse(command: Command, words: readonly string[]) {
  const flags = Object.assign({}, ...listActions(command).map((action) => action.flags)) as Flags;
  const known = placeholders({ ...command.flags, ...flags, ...settingFlags(command) });
  const option = (name: string) => ({
    type: known.get(name) === undefined ? ("boolean" as const) : ("string" as const),
    ...(name === "--help" ? { short: "h" } : {}),
  });
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries([...known.keys()].map((name) => [name.slice(2), option(name)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const name = token.rawName === "-h" ? "--help" : token.rawName;
    if (!known.has(name)) throw unknownFlag(command, name, [...known.keys()]);
    checkValue(name, known.get(name), token.value);
    given.set(name, [...(given.get(name) ?? []), token.value ?? ""]);
  }
  return { operands, given };
}

const listActions = (command: Command): Action[] => Object.values(command.actions ?? {});

/** Names of flags with their placeholders; undefined for a switch. */
const placeholders = (flags: Flags): Map<string, string | undefined> =>
  new Map(Object.keys(flags).map((flag) => flag.split(" ") as [string, string | undefined]));

function unknownFlag(command: Command, name: string, known: string[]): Problem {
  const removed = command.removedFlags?.[name] ?? REMOVED_SETTINGS[name.slice(2).replaceAll("-", "_")];
  if (removed !== undefined) return new Problem("usage", `${name} was removed. ${removed}`);
  return unknownWord("flag", name, known, `labd ${command.name} --help`);
}

function checkValue(name: string, placeholder: string | undefined, value: string | undefined): void {
  if (placeholder === undefined) {
    if (value !== undefined) throw new Problem("usage", `${name} takes no value.`);
    return;
  }
  if (value === undefined) throw new Problem("usage", `${name} needs a value: ${name} ${placeholder}.`);
  const choices = placeholder.split("|");
  if (choices.length > 1 && !choices.includes(value))
    throw new Problem("usage", `${name}: "${value}" is not one of ${choices.join(", ")}.`);
  const [, minimum, maximum] = /^(\d+)-(\d+)$/.exec(placeholder) ?? [];
  if (minimum === undefined) return;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= Number(minimum) && number <= Number(maximum)))
    throw new Problem("usage", `${name}: expected a whole number from ${minimum} to ${maximum}.`);
}

function chooseAction(command: Command, name: string | undefined): [string, Action] {
  const actions = command.actions!;
  if (name !== undefined && Object.hasOwn(actions, name)) return [name, actions[name]];
  const [names, help] = [Object.keys(actions), `labd ${command.name} --help`];
  if (name !== undefined) throw unknownWord(`action of labd ${command.name}`, name, names, help);
  throw new Problem("usage", `labd ${command.name} needs an action: ${names.join(", ")}. See ${help}.`);
}

/** A flag that belongs to other actions only would have no effect. */
function checkFlags(command: Command, title: string, action: Action, given: Map<string, string[]>): void {
  const own = placeholders({ ...command.flags, ...action.flags, ...settingFlags(command) });
  const stray = [...given.keys()].find((name) => !own.has(name));
  if (stray !== undefined)
    throw new Problem("usage", `${title} has no flag ${stray}. See labd ${command.name} --help.`);
}

function checkOperands(title: string, command: Command, action: Action, operands: string[]): void {
  const declared = action.operands?.split(" ") ?? [];
  const minimum = declared.filter((word) => !word.startsWith("[")).length;
  const maximum = declared.at(-1)?.endsWith("…") ? Infinity : declared.length;
  const see = `See labd ${command.name} --help.`;
  if (operands.length < minimum) throw new Problem("usage", `${title} needs ${action.operands}. ${see}`);
  if (operands.length <= maximum) return;
  const expectedOperands = maximum === 0 ? "no operand" : `only ${action.operands}`;
  throw new Problem(
    "usage",
    `${title} takes ${expectedOperands}, but ${operands[maximum]} was given. ${see}`,
  );
}
