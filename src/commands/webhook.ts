import type { Opened } from "../app/data-directory.ts";
import { prepareWebhooks } from "../app/webhooks.ts";
import { Problem } from "../problem.ts";
import { parse } from "../platform/schema.ts";
import {
  EVENTS,
  NewWebhook,
  Rotation,
  showDelivery,
  showWebhook,
  type Webhook,
  type Webhooks,
} from "../webhooks/index.ts";
import type { Action, Call, Command } from "./command.ts";
import { formatMinute, textTable, timestamp } from "./text-table.ts";
import { withData } from "./with-data.ts";

/** The result of an action, as JSON and as text. */
interface Result {
  json: unknown;
  text: string;
  /** The action succeeded as a command, but its finding is a failure. */
  failed?: boolean;
}
type Work = (services: Opened & Webhooks, call: Call) => Result | Promise<Result>;

/** An action on the webhooks of the data directory, whose result is printed as text or JSON. */
const action = (declaration: Omit<Action, "run">, work: Work): Action => ({
  ...declaration,
  run: (call) =>
    withData(call, async (opened, config) => {
      const webhooks = prepareWebhooks(opened, config);
      try {
        const { json, text, failed } = await work({ ...opened, ...webhooks }, call);
        await (call.has("--json") ? call.printJson(json) : call.print(text));
        return failed ? 1 : 0;
      } finally {
        await webhooks.deliverer.close();
      }
    }),
});

/** The webhook with this id or unique beginning of an id. @throws Problem not_found, conflict */
function resolveWebhook({ store }: Webhooks, { operands: [typed] }: Call): Webhook {
  const found = store.list().filter(({ id }) => id === typed || (typed.length >= 4 && id.startsWith(typed)));
  if (found.length === 0)
    throw new Problem("not_found", `There is no webhook ${typed}. See labd webhook list.`);
  if (found.length > 1)
    throw new Problem("conflict", `Several webhook IDs begin with ${typed}. Give the whole ID.`);
  return found[0];
}

function withSecret(call: Call, { id, secret, formerUntil }: Webhook): Result {
  call.streams.stderr.write("The secret is not shown again.\n");
  const former =
    formerUntil === null ? "" : `The former secret also signs until ${formatMinute(formerUntil)}.\n`;
  return {
    json: { id, secret, former_secret_until: timestamp(formerUntil) },
    text: `webhook ${id}\nsecret  ${secret}\n${former}`,
  };
}

const add: Work = async ({ accounts, management }, call) => {
  const username = call.value("--user");
  if (username === undefined) throw new Problem("usage", "labd webhook add needs --user USER.");
  const events = call.values("--event");
  const input = parse(NewWebhook, {
    url: call.operands[0],
    ...(events.length === 0 ? {} : { events }),
    resource: call.value("--resource") ?? null,
    query_expression: call.value("--query") ?? null,
  });
  const added = await management.add(accounts.userId(username, { active: true }), input);
  return withSecret(call, added);
};

const list: Work = ({ accounts, store }, { operands: [username] }) => {
  const found = store.list(username === undefined ? undefined : accounts.userId(username));
  const json = found.map((webhook) => showWebhook(store, webhook));
  const rows = json.map(({ id, user, state, waiting, events, resource, url, last_error: error }) => {
    const names = events.length === EVENTS.length ? "all" : events.join(",");
    return [id, user, state, String(waiting), names, resource ?? "-", url, error ?? ""];
  });
  const head = ["id", "user", "state", "waiting", "events", "of", "url", "last error"];
  return { json, text: textTable(head, rows) };
};

const deliveries: Work = (services, call) => {
  const found = services.store.deliveries(resolveWebhook(services, call), call.number("--count") ?? 20);
  const json = found.map(showDelivery);
  const rows = found.map(({ id, event, state, created, attempts, status, error }) => {
    return [id, event, state, formatMinute(created), String(attempts), String(status ?? "-"), error ?? ""];
  });
  const head = ["delivery", "event", "state", "created", "attempts", "status", "error"];
  return { json, text: textTable(head, rows) };
};

const test: Work = async (services, call) => {
  const { id, state, status, answer, error } = await services.deliverer.ping(resolveWebhook(services, call));
  const failed = state !== "delivered";
  const outcome = (failed ? error : null) ?? `The receiver returned status ${status}.`;
  return {
    json: { id, state, status, answer, error },
    text: `${outcome}\n${answer ? `${answer}\n` : ""}`,
    failed,
  };
};

const secret: Work = async (services, call) => {
  const hours = call.number("--overlap-hours");
  const { overlap_hours } = parse(Rotation, hours === undefined ? {} : { overlap_hours: hours });
  return withSecret(call, await services.management.rotate(resolveWebhook(services, call), overlap_hours));
};

const remove: Work = async (services, call) => {
  const webhook = resolveWebhook(services, call);
  await services.management.remove(webhook);
  return { json: { id: webhook.id }, text: `Removed ${webhook.id} and its deliveries.\n` };
};

const resume: Work = async (services, call) => {
  const { id, state } = await services.management.resume(resolveWebhook(services, call));
  return { json: { id, state }, text: `${id} resumes where it stopped.\n` };
};

const redeliver: Work = async (services, call) => {
  const webhook = resolveWebhook(services, call);
  const [, delivery] = call.operands;
  const sent = services.store.delivery(webhook, delivery);
  if (!sent) throw new Problem("not_found", `${webhook.id} has no delivery ${delivery}.`);
  const { id, state } = await services.management.redeliver(sent);
  return { json: { id, state }, text: `The server will deliver ${id} again.\n` };
};

export const webhook: Command = {
  name: "webhook",
  summary: "Add, list, test and remove the URLs that are notified of records and jobs; change their secrets.",
  flags: { "--json": "Print JSON." },
  settings: ["data_dir", "public_url", "webhook_allow"],
  example:
    "labd webhook add https://lims.example/hook --user kim --event record.created --resource locations\n" +
    "labd webhook test 3f0c5b7e\nlabd webhook secret 3f0c5b7e --overlap-hours 48\n" +
    "ID is a webhook's id or its beginning. labd webhook test delivers from this process; all other deliveries come from the server.",
  actions: {
    add: action(
      {
        summary: "Add a webhook and print its secret.",
        operands: "URL",
        flags: {
          "--user USER": "Owner of the webhook, whose permissions apply.",
          "--event NAME": `An event to deliver; may be repeated. All by default: ${EVENTS.join(", ")}.`,
          "--resource LIST": "Only events of records of this list, such as locations.",
          "--query JSON": "Only records that match this query_expression.",
        },
      },
      add,
    ),
    list: action({ summary: "List the webhooks of one user or all.", operands: "[USER]" }, list),
    remove: action({ summary: "Remove a webhook and its deliveries.", operands: "ID" }, remove),
    test: action({ summary: "Deliver a ping and print the response.", operands: "ID" }, test),
    secret: action(
      {
        summary: "Replace the secret and print the new one.",
        operands: "ID",
        flags: { "--overlap-hours 0-999999": "Hours for which the former secret also signs; 24 by default." },
      },
      secret,
    ),
    resume: action({ summary: "Resume a webhook that was stopped after failures.", operands: "ID" }, resume),
    deliveries: action(
      {
        summary: "List the deliveries, newest first.",
        operands: "ID",
        flags: { "--count 0-999999": "Number of deliveries; 20 by default." },
      },
      deliveries,
    ),
    redeliver: action({ summary: "Repeat the delivery.", operands: "ID DELIVERY" }, redeliver),
  },
};
