import { openData } from "../app.ts";
import { unknown, type Verb } from "../command-line.ts";
import { Problem } from "../problem.ts";

export const user: Verb = {
  name: "user",
  summary: "Add the accounts that may write to the inventory.",
  operands: "add NAME",
  flags: [
    {
      name: "--password-stdin",
      sentence: "Read the password from standard input; without it the account signs in by tokens only.",
    },
    { name: "--admin", sentence: "May do everything." },
    { name: "--full-name", value: "NAME", sentence: "The person's name." },
    { name: "--email", value: "ADDRESS", sentence: "The person's e-mail address." },
    {
      name: "--group",
      value: "NAME",
      sentence: "Primary group, which owns what the user makes; made where it is missing.",
    },
  ],
  settings: ["data_dir"],
  example: "printf '%s' 'a long password' | labd user add kim --password-stdin --group Freezers",
  async run(call) {
    const [action, username, ...rest] = call.operands;
    if (action !== "add")
      throw unknown("action of labd user", action ?? "(none)", ["add"], "labd user --help");
    if (username === undefined || rest.length > 0)
      throw new Problem("usage", "labd user add takes one NAME. See labd user --help.");
    const optional = (flag: string): string | undefined => call.value(flag);
    const password = call.has("--password-stdin")
      ? (await Bun.stdin.text()).replace(/\r?\n$/, "")
      : undefined;
    const opened = openData(call.configuration().config);
    try {
      await opened.accounts.addUser({
        username,
        superuser: call.has("--admin"),
        ...(password === undefined ? {} : { password }),
        fullName: optional("--full-name") ?? "",
        email: optional("--email") ?? "",
        group: optional("--group") ?? "SYSTEM_GROUP",
      });
    } finally {
      opened.close();
    }
    process.stdout.write(`Added ${username}. A token for clients: labd token add ${username}\n`);
    return 0;
  },
};
