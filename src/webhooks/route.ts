import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import { Problem } from "../problem.ts";
import type { Actor } from "../accounts/actor.ts";
import { unauthenticated } from "../accounts/unauthenticated.ts";
import { readText } from "../platform/body.ts";
import type { Deliverer } from "./deliverer.ts";
import type { WebhookManagement } from "./management.ts";
import { EVENTS } from "./events.ts";
import type { Delivery, Webhook, WebhookStore } from "./store.ts";
import { MAX_OVERLAP, DEFAULT_OVERLAP, wrong } from "./parse-webhook.ts";

export interface WebhookRoutesOptions {
  store: WebhookStore;
  management: WebhookManagement;
  deliverer: Deliverer;
  /** Who asks. @throws Problem unauthenticated, forbidden */
  authenticate: (request: Request) => Actor;
}

const PATH = "/api/webhooks/";
const MOST_BYTES = 65_536;
const SHOWN = 100;
const MOST_SHOWN = 1000;
const HIDDEN = { parse: "none", detail: { hide: true } } as const;

type Params = Record<string, string | null>;
type Context = { request: Request; params: Params };
type Handler = (context: Context) => Response | Promise<Response>;

const instant = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
const answer = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  });

/** `/api/webhooks/`: everybody with an account has webhooks of their own; administrators see everybody's. */
export function webhookRoutes(options: WebhookRoutesOptions): AnyElysia {
  const { store, management, deliverer } = options;

  const callerOf = (request: Request): Actor & { user: number } => {
    const actor = options.authenticate(request);
    if (actor.user === null) throw unauthenticated("Authentication credentials were not provided.");
    return actor as Actor & { user: number };
  };
  const webhookOf = (request: Request, { id }: Params): Webhook => {
    const actor = callerOf(request);
    const webhook = store.find(id ?? "");
    if (!webhook || (webhook.user !== actor.user && !actor.superuser))
      throw new Problem("not_found", "Not found.");
    return webhook;
  };
  const deliveryOf = (webhook: Webhook, id: string | null | undefined): Delivery => {
    const delivery = store.delivery(webhook, id ?? "");
    if (!delivery) throw new Problem("not_found", "Not found.");
    return delivery;
  };
  const show = (webhook: Webhook) => {
    const next = store.next(webhook);
    return {
      id: webhook.id,
      user: webhook.username,
      url: webhook.url,
      events: webhook.events,
      resource: webhook.resource,
      query_expression: webhook.expression,
      state: webhook.state,
      created: instant(webhook.created),
      former_secret_until: instant(webhook.formerUntil),
      waiting: store.waiting(webhook),
      next_attempt: webhook.state === "active" && next ? instant(next.due) : null,
      last_error: next?.error ?? null,
    };
  };

  const list: Handler = ({ request }) => {
    const actor = callerOf(request);
    return answer({ results: store.list(actor.superuser ? undefined : actor.user).map(show) });
  };
  const create: Handler = async ({ request }) => {
    const { user } = callerOf(request);
    const made = await management.add(user, await readObject(request));
    return answer({ ...show(made), secret: made.secret }, 201);
  };
  const read: Handler = ({ request, params }) => answer(show(webhookOf(request, params)));
  const remove: Handler = async ({ request, params }) => {
    await management.remove(webhookOf(request, params));
    return new Response(null, { status: 204 });
  };
  const rotate: Handler = async ({ request, params }) => {
    const webhook = webhookOf(request, params);
    const rotated = await management.rotate(webhook, await readObject(request));
    return answer({ ...show(rotated), secret: rotated.secret });
  };
  const deliveries: Handler = ({ request, params }) => {
    const webhook = webhookOf(request, params);
    const typed = new URL(request.url, "http://localhost").searchParams.get("page_size") ?? String(SHOWN);
    if (!/^[1-9]\d{0,8}$/.test(typed)) throw wrong("page_size", "A positive whole number is required.");
    const found = store.deliveries(webhook, Math.min(Number(typed), MOST_SHOWN));
    return answer({ results: found.map(showDelivery) });
  };
  const delivery: Handler = ({ request, params }) =>
    answer(showDelivery(deliveryOf(webhookOf(request, params), params.delivery)));
  const redeliver: Handler = async ({ request, params }) => {
    const webhook = webhookOf(request, params);
    const again = await management.redeliver(deliveryOf(webhook, params.delivery));
    return answer(showDelivery(again));
  };
  const ping: Handler = async ({ request, params }) =>
    answer(showDelivery(await deliverer.ping(webhookOf(request, params))));
  const resume: Handler = async ({ request, params }) =>
    answer(show(await management.resume(webhookOf(request, params))));

  const one = `${PATH}:id/`;
  const sent = `${one}deliveries/:delivery/`;
  const app = new Elysia({ name: "webhooks" });
  app
    .get(PATH, list, { detail: LIST })
    .post(PATH, create, { parse: "none", detail: CREATE })
    .get(one, read, { detail: READ })
    .delete(one, remove, { parse: "none", detail: REMOVE })
    .post(`${one}ping/`, ping, { parse: "none", detail: PING })
    .post(`${one}resume/`, resume, { parse: "none", detail: RESUME })
    .post(`${one}secret/`, rotate, { parse: "none", detail: ROTATE })
    .get(`${one}deliveries/`, deliveries, { detail: DELIVERIES })
    .get(sent, delivery, { detail: DELIVERY_READ })
    .post(`${sent}redeliver/`, redeliver, { parse: "none", detail: REDELIVER });
  const otherwise: [string, Record<string, Handler>][] = [
    [PATH, { GET: list, HEAD: list, POST: create }],
    [one, { GET: read, HEAD: read, DELETE: remove }],
    [`${one}ping/`, { POST: ping }],
    [`${one}resume/`, { POST: resume }],
    [`${one}secret/`, { POST: rotate }],
    [`${one}deliveries/`, { GET: deliveries, HEAD: deliveries }],
    [sent, { GET: delivery, HEAD: delivery }],
    [`${sent}redeliver/`, { POST: redeliver }],
  ];
  for (const [path, handlers] of otherwise) {
    const any: Handler = (context) => {
      const handler = handlers[context.request.method];
      if (handler) return handler(context);
      const allow = Object.keys(handlers).join(", ");
      throw new Problem("method_not_allowed", `Method "${context.request.method}" not allowed.`, { allow });
    };
    for (const end of [path, path.slice(0, -1)]) app.all(end, any, HIDDEN);
  }
  return app as unknown as AnyElysia;
}

function showDelivery(delivery: Delivery) {
  const { id, event, state, created, attempts, attempted, due, status, answer, error } = delivery;
  return {
    id,
    event,
    state,
    created: instant(created),
    attempts,
    attempted: instant(attempted),
    due: state === "pending" ? instant(due) : null,
    status,
    answer,
    error,
  };
}

async function readObject(request: Request): Promise<Record<string, unknown>> {
  const text = await readText(request, MOST_BYTES);
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text);
  } catch (cause) {
    throw new Problem("malformed", "The body is not JSON.", { cause });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw wrong("non_field_errors", "Invalid data. Expected a dictionary.");
  return value as Record<string, unknown>;
}

// What the reference says.

const text = { type: "string" };
const maybe = { type: "string", nullable: true };
const count = { type: "integer" };
const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: "object",
  required,
  properties,
});
const WEBHOOK = {
  id: text,
  user: { ...text, description: "Its owner, whose rights count." },
  url: text,
  events: { type: "array", items: { type: "string", enum: [...EVENTS] } },
  resource: maybe,
  query_expression: maybe,
  state: { type: "string", enum: ["active", "failing"] },
  created: text,
  former_secret_until: {
    ...maybe,
    description: "Up to when deliveries are signed by the secret before, too.",
  },
  waiting: { ...count, description: "Deliveries that are still to be made." },
  next_attempt: maybe,
  last_error: { ...maybe, description: "Why the next one was not delivered so far." },
};
const DELIVERY = object({
  id: { ...text, description: "As in the header webhook-id; the same for every attempt." },
  event: text,
  state: { type: "string", enum: ["pending", "delivered", "failed", "withheld"] },
  created: text,
  attempts: count,
  attempted: maybe,
  due: maybe,
  status: { ...count, nullable: true, description: "Of the last answer." },
  answer: { ...maybe, description: "Its first characters." },
  error: maybe,
});
const MEANINGS: Record<number, string> = {
  400: "A value breaks a rule; it is named.",
  401: "Credentials are missing or not valid.",
  403: "The token may only read.",
  404: "There is none that the caller may see.",
  409: "It cannot be done; the text says why.",
};
const content = (schema: object) => ({ "application/json": { schema: schema as Record<string, unknown> } });
const PROBLEM = { type: "object", required: ["message"], properties: { message: text } };
const inPath = (name: string, description: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: text,
});
const ID = inPath("id", "Id of the webhook.");
const DELIVERY_ID = inPath("delivery", "Id of the delivery.");
const detail = (
  summary: string,
  parameters: object[],
  [status, description, schema]: [number, string, object?],
  refusals: number[],
  more: object = {},
): DocumentDecoration =>
  ({
    summary,
    tags: ["webhooks"],
    security: [{ token: [] }],
    parameters,
    responses: {
      [status]: { description, ...(schema ? { content: content(schema) } : {}) },
      ...Object.fromEntries(
        refusals.map((refusal) => [refusal, { description: MEANINGS[refusal], content: content(PROBLEM) }]),
      ),
    },
    ...more,
  }) as DocumentDecoration;
const many = (items: object) => object({ results: { type: "array", items } });

const LIST = detail(
  "Webhooks",
  [],
  [200, "The caller's own; all to administrators.", many(object(WEBHOOK))],
  [401],
);
const CREATE = detail(
  "Be told of what happens from now on",
  [],
  [201, "With the secret, which is shown only now.", object({ ...WEBHOOK, secret: text })],
  [400, 401, 403, 409],
  {
    requestBody: {
      required: true,
      content: content(
        object(
          {
            url: { ...text, description: "Where to post; https." },
            events: { ...WEBHOOK.events, description: "All where it is missing." },
            resource: { ...maybe, description: "Segment of one list: of its records only." },
            query_expression: { ...maybe, description: "Of these, records for which it holds." },
          },
          ["url"],
        ),
      ),
    },
  },
);
const READ = detail("One webhook", [ID], [200, "How it is.", object(WEBHOOK)], [401, 404]);
const REMOVE = detail("End a webhook", [ID], [204, "It is gone, with its log."], [401, 403, 404]);
const PING = detail(
  "Call a webhook now",
  [ID],
  [200, "What came of it; a failing one goes on where it was answered.", DELIVERY],
  [401, 403, 404, 409],
);
const RESUME = detail(
  "Let a failing webhook go on where it stopped",
  [ID],
  [200, "How it is.", object(WEBHOOK)],
  [401, 403, 404],
);
const ROTATE = detail(
  "Another secret for the signatures",
  [ID],
  [200, "With the secret, which is shown only now.", object({ ...WEBHOOK, secret: text })],
  [400, 401, 403, 404],
  {
    requestBody: {
      required: false,
      content: content(
        object(
          {
            overlap_hours: {
              ...count,
              description: `For how long the secret before signs, too: 0 to ${MAX_OVERLAP}; ${DEFAULT_OVERLAP} where it is missing.`,
            },
          },
          [],
        ),
      ),
    },
  },
);
const PAGE_SIZE = {
  name: "page_size",
  in: "query",
  required: false,
  description: "How many; 100 by default, up to 1000.",
  schema: text,
};
const DELIVERIES = detail(
  "What was sent",
  [ID, PAGE_SIZE],
  [200, "The newest first.", many(DELIVERY)],
  [400, 401, 404],
);
const DELIVERY_READ = detail(
  "One delivery",
  [ID, DELIVERY_ID],
  [200, "What became of it.", DELIVERY],
  [401, 404],
);
const REDELIVER = detail(
  "Deliver once more",
  [ID, DELIVERY_ID],
  [200, "It waits, under the id that it had.", DELIVERY],
  [401, 403, 404, 409],
);
