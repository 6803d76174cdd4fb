import { basename } from "node:path";
import { openData, openScoringOf } from "../app/data-directory.ts";
import { unknown, type Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import type { MotifTables } from "../scoring/index.ts";
import { namedBytes } from "./named-file.ts";

const ACTIONS = ["import", "list", "remove"];

export const elm: Command = {
  name: "elm",
  summary: "Take ELM's own table of motif classes into use.",
  operands: "import FILE | list | remove",
  flags: [],
  settings: ["data_dir"],
  example:
    "labd elm import elm_classes.tsv\n" +
    "The file as http://elm.eu.org offers it for download; - reads standard input. Its classes take the place of\n" +
    "those of the same name that come with the program, at once, in a server that runs too.",
  async run(call) {
    const [action, file, ...rest] = call.operands;
    if (!ACTIONS.includes(action))
      throw unknown("action of labd elm", action ?? "", ACTIONS, "labd elm --help");
    if (rest.length > 0 || (file !== undefined) !== (action === "import")) {
      throw new Problem("usage", `Usage: labd elm ${elm.operands}. See labd elm --help.`);
    }
    const { config } = call.configuration();
    const bytes = file === undefined ? null : await namedBytes(file);
    const opened = await openData(config);
    try {
      const { classes } = await openScoringOf(opened, config);
      if (bytes) classes.import(file === "-" ? "stdin" : basename(file), bytes);
      if (action === "remove" && !classes.remove()) process.stdout.write("No table was imported.\n");
      process.stdout.write(summary(classes));
      if (action === "list") process.stdout.write(rows(classes));
    } finally {
      opened.close();
    }
    return 0;
  },
};

function summary(classes: MotifTables): string {
  const table = classes.imported();
  const all = classes.classes.length;
  if (!table) return `${all} motif classes, all of them those that come with the program.\n`;
  const version = table.version === null ? "" : `, version ${table.version}`;
  const published = table.published === null ? "" : ` of ${table.published.slice(0, 10)}`;
  return `${all} motif classes, ${table.size} of them from ${table.name}${version}${published}.\n`;
}

function rows(classes: MotifTables): string {
  return classes.classes
    .map(({ name, aliases, expression }) => `${[name, ...aliases].join(",")}\t${expression}\n`)
    .join("");
}
