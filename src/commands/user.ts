import { openData, type Opened } from "../app/data-directory.ts";
import { type Call, unknown, type Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import { accountTable, minuteOf } from "./account-table.ts";
import { readPassword } from "./password-input.ts";
import { identitiesOf, link, recheck, unlink } from "./user-link.ts";

export const user: Command = {
  name: "user",
  summary:
    "Add, list, link, disable and enable the accounts that may write to the inventory; set passwords; recheck: ask the directory about all who sign in by it.",
  operands:
    "add NAME | list | password NAME | totp NAME | link NAME | unlink NAME | recheck | disable NAME | enable NAME",
  flags: [
    {
      name: "--password-stdin",
      sentence:
        "add, password: read the password from standard input; at a terminal it is asked for and not shown. An account without one signs in by tokens only.",
    },
    { name: "--admin", sentence: "add: may do everything." },
    { name: "--full-name", value: "NAME", sentence: "add: the person's name." },
    { name: "--email", value: "ADDRESS", sentence: "add: the person's e-mail address." },
    {
      name: "--group",
      value: "NAME",
      sentence: "add: primary group, which owns what the user makes; made where it is missing.",
    },
    {
      name: "--reset",
      sentence:
        "totp: take the second factor away, for who has lost the phone and the recovery codes; ends the sessions. Without it: tell whether there is one.",
    },
    {
      name: "--ldap",
      value: "WHO",
      sentence:
        "link: who of the directory signs in as this account from now on, by the name that is typed at sign-in, or the DN.",
    },
    {
      name: "--oidc",
      value: "SUBJECT",
      sentence:
        "link: the same for somebody of the provider, by the subject (sub) that it gives; the audit log has that of whoever was refused.",
    },
    { name: "--from", value: "ldap|oidc", sentence: "unlink: what no longer signs in as this account." },
    { name: "--json", sentence: "list: as JSON." },
  ],
  settings: ["data_dir"],
  example:
    "printf '%s' 'a long password' | labd user add kim --password-stdin --group Freezers\nlabd user list\nlabd user totp kim --reset\nlabd user link kim --ldap kim.kuhn\nlabd user recheck\nlabd user disable kim",
  async run(call) {
    const [action = "", username, ...rest] = call.operands;
    const work = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!work) throw unknown("action of labd user", action, Object.keys(ACTIONS), "labd user --help");
    const names = action === "list" || action === "recheck" ? 0 : 1;
    if (rest.length > 0 || (username === undefined ? 0 : 1) !== names)
      throw new Problem(
        "usage",
        `labd user ${action} takes ${names === 1 ? "one" : "no"} NAME. See labd user --help.`,
      );
    const opened = await openData(call.configuration().config);
    try {
      process.stdout.write(await work(opened, call, username));
    } finally {
      opened.close();
    }
    return 0;
  },
};

const ACTIONS: Record<string, (opened: Opened, call: Call, username: string) => string | Promise<string>> = {
  async add({ accounts }, call, username) {
    const password = call.has("--password-stdin") ? await readPassword() : undefined;
    await accounts.addUser({
      username,
      superuser: call.has("--admin"),
      ...(password === undefined ? {} : { password }),
      fullName: call.value("--full-name") ?? "",
      email: call.value("--email") ?? "",
      group: call.value("--group") ?? "SYSTEM_GROUP",
    });
    return `Added ${username}. A token for clients: labd token add ${username}\n`;
  },
  list(opened, call) {
    const { accounts } = opened;
    const users = accounts.list();
    const identities = identitiesOf(opened);
    if (call.has("--json")) {
      const shown = users.map((user) => ({
        id: user.id,
        username: user.username,
        full_name: user.full_name,
        email: user.email,
        primary_group: user.group_name,
        is_active: user.is_active === 1,
        is_superuser: user.is_superuser === 1,
        second_factor: accounts.secondFactors.isOn(user.rid),
        linked: identities.ofUser(user.rid).map(({ provider, label }) => ({ provider, label })),
        last_login: user.last_login === null ? null : new Date(user.last_login).toISOString(),
      }));
      return `${JSON.stringify(shown, null, 2)}\n`;
    }
    return accountTable(
      ["username", "full name", "group", "state", "last sign-in"],
      users.map((user) => [
        user.username,
        user.full_name,
        user.group_name,
        [
          user.is_active === 1 ? "active" : "disabled",
          ...(user.is_superuser === 1 ? ["admin"] : []),
          ...(accounts.secondFactors.isOn(user.rid) ? ["second factor"] : []),
          ...identities.ofUser(user.rid).map(({ provider }) => provider),
        ].join(", "),
        minuteOf(user.last_login),
      ]),
    );
  },
  async password({ accounts }, call, username) {
    const rid = accounts.userId(username);
    if (!call.has("--password-stdin"))
      throw new Problem("usage", "labd user password reads the password with --password-stdin.");
    await accounts.setPassword(rid, await readPassword());
    return `Set the password of ${username} and ended its sessions. Tokens stay: labd token revoke --user ${username}\n`;
  },
  totp({ accounts }, call, username) {
    const user = accounts.userId(username);
    if (call.has("--reset"))
      return accounts.resetSecondFactor(user)
        ? `Took the second factor of ${username} away and ended its sessions: the password alone signs in.\n`
        : `${username} has no second factor.\n`;
    const found = accounts.secondFactors.of(user);
    return found
      ? `${username} has a second factor since ${minuteOf(found.since)}, and ${found.recovery_codes} recovery codes are left.\n`
      : `${username} has no second factor. It is set up in the browser, at /profile.\n`;
  },
  link: (opened, call, username) =>
    link(opened, call.configuration().config, username, {
      ldap: call.value("--ldap"),
      oidc: call.value("--oidc"),
    }),
  recheck: (opened, call) => recheck(opened, call.configuration().config),
  unlink: (opened, call, username) => unlink(opened, username, call.value("--from")),
  disable({ accounts }, _, username) {
    accounts.setActive(accounts.userId(username), false);
    return `Disabled ${username}: no password, session or token signs in. labd user enable ${username} undoes it.\n`;
  },
  enable({ accounts }, _, username) {
    accounts.setActive(accounts.userId(username), true);
    return `Enabled ${username}.\n`;
  },
};
