import { findInvalidSettings } from "../app/setting-mistakes.ts";
import {
  changedSettings,
  readConfig,
  refuseMistakes,
  type Resolved,
  SECTIONS,
  SETTING_NAMES,
  type SettingName,
  shown,
  socketPath,
} from "../config.ts";
import { explain, RESOURCES } from "../inventory/index.ts";
import { hostMistake } from "../platform/socket.ts";
import { Problem } from "../problem.ts";
import { checkLdap } from "./check-ldap.ts";
import { ALL_SETTINGS, type Command, suggestion } from "./command.ts";
import { readPassword } from "./password-input.ts";

export const check: Command = {
  name: "check",
  summary: "Check all settings; print their values and the source of each.",
  flags: {
    "--changed": "Print only settings that differ from their defaults.",
    "--explain RESOURCE": "Print the fields, filters, columns and routes of a resource, such as locations.",
    "--ldap NAME": "Look up a person in the directory by sign-in name, and say whether they could sign in.",
    "--password-stdin": "With --ldap: read a password from standard input, and say whether it is correct.",
  },
  settings: ALL_SETTINGS,
  example:
    "LABD_PORT=9000 labd check --workers 4\nlabd check --changed --config /etc/labd/labd.toml\nlabd check --explain locations\nlabd check --ldap kim",
  async run(call) {
    const resource = call.value("--explain");
    if (resource !== undefined) return call.print(explained(resource));
    const { mistakes, ...resolved } = readConfig(call.sources());
    const { config } = resolved;
    // An unreadable setting has its default here, which other settings may contradict.
    const unread = new Set(mistakes.map((mistake) => /^\w+/.exec(mistake)?.[0]));
    const isRead = (mistake: string): boolean =>
      !mistake
        .split(":")[0]
        .split(" and ")
        .some((name) => unread.has(name));
    const host = socketPath(config) === "" ? hostMistake(config.host) : undefined;
    const allMistakes = [...(host === undefined ? [] : [host]), ...findInvalidSettings(config)].filter(
      isRead,
    );
    refuseMistakes([...mistakes, ...allMistakes]);
    const name = call.value("--ldap");
    if (name !== undefined) {
      const password = call.has("--password-stdin") ? await readPassword() : undefined;
      const { text, canSignIn } = await checkLdap(config, name, password);
      await call.print(text);
      return canSignIn ? 0 : 1;
    }
    const names = call.has("--changed") ? changedSettings(config) : SETTING_NAMES;
    await call.print(listing(resolved, new Set(names)));
  },
};

/** Lines of TOML by section, each with the source of its value. */
function listing({ config, origin }: Resolved, names: ReadonlySet<SettingName>): string {
  if (names.size === 0) return "All settings have their defaults.\n";
  const lines = new Map([...names].map((name) => [name, `${name} = ${shown(name, config)}`]));
  const width = Math.max(...[...lines.values()].map(({ length }) => length));
  return Object.entries(SECTIONS)
    .flatMap(([section, settings]) => {
      const own = (Object.keys(settings) as SettingName[]).filter((name) => names.has(name));
      const rows = own.map((name) => `${lines.get(name)!.padEnd(width)}  # ${origin[name]}\n`);
      return rows.length === 0 ? [] : [`[${section}]\n${rows.join("")}`];
    })
    .join("");
}

function explained(resource: string): string {
  const declared = RESOURCES.find(({ segment }) => segment === resource);
  if (declared) return explain(declared);
  const segments = RESOURCES.map(({ segment }) => segment);
  throw new Problem("usage", `There is no resource ${resource}. ${suggestion(resource, segments)}`);
}
