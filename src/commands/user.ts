import type { UserRecord } from "../accounts/accounts.ts";
import { Problem } from "../problem.ts";
import type { Call, Command } from "./command.ts";
import { readPassword } from "./password-input.ts";
import { formatMinute, textTable, timestamp } from "./text-table.ts";
import { openIdentities, linkUser, recheckUsers, unlinkUser } from "./user-link.ts";
import { withData } from "./with-data.ts";
import type { Opened } from "../app/data-directory.ts";

const PASSWORD = "--password-stdin";

export const user: Command = {
  name: "user",
  summary: "Add, list, link, disable and enable user accounts, and set passwords.",
  settings: ["data_dir"],
  example:
    "printf '%s' 'a long password' | labd user add kim --password-stdin --group Freezers\nlabd user list\nlabd user totp kim --reset\nlabd user link kim --ldap kim.kuhn\nlabd user recheck\nlabd user disable kim",
  actions: {
    add: {
      summary: "Add an account; without a password it can only use tokens.",
      operands: "NAME",
      flags: {
        [`${PASSWORD}`]: "Read the password from standard input, or prompt for it on a terminal.",
        "--admin": "Make the account an administrator.",
        "--full-name NAME": "The person's name.",
        "--email ADDRESS": "The person's e-mail address.",
        "--group NAME": "Primary group, which owns the records that the user adds; added if missing.",
      },
      run: addUser,
    },
    list: {
      summary: "List the accounts.",
      flags: {
        "--administrators": "List active administrators only.",
        "--json": "Print the list as JSON.",
      },
      run: (call) =>
        withData(call, (opened) => {
          const isListed = ({ is_active, is_superuser }: UserRecord): boolean =>
            !call.has("--administrators") || (is_active === 1 && is_superuser === 1);
          const users = opened.accounts.list().filter(isListed);
          return call.has("--json")
            ? call.printJson(usersAsJson(opened, users))
            : call.print(userTable(opened, users));
        }),
    },
    password: {
      summary: "Set a password.",
      operands: "NAME",
      flags: { [`${PASSWORD}`]: "Read the password from standard input, or prompt for it on a terminal." },
      run: setPassword,
    },
    totp: {
      summary: "Show whether the account has a second factor.",
      operands: "NAME",
      flags: {
        "--reset": "Remove the second factor and end the sessions, if phone and recovery codes are lost.",
      },
      run: secondFactor,
    },
    link: {
      summary: "Let a person of the directory or the identity provider sign in as this account.",
      operands: "NAME",
      flags: {
        "--ldap NAME": "The person's sign-in name in the directory, or the DN.",
        "--oidc SUBJECT":
          "The person's subject (sub) at the provider; the audit log contains subjects of rejected sign-ins.",
      },
      run: linkUser,
    },
    unlink: {
      summary: "Remove a link to the directory or the identity provider.",
      operands: "NAME",
      flags: { "--from ldap|oidc": "The link to remove." },
      run: unlinkUser,
    },
    recheck: { summary: "Check all linked accounts with the directory.", run: recheckUsers },
    disable: { summary: "Disable an account.", operands: "NAME", run: (call) => setActive(call, false) },
    enable: { summary: "Enable an account.", operands: "NAME", run: (call) => setActive(call, true) },
  },
};

async function addUser(call: Call): Promise<void> {
  const [username] = call.operands;
  const password = call.has(PASSWORD) ? await readPassword() : undefined;
  await withData(call, ({ accounts }) =>
    accounts.addUser({
      username,
      superuser: call.has("--admin"),
      ...(password === undefined ? {} : { password }),
      fullName: call.value("--full-name") ?? "",
      email: call.value("--email") ?? "",
      group: call.value("--group") ?? "SYSTEM_GROUP",
    }),
  );
  await call.print(`Added ${username}. To add a token for clients: labd token add ${username}\n`);
}

function usersAsJson(opened: Opened, users: readonly UserRecord[]): object[] {
  const identities = openIdentities(opened);
  return users.map((user) => ({
    id: user.id,
    username: user.username,
    full_name: user.full_name,
    email: user.email,
    primary_group: user.group_name,
    is_active: user.is_active === 1,
    is_superuser: user.is_superuser === 1,
    second_factor: opened.accounts.secondFactors.isOn(user.rid),
    linked: identities.listByUser(user.rid).map(({ provider, label }) => ({ provider, label })),
    last_login: timestamp(user.last_login),
  }));
}

function userTable(opened: Opened, users: readonly UserRecord[]): string {
  const identities = openIdentities(opened);
  const rows = users.map((user) => {
    const states = [
      user.is_active === 1 ? "active" : "disabled",
      ...(user.is_superuser === 1 ? ["admin"] : []),
      ...(opened.accounts.secondFactors.isOn(user.rid) ? ["second factor"] : []),
      ...identities.listByUser(user.rid).map(({ provider }) => provider),
    ];
    return [user.username, user.full_name, user.group_name, states.join(", "), formatMinute(user.last_login)];
  });
  return textTable(["username", "full name", "group", "state", "last sign-in"], rows);
}

function setPassword(call: Call): Promise<void> {
  return withData(call, async ({ accounts }) => {
    const [username] = call.operands;
    const user = accounts.userId(username);
    if (!call.has(PASSWORD)) throw new Problem("usage", `labd user password needs ${PASSWORD}.`);
    await accounts.setPassword(user, await readPassword());
    await call.print(
      `Set the password of ${username} and ended its sessions. Tokens remain: labd token revoke --user ${username}\n`,
    );
  });
}

function secondFactor(call: Call): Promise<void> {
  return withData(call, ({ accounts }) => {
    const [username] = call.operands;
    const user = accounts.userId(username);
    if (call.has("--reset") && accounts.resetSecondFactor(user))
      return call.print(
        `Removed the second factor of ${username} and ended its sessions; the password alone is sufficient to sign in.\n`,
      );
    const found = accounts.secondFactors.of(user);
    return call.print(
      found
        ? `${username} has had a second factor since ${formatMinute(found.since)}; ${found.recovery_codes} recovery codes remain.\n`
        : `${username} has no second factor. It is set up in the browser, at /profile.\n`,
    );
  });
}

const setActive = (call: Call, active: boolean): Promise<void> =>
  withData(call, ({ accounts }) => {
    const [username] = call.operands;
    accounts.setActive(accounts.userId(username), active);
    return call.print(
      active
        ? `Enabled ${username}.\n`
        : `Disabled ${username}: passwords, sessions and tokens of the account no longer work. To undo this: labd user enable ${username}\n`,
    );
  });
