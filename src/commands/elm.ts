import { basename } from "node:path";
import type { MotifTables } from "../scoring/index.ts";
import type { Command } from "./command.ts";
import { namedBytes } from "./named-file.ts";
import { withScoring } from "./with-data.ts";

export const elm: Command = {
  name: "elm",
  summary: "Import ELM's table of motif classes.",
  settings: ["data_dir"],
  example:
    "labd elm import elm_classes.tsv\n" +
    "FILE is the table that http://elm.eu.org offers for download; - reads standard input. Its classes replace the\n" +
    "built-in classes of the same motifs immediately, also in a running server.",
  actions: {
    import: {
      summary: "Replace the imported table.",
      operands: "FILE",
      async run(call) {
        const [file] = call.operands;
        const bytes = await namedBytes(file);
        await withScoring(call, ({ classes }) => {
          classes.import(file === "-" ? "stdin" : basename(file), bytes);
          return call.print(summary(classes));
        });
      },
    },
    list: {
      summary: "List the motif classes.",
      run: (call) =>
        withScoring(call, ({ classes }) => {
          const rows = classes.classes.map(
            ({ name, aliases, expression }) => `${[name, ...aliases].join(",")}\t${expression}\n`,
          );
          return call.print(summary(classes) + rows.join(""));
        }),
    },
    remove: {
      summary: "Remove the imported table; the built-in classes apply again.",
      run: (call) =>
        withScoring(call, ({ classes }) => {
          const removed = classes.remove();
          return call.print((removed ? "" : "No table was imported.\n") + summary(classes));
        }),
    },
  },
};

function summary(classes: MotifTables): string {
  const table = classes.imported();
  const all = classes.classes.length;
  if (!table) return `${all} motif classes, all built in.\n`;
  const version = table.version === null ? "" : `, version ${table.version}`;
  const published = table.published === null ? "" : ` of ${table.published.slice(0, 10)}`;
  return `${all} motif classes, ${table.size} of them from ${table.name}${version}${published}.\n`;
}
