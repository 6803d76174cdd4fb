import {
  flagOf,
  type Resolved,
  resolveConfig,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  variableOf,
} from "../config.ts";
import { nearest, Problem } from "../problem.ts";

/** What the shell understands: verbs, their flags and their help, all from the same rows. */

export interface Flag {
  /** With its dashes: `--once`. */
  name: string;
  /** What stands for the value in the help (`FILE`); without it the flag is a switch. */
  value?: string;
  sentence: string;
}

export interface Command {
  name: string;
  /** One line for the list of verbs. */
  summary: string;
  /** What follows the verb, as the help shows it: `add FILE | list`. */
  operands?: string;
  flags: Flag[];
  /** The settings that the verb reads; each is a flag of it too. */
  settings: readonly SettingName[];
  /** A whole command line that does something useful, and what it does. */
  example: string;
  /** Exit code, as a number. */
  run(call: Call): Promise<number>;
}

/** One command line, understood. */
export interface Call {
  operands: string[];
  /** Whether a switch was given. */
  has(flag: string): boolean;
  /** The values of a flag, in order. */
  values(flag: string): string[];
  /** The last value of a flag. */
  value(flag: string): string | undefined;
  /** The settings from flags, variables and file. @throws Problem invalid_setting */
  configuration(): Resolved;
}

export const ALL_SETTINGS: readonly SettingName[] = SETTING_NAMES;
const CONFIG_FLAG: Flag = {
  name: "--config",
  value: "FILE",
  sentence: "Settings file; by default labd.toml here, where there is one.",
};
const HELP_FLAG: Flag = { name: "--help", sentence: "This text." };

function flagsOf(verb: Command): Flag[] {
  const settings = verb.settings.map((name) => ({
    name: flagOf(name),
    value: typeof SETTINGS[name].fallback === "number" ? "N" : "VALUE",
    sentence: SETTINGS[name].sentence,
  }));
  return [...verb.flags, ...settings, ...(settings.length > 0 ? [CONFIG_FLAG] : []), HELP_FLAG];
}

/**
 * The words behind a verb. `--flag value` and `--flag=value` are the same; `--` ends the flags.
 * @throws Problem usage that names the word and the nearest flag
 */
export function parseCall(
  verb: Command,
  words: string[],
  environment: Record<string, string | undefined>,
): Call {
  const known = new Map(flagsOf(verb).map((flag) => [flag.name, flag]));
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
    const [name, attached] = splitOnce(word === "-h" ? "--help" : word, "=");
    const flag = known.get(name);
    if (!flag) throw unknown("flag", name, [...known.keys()], `labd ${verb.name} --help`);
    let value = attached;
    if (flag.value === undefined && attached !== undefined)
      throw new Problem("usage", `${name} takes no value.`);
    if (flag.value !== undefined) {
      value ??= words[++i];
      if (value === undefined) throw new Problem("usage", `${name} needs a value: ${name} ${flag.value}.`);
    }
    given.set(name, [...(given.get(name) ?? []), value ?? ""]);
  }
  if (operands.length > 0 && verb.operands === undefined && !given.has("--help")) {
    throw new Problem(
      "usage",
      `labd ${verb.name} takes no operand, but ${operands[0]} was given. See labd ${verb.name} --help.`,
    );
  }
  const values = (flag: string): string[] => given.get(flag) ?? [];
  return {
    operands,
    has: (flag) => given.has(flag),
    values,
    value: (flag) => values(flag).at(-1),
    configuration() {
      const flags: Partial<Record<SettingName, string>> = {};
      for (const name of verb.settings) {
        const value = values(flagOf(name)).at(-1);
        if (value !== undefined) flags[name] = value;
      }
      return resolveConfig({ flags, environment, file: values(CONFIG_FLAG.name).at(-1) });
    },
  };
}

/** A usage problem that suggests the nearest choices, or lists them where none is near, or nothing was typed. */
export function unknown(kind: string, typed: string, choices: string[], help: string): Problem {
  if (typed === "" && kind.startsWith("action of "))
    return new Problem(
      "usage",
      `${kind.replace(/^action of /, "")} needs an action: ${choices.join(", ")}. See ${help}.`,
    );
  const near = nearest(typed, choices);
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `There are ${choices.join(", ")}.`;
  return new Problem("usage", `There is no ${kind} ${typed}. ${hint} See ${help}.`);
}

/** The help of one verb. */
export function helpOf(verb: Command): string {
  const usage = `labd ${verb.name}${verb.operands ? ` ${verb.operands}` : ""} [flags]`;
  const flags = flagsOf(verb).map((flag) => ({
    left: `${flag.name}${flag.value ? ` ${flag.value}` : ""}`,
    right: flag.sentence,
  }));
  return `${verb.summary}\n\nUsage: ${usage}\n\n${columns(flags)}\n\nExample:\n  ${verb.example.replaceAll("\n", "\n  ")}\n`;
}

/** The help of the whole: what `labd --help` prints. */
export function helpOfAll(verbs: readonly Command[], version: string): string {
  const list = columns(verbs.map(({ name, summary }) => ({ left: name, right: summary })));
  return (
    `labd ${version}: conservation scoring (SOAP) and laboratory inventory (REST) in one executable.\n\n` +
    `Usage: labd VERB [flags]\n\n${list}\n\n` +
    "Every verb has --help with an example; labd --version prints the version.\n" +
    `Settings come from flags, ${variableOf("data_dir")} and its like, and labd.toml, in that order; labd check shows them.\n\n` +
    "Example:\n  labd demo            try everything on sample data\n  labd serve --data-dir /var/lib/labd --port 8480\n"
  );
}

const WIDTH = 100;

function columns(rows: { left: string; right: string }[]): string {
  const indent = Math.max(...rows.map(({ left }) => left.length)) + 4;
  return rows
    .map(
      ({ left, right }) =>
        `  ${left.padEnd(indent - 2)}${wrap(right, WIDTH - indent).join(`\n${" ".repeat(indent)}`)}`,
    )
    .join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] !== "" && lines[last].length + 1 + word.length > width) lines.push(word);
    else lines[last] += lines[last] === "" ? word : ` ${word}`;
  }
  return lines;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
