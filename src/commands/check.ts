import { SECTIONS, SETTING_NAMES, type SettingName, shown } from "../config.ts";
import { explain, RESOURCES } from "../inventory/index.ts";
import { Problem } from "../problem.ts";
import { checkLdap } from "./check-ldap.ts";
import { ALL_SETTINGS, type Command, suggestion } from "./command.ts";
import { readPassword } from "./password-input.ts";

export const check: Command = {
  name: "check",
  summary: "Print the resolved settings and the source of each value.",
  flags: {
    "--explain RESOURCE": "Print the fields, filters, columns and routes of a resource, such as locations.",
    "--ldap NAME": "Look up a person in the directory by sign-in name, and say whether they could sign in.",
    "--password-stdin": "With --ldap: read a password from standard input, and say whether it is correct.",
  },
  settings: ALL_SETTINGS,
  example: "LABD_PORT=9000 labd check --workers 4\nlabd check --explain locations\nlabd check --ldap kim",
  async run(call) {
    const resource = call.value("--explain");
    if (resource !== undefined) return call.print(explained(resource));
    const { config, origin } = call.configuration();
    const name = call.value("--ldap");
    if (name !== undefined) {
      const password = call.has("--password-stdin") ? await readPassword() : undefined;
      const { text, canSignIn } = await checkLdap(config, name, password);
      await call.print(text);
      return canSignIn ? 0 : 1;
    }
    const lines = SETTING_NAMES.map((name) => `${name} = ${shown(name, config)}`);
    const width = Math.max(...lines.map((line) => line.length));
    for (const [section, settings] of Object.entries(SECTIONS)) {
      await call.print(`[${section}]\n`);
      for (const name of Object.keys(settings) as SettingName[])
        await call.print(`${lines.shift()!.padEnd(width)}  # ${origin[name]}\n`);
    }
  },
};

function explained(resource: string): string {
  const declared = RESOURCES.find(({ segment }) => segment === resource);
  if (declared) return explain(declared);
  const segments = RESOURCES.map(({ segment }) => segment);
  throw new Problem("usage", `There is no resource ${resource}. ${suggestion(resource, segments)}`);
}
