import { type Static, Type } from "typebox";
import type { Actor } from "../platform/actor.ts";
import { timestamp, timestampOrNull } from "../platform/clock.ts";
import { operation } from "../platform/operation.ts";
import { pageSchema, singlePage } from "../platform/page.ts";
import { answerSchema, nullable } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Deliverer } from "./deliverer.ts";
import { EVENTS } from "./events.ts";
import { NewWebhook, Rotation, type WebhookManagement } from "./management.ts";
import type { Delivery, Webhook, WebhookStore } from "./store.ts";

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

const Text = Type.String();
const NullableText = nullable(Text);

const WebhookFields = {
  id: Text,
  user: Type.String({ description: "The owner, whose permissions apply." }),
  url: Text,
  events: Type.Array(Type.Enum([...EVENTS])),
  resource: NullableText,
  query_expression: NullableText,
  state: Type.Enum(["active", "failing"]),
  created: Text,
  former_secret_until: nullable(Text, { description: "Time until which the previous secret also signs." }),
  waiting: Type.Integer({ description: "Pending deliveries." }),
  next_attempt: NullableText,
  last_error: nullable(Text, { description: "The reason why the last attempt of the next delivery failed." }),
};
const WebhookAnswer = answerSchema("The webhook.", WebhookFields, "Webhook");
const WebhookWithSecret = answerSchema(
  "The webhook with its secret, which is not shown again.",
  {
    ...WebhookFields,
    secret: Text,
  },
  "WebhookWithSecret",
);
const WebhookList = pageSchema("The caller's webhooks; all webhooks for administrators.", WebhookAnswer);

const DeliveryAnswer = answerSchema(
  "The delivery.",
  {
    id: Type.String({ description: "The header webhook-id, equal for all attempts." }),
    event: Text,
    state: Type.Enum(["pending", "delivered", "failed", "withheld"]),
    created: Text,
    attempts: Type.Integer(),
    attempted: NullableText,
    due: NullableText,
    status: nullable(Type.Integer(), { description: "HTTP status of the last response." }),
    answer: nullable(Text, { description: "The first characters of the last response." }),
    error: NullableText,
  },
  "Delivery",
);
const DeliveryList = pageSchema("The deliveries, newest first.", DeliveryAnswer);

const Paging = Type.Object({
  page_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `Deliveries to list: ${DEFAULT_PAGE} by default, at most ${MAX_PAGE}.`,
    }),
  ),
});

/** Dependencies of the operations of webhooks. */
export interface WebhookParts {
  store: WebhookStore;
  management: WebhookManagement;
  deliverer: Deliverer;
}

const Id = "Id of the webhook.";
const ofOne = { access: "signedIn", params: { id: Id }, errors: [404] } as const;
const deliveryAccess = {
  access: "signedIn",
  params: { id: Id, delivery: ["Id of the delivery.", "msg_0f0e0d0c0b0a49088706050403020100"] },
  errors: [404],
} as const;

/** Every account has its own webhooks; administrators see everybody's. */
export const webhookOperations = [
  operation("GET /api/webhooks/", {
    access: "signedIn",
    summary: "List webhooks",
    returns: WebhookList,
    run: ({ caller }, { store }: WebhookParts) =>
      singlePage(
        store.list(caller.superuser ? undefined : caller.user).map((webhook) => showWebhook(store, webhook)),
      ),
  }),
  operation("POST /api/webhooks/", {
    access: "signedIn",
    confirmed: true,
    summary: "Add a webhook",
    description: "Applies to future events.",
    body: NewWebhook,
    status: 201,
    returns: WebhookWithSecret,
    errors: [409],
    run: async ({ caller, body }, { store, management }: WebhookParts) =>
      showWithSecret(store, await management.add(caller.user, body)),
  }),
  operation("GET /api/webhooks/:id/", {
    ...ofOne,
    summary: "Get a webhook",
    returns: WebhookAnswer,
    run: ({ caller, params }, { store }: WebhookParts) =>
      showWebhook(store, findWebhook(store, caller, params.id)),
  }),
  operation("DELETE /api/webhooks/:id/", {
    ...ofOne,
    summary: "Remove a webhook",
    description: "Also removes the deliveries of the webhook.",
    run: async ({ caller, params }, { store, management }: WebhookParts) =>
      management.remove(findWebhook(store, caller, params.id)),
  }),
  operation("POST /api/webhooks/:id/resume/", {
    ...ofOne,
    summary: "Resume a failing webhook",
    returns: WebhookAnswer,
    run: async ({ caller, params }, { store, management }: WebhookParts) =>
      showWebhook(store, await management.resume(findWebhook(store, caller, params.id))),
  }),
  operation("POST /api/webhooks/:id/secret/", {
    ...ofOne,
    confirmed: true,
    summary: "Create a new secret",
    body: Rotation,
    returns: WebhookWithSecret,
    run: async ({ caller, params, body }, { store, management }: WebhookParts) =>
      showWithSecret(
        store,
        await management.rotate(findWebhook(store, caller, params.id), body.overlap_hours),
      ),
  }),
  operation("POST /api/webhooks/:id/ping/", {
    ...ofOne,
    summary: "Send a test event",
    description: "A failing webhook that responds is resumed.",
    returns: DeliveryAnswer,
    errors: [404, 409],
    run: async ({ caller, params }, { store, deliverer }: WebhookParts) =>
      showDelivery(await deliverer.ping(findWebhook(store, caller, params.id))),
  }),
  operation("GET /api/webhooks/:id/deliveries/", {
    ...ofOne,
    summary: "List deliveries",
    query: Paging,
    returns: DeliveryList,
    run({ caller, params, query: { page_size: size = DEFAULT_PAGE } }, { store }: WebhookParts) {
      const webhook = findWebhook(store, caller, params.id);
      return singlePage(store.deliveries(webhook, Math.min(size, MAX_PAGE)).map(showDelivery));
    },
  }),
  operation("GET /api/webhooks/:id/deliveries/:delivery/", {
    ...deliveryAccess,
    summary: "Get a delivery",
    returns: DeliveryAnswer,
    run: ({ caller, params }, { store }: WebhookParts) => showDelivery(findDelivery(store, caller, params)),
  }),
  operation("POST /api/webhooks/:id/deliveries/:delivery/redeliver/", {
    ...deliveryAccess,
    summary: "Repeat a delivery",
    description: "The id of the delivery stays the same.",
    returns: DeliveryAnswer,
    errors: [404, 409],
    run: async ({ caller, params }, { store, management }: WebhookParts) =>
      showDelivery(await management.redeliver(findDelivery(store, caller, params))),
  }),
];

function findDelivery(
  store: WebhookStore,
  actor: Actor,
  { id, delivery }: { id: string; delivery: string },
): Delivery {
  const found = store.delivery(findWebhook(store, actor, id), delivery);
  if (!found) throw new Problem("not_found", "Not found.");
  return found;
}

function findWebhook(store: WebhookStore, actor: Actor, id: string): Webhook {
  const webhook = store.find(id);
  if (!webhook || (webhook.user !== actor.user && !actor.superuser))
    throw new Problem("not_found", "Not found.");
  return webhook;
}

/** A webhook as the API and the command line show it. */
export function showWebhook(store: WebhookStore, webhook: Webhook): Static<typeof WebhookAnswer> {
  const next = store.next(webhook);
  return {
    id: webhook.id,
    user: webhook.username,
    url: webhook.url,
    events: webhook.events,
    resource: webhook.resource,
    query_expression: webhook.expression,
    state: webhook.state,
    created: timestamp(webhook.created),
    former_secret_until: timestampOrNull(webhook.formerUntil),
    waiting: store.waiting(webhook),
    next_attempt: webhook.state === "active" ? timestampOrNull(next?.due ?? null) : null,
    last_error: next?.error ?? null,
  };
}

const showWithSecret = (store: WebhookStore, webhook: Webhook) => ({
  ...showWebhook(store, webhook),
  secret: webhook.secret!,
});

/** A delivery as the API and the command line show it. */
export const showDelivery = (delivery: Delivery): Static<typeof DeliveryAnswer> => ({
  id: delivery.id,
  event: delivery.event,
  state: delivery.state,
  created: timestamp(delivery.created),
  attempts: delivery.attempts,
  attempted: timestampOrNull(delivery.attempted),
  due: delivery.state === "pending" ? timestampOrNull(delivery.due) : null,
  status: delivery.status,
  answer: delivery.answer,
  error: delivery.error,
});
