import { ALL_SETTINGS, type Command } from "./command-line.ts";
import { SETTING_NAMES, shown } from "../config.ts";
import { explain, RESOURCES } from "../inventory/index.ts";
import { nearest, Problem } from "../problem.ts";
import { checkLdap } from "./check-ldap.ts";
import { readPassword } from "./password-input.ts";

export const check: Command = {
  name: "check",
  summary:
    "Print the resolved settings and where each value came from; with --explain, what a resource's declaration became; with --ldap, what the directory says of somebody.",
  flags: [
    {
      name: "--explain",
      value: "RESOURCE",
      sentence: "Print the fields, filters, columns and routes of a resource, such as locations.",
    },
    {
      name: "--ldap",
      value: "NAME",
      sentence:
        "Ask the directory about somebody by the name that is typed at sign-in, and say whether they would come in.",
    },
    {
      name: "--password-stdin",
      sentence: "With --ldap: read a password from standard input, and say whether it fits.",
    },
  ],
  settings: ALL_SETTINGS,
  example: "LABD_PORT=9000 labd check --workers 4\nlabd check --explain locations\nlabd check --ldap kim",
  async run(call) {
    const resource = call.value("--explain");
    if (resource !== undefined) {
      const declared = RESOURCES.find(({ segment }) => segment === resource);
      if (!declared) {
        const segments = RESOURCES.map(({ segment }) => segment);
        const near = nearest(resource, segments);
        throw new Problem(
          "usage",
          `There is no resource ${resource}. ${near.length ? `Did you mean ${near.join(" or ")}?` : `There are ${segments.join(", ")}.`}`,
        );
      }
      process.stdout.write(explain(declared));
      return 0;
    }
    const { config, origin } = call.configuration();
    const who = call.value("--ldap");
    if (who !== undefined) {
      const password = call.has("--password-stdin") ? await readPassword() : undefined;
      const { text, good } = await checkLdap(config, who, password);
      process.stdout.write(text);
      return good ? 0 : 1;
    }
    const rows = SETTING_NAMES.map((name) => [name, shown(name, config), origin[name]]);
    const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column].length)));
    for (const [name, value, from] of rows) {
      process.stdout.write(`${name.padEnd(widths[0])}  ${value.padEnd(widths[1])}  ${from}\n`);
    }
    return 0;
  },
};
