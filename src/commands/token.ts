import type { Command } from "./command.ts";
import { Problem } from "../problem.ts";
import { formatMinute, textTable, timestamp } from "./text-table.ts";
import { withData } from "./with-data.ts";

const DAY = 86_400_000;

export const token: Command = {
  name: "token",
  summary: "Add, list and revoke API tokens (Authorization: Token …).",
  settings: ["data_dir"],
  example:
    "TOKEN=$(labd token add kim --name stocks-cli --days 90)\nlabd token list kim\nlabd token revoke labd_x3Ty9a",
  actions: {
    add: {
      summary: "Add a token for a user and print it.",
      operands: "USER",
      flags: {
        "--name TEXT": "The purpose of the token.",
        "--days 1-99999": "Days until the token expires; by default it never expires.",
        "--read-only": "Make the token read-only.",
      },
      async run(call) {
        const days = call.number("--days");
        const token = await withData(call, ({ accounts }) =>
          accounts.addToken(
            call.operands[0],
            call.value("--name") ?? "command line",
            days === undefined ? null : Date.now() + days * DAY,
            call.has("--read-only") ? "read" : "write",
          ),
        );
        await call.print(`${token}\n`);
        call.streams.stderr.write("The token is not shown again.\n");
      },
    },
    list: {
      summary: "List the tokens of one user or all.",
      operands: "[USER]",
      flags: { "--all": "Include expired and revoked tokens.", "--json": "Print the list as JSON." },
      async run(call) {
        const [username] = call.operands;
        const tokens = await withData(call, ({ accounts }) =>
          accounts.tokens.list({
            ...(username === undefined ? {} : { user: accounts.userId(username) }),
            all: call.has("--all"),
          }),
        );
        if (call.has("--json"))
          return call.printJson(
            tokens.map((token) => ({
              ...token,
              created: timestamp(token.created),
              expires: timestamp(token.expires),
              last_used: timestamp(token.last_used),
              revoked: timestamp(token.revoked),
            })),
          );
        const head = ["prefix", "user", "name", "scope", "created", "expires", "last used", "revoked", "id"];
        const rows = tokens.map(({ prefix, username, name, scope, id, ...times }) => {
          const [created, expires, used, revoked] = [
            times.created,
            times.expires,
            times.last_used,
            times.revoked,
          ].map(formatMinute);
          return [prefix, username, name, scope, created, expires, used, revoked, id];
        });
        return call.print(textTable(head, rows));
      },
    },
    revoke: {
      summary: "Revoke a token by its ID or prefix, or all tokens of a user.",
      operands: "[ID]",
      flags: { "--user USER": "Revoke all tokens of this user." },
      run(call) {
        const [id] = call.operands;
        const username = call.value("--user");
        if ((id === undefined) === (username === undefined))
          throw new Problem("usage", "labd token revoke needs an ID (or prefix), or --user USER.");
        return withData(call, ({ accounts }) => {
          if (username !== undefined) {
            const revoked = accounts.tokens.revokeAll(accounts.userId(username));
            return call.print(`Revoked ${revoked} tokens of ${username}.\n`);
          }
          const resolved = accounts.tokens.resolve(id);
          accounts.tokens.revoke(resolved);
          return call.print(`Revoked ${resolved}.\n`);
        });
      },
    },
  },
};
