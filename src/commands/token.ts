import { openData, type Opened } from "../app/data-directory.ts";
import { type Call, unknown, type Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import { accountTable, minuteOf } from "./account-table.ts";

const DAY = 86_400_000;

export const token: Command = {
  name: "token",
  summary: "Make, list and revoke the tokens by which clients sign in: Authorization: Token ….",
  operands: "add USER | list [USER] | revoke ID | revoke --user USER",
  flags: [
    { name: "--name", value: "TEXT", sentence: "add: what the token is for." },
    { name: "--days", value: "N", sentence: "add: days after which it expires; without it, it does not." },
    { name: "--read-only", sentence: "add: the token may only read." },
    { name: "--all", sentence: "list: also those that have expired or were revoked." },
    { name: "--json", sentence: "list: as JSON." },
    { name: "--user", value: "USER", sentence: "revoke: all tokens of this user." },
  ],
  settings: ["data_dir"],
  example:
    "TOKEN=$(labd token add kim --name stocks-cli --days 90)\nlabd token list kim\nlabd token revoke labd_x3Ty9a",
  async run(call) {
    const [action = ""] = call.operands;
    const work = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!work) throw unknown("action of labd token", action, Object.keys(ACTIONS), "labd token --help");
    if (call.operands.length > 2)
      throw new Problem("usage", `labd token ${action} takes one operand. See labd token --help.`);
    const opened = await openData(call.configuration().config);
    try {
      process.stdout.write(work(opened, call, call.operands[1]));
    } finally {
      opened.close();
    }
    if (action === "add") process.stderr.write("This is the only time that the token is shown.\n");
    return 0;
  },
};

const ACTIONS: Record<string, (opened: Opened, call: Call, operand: string | undefined) => string> = {
  add({ accounts }, call, username) {
    if (username === undefined)
      throw new Problem("usage", "labd token add takes one USER. See labd token --help.");
    const days = call.value("--days");
    if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
      throw new Problem("usage", "--days: expected a whole number from 1 to 99999.");
    const expires = days === undefined ? null : Date.now() + Number(days) * DAY;
    const scope = call.has("--read-only") ? "read" : "write";
    return `${accounts.addToken(username, call.value("--name") ?? "command line", expires, scope)}\n`;
  },
  list({ accounts }, call, username) {
    const user = username === undefined ? {} : { user: accounts.userId(username) };
    const tokens = accounts.tokens.list({ ...user, all: call.has("--all") });
    if (call.has("--json")) {
      const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
      const shown = tokens.map((token) => ({
        ...token,
        created: time(token.created),
        expires: time(token.expires),
        last_used: time(token.last_used),
        revoked: time(token.revoked),
      }));
      return `${JSON.stringify(shown, null, 2)}\n`;
    }
    return accountTable(
      ["prefix", "user", "name", "scope", "created", "expires", "last used", "revoked", "id"],
      tokens.map((token) => [
        token.prefix,
        token.username,
        token.name,
        token.scope,
        minuteOf(token.created),
        minuteOf(token.expires),
        minuteOf(token.last_used),
        minuteOf(token.revoked),
        token.id,
      ]),
    );
  },
  revoke({ accounts }, call, typed) {
    const username = call.value("--user");
    if ((typed === undefined) === (username === undefined))
      throw new Problem("usage", "labd token revoke takes one ID (or prefix), or --user USER.");
    if (username !== undefined)
      return `Revoked ${accounts.tokens.revokeAll(accounts.userId(username))} tokens of ${username}.\n`;
    const id = accounts.tokens.resolve(typed ?? "");
    accounts.tokens.revoke(id);
    return `Revoked ${id}.\n`;
  },
};
