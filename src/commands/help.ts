import { variableName } from "../config.ts";
import { type Command, settingFlags } from "./command.ts";

const WIDTH = 100;
/** Longer flags have their description on the next lines. */
const MAX_INDENT = 36;

/** The help of one command. */
export function formatHelp(command: Command): string {
  const { name, summary, example, flags } = command;
  const groups: [string, Row[]][] = [];
  if (command.actions) {
    const actions = Object.entries(command.actions);
    groups.push([
      "Actions",
      actions.map(([action, { operands = "", summary }]) => [`${action} ${operands}`.trim(), summary]),
    ]);
    for (const [action, { flags: own }] of actions)
      if (own) groups.push([`Flags of ${action}`, Object.entries(own)]);
  }
  groups.push(["Flags", Object.entries({ ...flags, ...settingFlags(command) })]);
  const operands = command.actions ? "ACTION" : (command.operands ?? "");
  const lengths = groups.flatMap(([, rows]) => rows.map(([left]) => left.length + 4));
  const indent = Math.max(...lengths.filter((length) => length <= MAX_INDENT));
  const body = groups.map(([title, rows]) => `${title}:\n${columns(rows, indent)}`).join("\n\n");
  return (
    `${summary}\n\nUsage: labd ${name}${operands && ` ${operands}`} [flags]\n\n${body}\n\n` +
    `Example:\n  ${example.replaceAll("\n", "\n  ")}\n`
  );
}

/** The text of `labd --help`. */
export function formatOverview(commands: readonly Command[], version: string): string {
  const rows = commands.map(({ name, summary }): Row => [name, summary]);
  return (
    `labd ${version}: conservation scoring (SOAP) and laboratory inventory (REST) in one executable.\n\n` +
    `Usage: labd COMMAND [flags]\n\n${columns(rows, Math.max(...rows.map(([left]) => left.length)) + 4)}\n\n` +
    "Every command has --help with an example; labd --version prints the version.\n" +
    `Settings come from flags, variables such as ${variableName("data_dir")}, and labd.toml, in that order; labd check shows them.\n\n` +
    "Example:\n  labd demo            try everything on sample data\n  labd serve --data-dir /var/lib/labd --port 8480\n"
  );
}

type Row = [left: string, right: string];

const columns = (rows: Row[], indent: number): string =>
  rows
    .map(
      ([left, right]) =>
        `  ${left.length > indent - 4 ? `${left}\n${" ".repeat(indent)}` : left.padEnd(indent - 2)}${wrap(right, WIDTH - indent).join(`\n${" ".repeat(indent)}`)}`,
    )
    .join("\n");

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length > width && lines.at(-1) !== "") lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}
