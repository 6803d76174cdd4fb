import { openData, type Opened } from "../app/data-directory.ts";
import { webhooksOf } from "../app/webhooks.ts";
import { type Call, unknown, type Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import { EVENTS, type Webhook, type Webhooks } from "../webhooks/index.ts";
import { accountTable, minuteOf } from "./account-table.ts";

export const webhook: Command = {
  name: "webhook",
  summary:
    "Add, list, test and remove the addresses that are told of records and jobs; change their secrets.",
  operands:
    "add URL | list [USER] | remove ID | test ID | secret ID | resume ID | deliveries ID | redeliver ID DELIVERY",
  flags: [
    { name: "--user", value: "USER", sentence: "add: whose webhook it is; that account's rights count." },
    {
      name: "--event",
      value: "NAME",
      sentence: `add: an event to be told of; can be given again. All where it is missing: ${EVENTS.join(", ")}.`,
    },
    {
      name: "--resource",
      value: "LIST",
      sentence: "add: events of records of this list only, such as locations.",
    },
    {
      name: "--query",
      value: "JSON",
      sentence: "add: of these, records for which this query_expression holds.",
    },
    {
      name: "--overlap-hours",
      value: "N",
      sentence: "secret: hours for which the secret before signs, too; 24 where it is missing.",
    },
    {
      name: "--count",
      value: "N",
      sentence: "deliveries: how many, the newest first; 20 where it is missing.",
    },
    { name: "--json", sentence: "As JSON." },
  ],
  settings: ["data_dir", "public_url", "base_path", "webhook_allow", "webhook_http"],
  example:
    "labd webhook add https://lims.example/hook --user kim --event record.created --resource locations\n" +
    "labd webhook test 3f0c5b7e\nlabd webhook secret 3f0c5b7e --overlap-hours 48\n" +
    "A webhook is meant by its id or the beginning of that. test calls from here; all else the server does.",
  async run(call) {
    const [action = "", ...operands] = call.operands;
    const work = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!work) throw unknown("action of labd webhook", action, Object.keys(ACTIONS), "labd webhook --help");
    const { takes, run } = work;
    if (operands.length < takes.length - (action === "list" ? 1 : 0) || operands.length > takes.length)
      throw new Problem("usage", `labd webhook ${action} takes ${takes.join(" ")}. See labd webhook --help.`);
    const { config } = call.configuration();
    const opened = await openData(config);
    const webhooks = webhooksOf(opened, config);
    try {
      const { shown, text, code = 0 } = await run({ ...opened, ...webhooks, call }, operands);
      process.stdout.write(call.has("--json") ? `${JSON.stringify(shown, null, 2)}\n` : text);
      if (action === "add" || action === "secret")
        process.stderr.write("This is the only time that the secret is shown.\n");
      return code;
    } finally {
      await webhooks.deliverer.close();
      opened.close();
    }
  },
};

type Tools = Opened & Webhooks & { call: Call };
interface Done {
  shown: unknown;
  text: string;
  /** Exit code where it is not 0. */
  code?: number;
}
interface Action {
  takes: string[];
  run: (tools: Tools, operands: string[]) => Done | Promise<Done>;
}

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The webhook that a person means by an id or its beginning. @throws Problem not_found, conflict */
function meant({ store }: Tools, typed: string): Webhook {
  const found = store.list().filter(({ id }) => id === typed || (typed.length >= 4 && id.startsWith(typed)));
  if (found.length === 0)
    throw new Problem("not_found", `There is no webhook ${typed}. See labd webhook list.`);
  if (found.length > 1)
    throw new Problem("conflict", `Several webhooks begin with ${typed}; give the whole id.`);
  return found[0];
}

const wholeNumber = (call: Call, flag: string): number | undefined => {
  const typed = call.value(flag);
  if (typed !== undefined && !/^\d{1,6}$/.test(typed))
    throw new Problem("usage", `${flag}: expected a whole number.`);
  return typed === undefined ? undefined : Number(typed);
};

const withSecret = ({ id, secret, formerUntil }: Webhook): Done => ({
  shown: { id, secret, former_secret_until: time(formerUntil) },
  text:
    `webhook ${id}\nsecret  ${secret}\n` +
    (formerUntil === null ? "" : `The secret before signs, too, until ${minuteOf(formerUntil)}.\n`),
});

const ACTIONS: Record<string, Action> = {
  add: {
    takes: ["URL"],
    async run({ accounts, management, call }, [url]) {
      const username = call.value("--user");
      if (username === undefined) throw new Problem("usage", "labd webhook add needs --user USER.");
      const events = call.values("--event");
      const made = await management.add(accounts.userId(username, { active: true }), {
        url,
        ...(events.length === 0 ? {} : { events }),
        resource: call.value("--resource"),
        query_expression: call.value("--query"),
      });
      return withSecret(made);
    },
  },
  list: {
    takes: ["[USER]"],
    run({ accounts, store }, [username]) {
      const found = store.list(username === undefined ? undefined : accounts.userId(username));
      const shown = found.map((one) => ({
        id: one.id,
        user: one.username,
        url: one.url,
        events: one.events,
        resource: one.resource,
        query_expression: one.expression,
        state: one.state,
        created: time(one.created),
        former_secret_until: time(one.formerUntil),
        waiting: store.waiting(one),
        last_error: store.next(one)?.error ?? null,
      }));
      const rows = shown.map(({ id, user, state, waiting, events, resource, url, last_error }) => [
        id,
        user,
        state,
        String(waiting),
        events.length === EVENTS.length ? "all" : events.join(","),
        resource ?? "-",
        url,
        last_error ?? "",
      ]);
      const head = ["id", "user", "state", "waiting", "events", "of", "url", "last error"];
      return { shown, text: accountTable(head, rows) };
    },
  },
  remove: {
    takes: ["ID"],
    async run(tools, [typed]) {
      const found = meant(tools, typed);
      await tools.management.remove(found);
      return { shown: { id: found.id }, text: `Removed ${found.id}, and its log.\n` };
    },
  },
  test: {
    takes: ["ID"],
    async run(tools, [typed]) {
      const { id, state, status, answer, error } = await tools.deliverer.ping(meant(tools, typed));
      const isGood = state === "delivered";
      const said = isGood ? `It answered ${status}.` : (error ?? `It answered ${status}.`);
      return {
        shown: { id, state, status, answer, error },
        text: `${said}${answer ? `\n${answer}` : ""}\n`,
        code: isGood ? 0 : 1,
      };
    },
  },
  secret: {
    takes: ["ID"],
    async run(tools, [typed]) {
      const hours = wholeNumber(tools.call, "--overlap-hours");
      const body = hours === undefined ? {} : { overlap_hours: hours };
      return withSecret(await tools.management.rotate(meant(tools, typed), body));
    },
  },
  resume: {
    takes: ["ID"],
    async run(tools, [typed]) {
      const { id, state } = await tools.management.resume(meant(tools, typed));
      return { shown: { id, state }, text: `${id} goes on where it stopped.\n` };
    },
  },
  deliveries: {
    takes: ["ID"],
    run(tools, [typed]) {
      const found = tools.store.deliveries(meant(tools, typed), wholeNumber(tools.call, "--count") ?? 20);
      const shown = found.map(
        ({ id, event, state, created, attempts, attempted, due, status, answer, error }) => ({
          id,
          event,
          state,
          created: time(created),
          attempts,
          attempted: time(attempted),
          due: state === "pending" ? time(due) : null,
          status,
          answer,
          error,
        }),
      );
      const rows = found.map(({ id, event, state, created, attempts, status, error }) => [
        id,
        event,
        state,
        minuteOf(created),
        String(attempts),
        status === null ? "-" : String(status),
        error ?? "",
      ]);
      const head = ["delivery", "event", "state", "created", "attempts", "status", "error"];
      return { shown, text: accountTable(head, rows) };
    },
  },
  redeliver: {
    takes: ["ID", "DELIVERY"],
    async run(tools, [typed, delivery]) {
      const found = meant(tools, typed);
      const sent = tools.store.delivery(found, delivery);
      if (!sent) throw new Problem("not_found", `${found.id} has no delivery ${delivery}.`);
      const { id, state } = await tools.management.redeliver(sent);
      return { shown: { id, state }, text: `${id} is delivered once more, by the server.\n` };
    },
  },
};
