import {
  flagName,
  type Resolved,
  resolveConfig,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type Sources,
} from "../config.ts";
import { nearest, Problem } from "../problem.ts";

/**
 * Flags of a command with their descriptions. The name stands with a placeholder for its value (`--output FILE`), the
 * allowed values, the default first (`--format tsv|json`), or the allowed whole numbers (`--days 1-99999`); a name alone
 * is a switch.
 */
export type Flags = Readonly<Record<string, string>>;

/** Declaration of a command, or of one of its actions. */
export interface Action {
  /** One line for the help. */
  summary: string;
  /** Operands after the name: `FILE`, `[USER]` (optional), `FILE…` (one or more). */
  operands?: string;
  flags?: Flags;
  /** @returns the exit code where it is not 0 */
  run(call: Call): number | void | Promise<number | void>;
}

interface Named {
  name: string;
  summary: string;
  flags?: Flags;
  /** Flags that no longer exist, with a sentence on what to do instead. */
  removedFlags?: Flags;
  /** The settings that the command reads; each is also one of its flags. */
  settings: readonly SettingName[];
  /** The flag that gives a member of a request, for errors with a path. */
  flagNames?: Readonly<Record<string, string>>;
  /** A complete command line that does something useful, and notes on it. */
  example: string;
}

/** A command of the executable. Its help, its parsing and its errors come from this declaration. */
export type Command = Named &
  ((Action & { actions?: undefined }) | { actions: Readonly<Record<string, Action>> });

/** The output streams of a command, and its standard input. */
export interface Streams {
  stdout: {
    write(chunk: string | Uint8Array, done?: () => void): unknown;
    isTTY?: boolean;
    /** Width of the terminal in characters. */
    columns?: number;
  };
  stderr: { write(chunk: string): unknown; isTTY?: boolean };
}

export const ALL_SETTINGS: readonly SettingName[] = SETTING_NAMES;
const CONFIG_FLAG = "--config";

/** The settings of a command as flags. */
export const settingFlags = ({ settings }: Command): Flags => ({
  ...Object.fromEntries(
    settings.map((name) => [
      `${flagName(name)} ${typeof SETTINGS[name].fallback === "number" ? "N" : "VALUE"}`,
      SETTINGS[name].sentence,
    ]),
  ),
  ...(settings.length > 0
    ? { [`${CONFIG_FLAG} FILE`]: "Settings file; labd.toml in the working directory by default." }
    : {}),
  "--help": "Print this text.",
});

/** A parsed command line. */
export class Call {
  constructor(
    readonly operands: readonly string[],
    private readonly given: ReadonlyMap<string, readonly string[]>,
    private readonly command: Command,
    readonly environment: Readonly<Record<string, string | undefined>>,
    readonly streams: Streams,
  ) {}

  has(flag: string): boolean {
    return this.given.has(flag);
  }

  /** All values of a flag, in order. */
  values(flag: string): readonly string[] {
    return this.given.get(flag) ?? [];
  }

  /** The last value of a flag. */
  value(flag: string): string | undefined {
    return this.values(flag).at(-1);
  }

  /** The value of a flag for whole numbers. */
  number(flag: string): number | undefined {
    const value = this.value(flag);
    return value === undefined ? undefined : Number(value);
  }

  /** The settings from flags, variables and file. @throws Problem invalid_setting */
  configuration(): Resolved {
    return resolveConfig(this.sources());
  }

  /** The sources of the settings. */
  sources(): Sources {
    const flags: Partial<Record<SettingName, string>> = {};
    for (const name of this.command.settings) {
      const value = this.value(flagName(name));
      if (value !== undefined) flags[name] = value;
    }
    return { flags, environment: this.environment, file: this.value(CONFIG_FLAG) };
  }

  /** Writes to standard output and waits until a slow reader has taken it. */
  print(text: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.streams.stdout.write(text, () => resolve()));
  }

  /** Prints a value as indented JSON. */
  printJson(value: unknown): Promise<void> {
    return this.print(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** Writes a line to standard error. */
  warn(sentence: string): void {
    this.streams.stderr.write(`labd: ${sentence}\n`);
  }
}

/** A usage problem that suggests the nearest choices, or lists them all. */
export function unknownWord(kind: string, typed: string, choices: string[], help: string): Problem {
  return new Problem("usage", `There is no ${kind} ${typed}. ${suggestion(typed, choices)} See ${help}.`);
}

/** "Did you mean a or b?", or the list of all choices where none is near. */
export function suggestion(typed: string, choices: string[]): string {
  const near = nearest(typed, choices);
  return near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Choose from ${choices.join(", ")}.`;
}
