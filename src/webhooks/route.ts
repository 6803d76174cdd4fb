import { type Static, Type } from "typebox";
import type { Accounts } from "../accounts/accounts.ts";
import type { Actor } from "../platform/actor.ts";
import {
  answers,
  answerSchema,
  listSchema,
  NO_CONTENT,
  pathSchema,
  timestamp,
  timestampOrNull,
} from "../accounts/responses.ts";
import { guardedRoutes } from "../accounts/route-guards.ts";
import { singlePage } from "../platform/page.ts";
import { nullable, textSchema } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import type { Deliverer } from "./deliverer.ts";
import { EVENTS } from "./events.ts";
import { NewWebhook, Rotation, type WebhookManagement } from "./management.ts";
import type { Delivery, Webhook, WebhookStore } from "./store.ts";

const PATH = "/api/webhooks/";
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
const WebhookList = listSchema("The caller's webhooks; all webhooks for administrators.", WebhookAnswer);

const DeliveryAnswer = answerSchema(
  "The delivery.",
  {
    id: Type.String({ description: "The header webhook-id, the same for every attempt." }),
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
const DeliveryList = listSchema("The deliveries, newest first.", DeliveryAnswer);

const PageSize = Type.Integer({
  minimum: 1,
  description: `Deliveries to list: ${DEFAULT_PAGE} by default, at most ${MAX_PAGE}.`,
});
const Page = textSchema(Type.Object({ page_size: Type.Optional(PageSize) }));

const PING = { summary: "Send a test event", description: "A failing webhook that responds is resumed." };
const REDELIVER = { summary: "Repeat a delivery", description: "Its id stays the same." };

export interface WebhookRoutesOptions {
  store: WebhookStore;
  management: WebhookManagement;
  deliverer: Deliverer;
  accounts: Accounts;
}

const Id: [string] = ["Id of the webhook."];
const ById = { params: pathSchema({ id: Id }) };
const ByDelivery = {
  params: pathSchema({ id: Id, delivery: ["Id of the delivery.", "msg_0f0e0d0c0b0a49088706050403020100"] }),
};

const ONE = `${PATH}:id/`;
const DELIVERY = `${ONE}deliveries/:delivery/`;

/** `/api/webhooks/`: every account has its own webhooks; administrators see everybody's. */
export function webhookRoutes(options: WebhookRoutesOptions) {
  const { store, management, accounts } = options;
  const show = (webhook: Webhook) => showWebhook(store, webhook);
  const showSecret = (webhook: Webhook) => ({ ...show(webhook), secret: webhook.secret! });
  const find = (actor: Actor, id: string) => findWebhook(store, actor, id);
  return guardedRoutes("webhooks", "webhooks", accounts)
    .get(PATH, ({ actor }) => singlePage(store.list(actor.superuser ? undefined : actor.user).map(show)), {
      signedIn: true,
      ...answers("List webhooks", { 200: WebhookList }, 401),
    })
    .post(
      PATH,
      async ({ actor, body, status }) => status(201, showSecret(await management.add(actor.user, body))),
      {
        signedIn: true,
        confirmed: true,
        parse: "jsonBody",
        body: NewWebhook,
        ...answers(
          { summary: "Add a webhook", description: "For events from now on." },
          { 201: WebhookWithSecret },
          400,
          401,
          403,
          409,
        ),
      },
    )
    .get(ONE, ({ actor, params }) => show(find(actor, params.id)), {
      signedIn: true,
      ...ById,
      ...answers("Get a webhook", { 200: WebhookAnswer }, 401, 404),
    })
    .delete(ONE, ({ actor, params }) => management.remove(find(actor, params.id)), {
      signedIn: true,
      ...ById,
      ...answers(
        { summary: "Remove a webhook", description: "Also removes its deliveries." },
        NO_CONTENT,
        401,
        403,
        404,
      ),
    })
    .post(
      `${ONE}resume/`,
      async ({ actor, params }) => show(await management.resume(find(actor, params.id))),
      {
        signedIn: true,
        ...ById,
        ...answers("Resume a failing webhook", { 200: WebhookAnswer }, 401, 403, 404),
      },
    )
    .post(
      `${ONE}secret/`,
      async ({ actor, params, body }) =>
        showSecret(await management.rotate(find(actor, params.id), body.overlap_hours)),
      {
        signedIn: true,
        confirmed: true,
        parse: "jsonBody",
        body: Rotation,
        ...ById,
        ...answers("Create a new secret", { 200: WebhookWithSecret }, 400, 401, 403, 404),
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
  return guardedRoutes("webhook-deliveries", "webhooks", accounts)
    .post(
      `${ONE}ping/`,
      async ({ actor, params }) => showDelivery(await deliverer.ping(find(actor, params.id))),
      {
        signedIn: true,
        ...ById,
        ...answers(PING, { 200: DeliveryAnswer }, 401, 403, 404, 409),
      },
    )
    .get(
      `${ONE}deliveries/`,
      ({ actor, params, query: { page_size: size = DEFAULT_PAGE } }) =>
        singlePage(store.deliveries(find(actor, params.id), Math.min(size, MAX_PAGE)).map(showDelivery)),
      {
        signedIn: true,
        query: Page,
        ...ById,
        ...answers("List deliveries", { 200: DeliveryList }, 400, 401, 404),
      },
    )
    .get(DELIVERY, ({ actor, params }) => showDelivery(findDelivery(actor, params)), {
      signedIn: true,
      ...ByDelivery,
      ...answers("Get a delivery", { 200: DeliveryAnswer }, 401, 404),
    })
    .post(
      `${DELIVERY}redeliver/`,
      async ({ actor, params }) => showDelivery(await management.redeliver(findDelivery(actor, params))),
      { signedIn: true, ...ByDelivery, ...answers(REDELIVER, { 200: DeliveryAnswer }, 401, 403, 404, 409) },
    );
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
