import { Elysia } from "elysia";
import { type Static, Type } from "typebox";
import type { Accounts } from "../accounts/accounts.ts";
import type { Actor } from "../accounts/actor.ts";
import { errors, NO_CONTENT } from "../accounts/responses.ts";
import { guards } from "../accounts/route-guards.ts";
import { requestPlugin } from "../platform/http.ts";
import { nullable, schema, textSchema } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Deliverer } from "./deliverer.ts";
import { EVENTS } from "./events.ts";
import { NewWebhook, Rotation, type WebhookManagement } from "./management.ts";
import type { Delivery, Webhook, WebhookStore } from "./store.ts";

const PATH = "/api/webhooks/";
const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

const NullableText = nullable(Type.String());

const WebhookFields = Type.Object({
  id: Type.String(),
  user: Type.String({ description: "The owner, whose access rights apply." }),
  url: Type.String(),
  events: Type.Array(Type.Enum([...EVENTS])),
  resource: NullableText,
  query_expression: NullableText,
  state: Type.Enum(["active", "failing"]),
  created: Type.String(),
  former_secret_until: nullable(Type.String(), {
    description: "Until when the previous secret signs deliveries too.",
  }),
  waiting: Type.Integer({ description: "Pending deliveries." }),
  next_attempt: NullableText,
  last_error: nullable(Type.String(), { description: "Why the last attempt of the next delivery failed." }),
});
const WebhookAnswer = schema(Type.Object(WebhookFields.properties, { description: "The webhook." }));
const WebhookWithSecret = schema(
  Type.Object(
    { ...WebhookFields.properties, secret: Type.String() },
    { description: "The webhook with its secret, which is not shown again." },
  ),
);
const WebhookList = schema(
  Type.Object(
    { results: Type.Array(WebhookFields) },
    { description: "The caller's webhooks; everybody's for administrators." },
  ),
);

const DeliveryFields = Type.Object({
  id: Type.String({ description: "The header webhook-id, the same for every attempt." }),
  event: Type.String(),
  state: Type.Enum(["pending", "delivered", "failed", "withheld"]),
  created: Type.String(),
  attempts: Type.Integer(),
  attempted: NullableText,
  due: NullableText,
  status: nullable(Type.Integer(), { description: "HTTP status of the last response." }),
  answer: nullable(Type.String(), { description: "The first characters of the last response." }),
  error: NullableText,
});
const DeliveryAnswer = schema(Type.Object(DeliveryFields.properties, { description: "The delivery." }));
const DeliveryList = schema(
  Type.Object({ results: Type.Array(DeliveryFields) }, { description: "The deliveries, newest first." }),
);

const Page = textSchema(
  Type.Object({
    page_size: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `Deliveries to list: ${DEFAULT_PAGE} by default, at most ${MAX_PAGE}.`,
      }),
    ),
  }),
);

export interface WebhookRoutesOptions {
  store: WebhookStore;
  management: WebhookManagement;
  deliverer: Deliverer;
  accounts: Accounts;
}

const ONE = `${PATH}:id/`;
const DELIVERY = `${ONE}deliveries/:delivery/`;

/** `/api/webhooks/`: every account has its own webhooks; administrators see everybody's. */
export function webhookRoutes(options: WebhookRoutesOptions) {
  const { store, management, accounts } = options;
  const show = (webhook: Webhook) => showWebhook(store, webhook);
  const showSecret = (webhook: Webhook) => ({ ...show(webhook), secret: webhook.secret! });
  const find = (actor: Actor, id: string) => findWebhook(store, actor, id);
  return new Elysia({ name: "webhooks", detail: { tags: ["webhooks"], security: [{ token: [] }] } })
    .use(requestPlugin)
    .use(guards(accounts))
    .get(PATH, ({ actor }) => ({ results: store.list(actor.superuser ? undefined : actor.user).map(show) }), {
      signedIn: true,
      response: { 200: WebhookList, ...errors(401) },
      detail: { summary: "List webhooks" },
    })
    .post(
      PATH,
      async ({ actor, body, status }) => status(201, showSecret(await management.add(actor.user, body))),
      {
        signedIn: true,
        parse: "jsonBody",
        body: NewWebhook,
        response: { 201: WebhookWithSecret, ...errors(400, 401, 403, 409) },
        detail: { summary: "Add a webhook for events from now on" },
      },
    )
    .get(ONE, ({ actor, params }) => show(find(actor, params.id)), {
      signedIn: true,
      response: { 200: WebhookAnswer, ...errors(401, 404) },
      detail: { summary: "Get a webhook" },
    })
    .delete(ONE, ({ actor, params }) => management.remove(find(actor, params.id)), {
      signedIn: true,
      response: { 204: NO_CONTENT, ...errors(401, 403, 404) },
      detail: { summary: "Remove a webhook and its deliveries" },
    })
    .post(
      `${ONE}resume/`,
      async ({ actor, params }) => show(await management.resume(find(actor, params.id))),
      {
        signedIn: true,
        response: { 200: WebhookAnswer, ...errors(401, 403, 404) },
        detail: { summary: "Resume a failing webhook" },
      },
    )
    .post(
      `${ONE}secret/`,
      async ({ actor, params, body }) =>
        showSecret(await management.rotate(find(actor, params.id), body.overlap_hours)),
      {
        signedIn: true,
        parse: "jsonBody",
        body: Rotation,
        response: { 200: WebhookWithSecret, ...errors(400, 401, 403, 404) },
        detail: { summary: "Create a new secret" },
      },
    )
    .use(deliveryRoutes(options));
}

function deliveryRoutes({ store, management, deliverer, accounts }: WebhookRoutesOptions) {
  const find = (actor: Actor, id: string) => findWebhook(store, actor, id);
  const findDelivery = (actor: Actor, { id, delivery }: { id: string; delivery: string }): Delivery => {
    const found = store.delivery(find(actor, id), delivery);
    if (!found) throw new Problem("not_found", "Not found.");
    return found;
  };
  return new Elysia({ name: "webhook-deliveries", detail: { tags: ["webhooks"], security: [{ token: [] }] } })
    .use(requestPlugin)
    .use(guards(accounts))
    .post(
      `${ONE}ping/`,
      async ({ actor, params }) => showDelivery(await deliverer.ping(find(actor, params.id))),
      {
        signedIn: true,
        response: { 200: DeliveryAnswer, ...errors(401, 403, 404, 409) },
        detail: { summary: "Send a test event", description: "A failing webhook that answers is resumed." },
      },
    )
    .get(
      `${ONE}deliveries/`,
      ({ actor, params, query: { page_size: size = DEFAULT_PAGE } }) => ({
        results: store.deliveries(find(actor, params.id), Math.min(size, MAX_PAGE)).map(showDelivery),
      }),
      {
        signedIn: true,
        query: Page,
        response: { 200: DeliveryList, ...errors(400, 401, 404) },
        detail: { summary: "List deliveries" },
      },
    )
    .get(DELIVERY, ({ actor, params }) => showDelivery(findDelivery(actor, params)), {
      signedIn: true,
      response: { 200: DeliveryAnswer, ...errors(401, 404) },
      detail: { summary: "Get a delivery" },
    })
    .post(
      `${DELIVERY}redeliver/`,
      async ({ actor, params }) => showDelivery(await management.redeliver(findDelivery(actor, params))),
      {
        signedIn: true,
        response: { 200: DeliveryAnswer, ...errors(401, 403, 404, 409) },
        detail: { summary: "Repeat a delivery under the same id" },
      },
    );
}

function findWebhook(store: WebhookStore, actor: Actor, id: string): Webhook {
  const webhook = store.find(id);
  if (!webhook || (webhook.user !== actor.user && !actor.superuser))
    throw new Problem("not_found", "Not found.");
  return webhook;
}

function showWebhook(store: WebhookStore, webhook: Webhook): Static<typeof WebhookFields> {
  const next = store.next(webhook);
  return {
    id: webhook.id,
    user: webhook.username,
    url: webhook.url,
    events: webhook.events,
    resource: webhook.resource,
    query_expression: webhook.expression,
    state: webhook.state,
    created: new Date(webhook.created).toISOString(),
    former_secret_until: timestamp(webhook.formerUntil),
    waiting: store.waiting(webhook),
    next_attempt: webhook.state === "active" ? timestamp(next?.due ?? null) : null,
    last_error: next?.error ?? null,
  };
}

const showDelivery = (delivery: Delivery): Static<typeof DeliveryFields> => ({
  id: delivery.id,
  event: delivery.event,
  state: delivery.state,
  created: new Date(delivery.created).toISOString(),
  attempts: delivery.attempts,
  attempted: timestamp(delivery.attempted),
  due: delivery.state === "pending" ? timestamp(delivery.due) : null,
  status: delivery.status,
  answer: delivery.answer,
  error: delivery.error,
});

const timestamp = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString();
