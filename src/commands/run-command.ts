import { Problem } from "../problem.ts";
import { REMOVED_SETTINGS } from "../removed-settings.ts";
import {
  type Action,
  Call,
  type Command,
  type Flag,
  HELP_FLAG,
  placeholderOf,
  settingFlags,
  type Streams,
  unknownWord,
} from "./command.ts";
import { helpOf } from "./help.ts";

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
  if (given.has(HELP_FLAG.name)) {
    streams.stdout.write(helpOf(command));
    return 0;
  }
  const [name, action] = command.actions ? chooseAction(command, operands.shift()) : ["", command];
  const title = `labd ${command.name}${name && ` ${name}`}`;
  checkFlags(command, title, action, given);
  checkOperands(title, command, action, operands);
  return (await action.run(new Call(operands, given, command, environment, streams))) ?? 0;
}

function parse(command: Command, words: readonly string[]) {
  const known = new Map(allFlags(command).map((flag) => [flag.name, flag]));
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === "--") {
      operands.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    const [, name, attached] = /^([^=]*)(?:=([^]*))?$/.exec(word === "-h" ? "--help" : word)!;
    const flag = known.get(name);
    const removed = REMOVED_SETTINGS[name.slice(2).replaceAll("-", "_")];
    if (!flag && removed !== undefined) throw new Problem("usage", `${name} was removed. ${removed}`);
    if (!flag) throw unknownWord("flag", name, [...known.keys()], `labd ${command.name} --help`);
    if (flag.removed) throw new Problem("usage", `${name} was removed. ${flag.sentence}`);
    const placeholder = placeholderOf(flag);
    if (placeholder === undefined && attached !== undefined)
      throw new Problem("usage", `${name} takes no value.`);
    const value = placeholder === undefined ? "" : (attached ?? words[++i]);
    if (value === undefined) throw new Problem("usage", `${name} needs a value: ${name} ${placeholder}.`);
    checkValue(flag, value);
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  return { operands, given };
}

const actionsOf = (command: Command): Action[] => Object.values(command.actions ?? {});
const allFlags = (command: Command): Flag[] => [
  ...(command.flags ?? []),
  ...actionsOf(command).flatMap(({ flags = [] }) => flags),
  ...settingFlags(command),
];

function checkValue({ name, choices, range }: Flag, value: string): void {
  if (choices && !choices.includes(value))
    throw new Problem("usage", `${name}: "${value}" is not one of ${choices.join(", ")}.`);
  if (!range) return;
  const [least, most] = range;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= least && number <= most))
    throw new Problem("usage", `${name}: expected a whole number from ${least} to ${most}.`);
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
  const own = [...(command.flags ?? []), ...(action.flags ?? []), ...settingFlags(command)];
  const stray = [...given.keys()].find((name) => !own.some((flag) => flag.name === name));
  if (stray !== undefined)
    throw new Problem("usage", `${title} has no flag ${stray}. See labd ${command.name} --help.`);
}

function checkOperands(title: string, command: Command, action: Action, operands: string[]): void {
  const declared = action.operands?.split(" ") ?? [];
  const least = declared.filter((word) => !word.startsWith("[")).length;
  const most = declared.at(-1)?.endsWith("…") ? Infinity : declared.length;
  const see = `See labd ${command.name} --help.`;
  if (operands.length < least) throw new Problem("usage", `${title} needs ${action.operands}. ${see}`);
  if (operands.length <= most) return;
  const takes = most === 0 ? "no operand" : `only ${action.operands}`;
  throw new Problem("usage", `${title} takes ${takes}, but ${operands[most]} was given. ${see}`);
}
