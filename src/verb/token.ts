import { openData } from "../app.ts";
import { unknown, type Verb } from "../command-line.ts";
import { Problem } from "../problem.ts";

const DAY = 86_400_000;

export const token: Verb = {
  name: "token",
  summary: "Make a token by which a client signs in: Authorization: Token ….",
  operands: "add USER",
  flags: [
    { name: "--name", value: "TEXT", sentence: "What the token is for." },
    { name: "--days", value: "N", sentence: "Days after which it expires; without it, it does not." },
  ],
  settings: ["data_dir"],
  example: "TOKEN=$(labd token add kim --name stocks-cli --days 90)",
  async run(call) {
    const [action, username, ...rest] = call.operands;
    if (action !== "add")
      throw unknown("action of labd token", action ?? "(none)", ["add"], "labd token --help");
    if (username === undefined || rest.length > 0)
      throw new Problem("usage", "labd token add takes one USER. See labd token --help.");
    const days = call.value("--days");
    if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
      throw new Problem("usage", "--days: expected a whole number from 1 to 99999.");
    const opened = openData(call.configuration().config);
    try {
      const expires = days === undefined ? null : Date.now() + Number(days) * DAY;
      process.stdout.write(
        `${opened.accounts.addToken(username, call.value("--name") ?? "command line", expires)}\n`,
      );
    } finally {
      opened.close();
    }
    process.stderr.write("This is the only time that the token is shown.\n");
    return 0;
  },
};
