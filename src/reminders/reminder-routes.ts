import { Type } from "typebox";
import type { Accounts } from "../accounts/accounts.ts";
import { answers, answerSchema, bodySchema, timestampOrNull } from "../accounts/responses.ts";
import { guardedRoutes } from "../accounts/route-guards.ts";
import type { Clock } from "../platform/clock.ts";
import { nullable } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import { NO_ADDRESS, NO_SERVER, type ReminderSender } from "./sender.ts";
import type { SubscriptionStore } from "./store.ts";

const OWN = "/api/account/reminders";
const VERIFICATION = "/api/account/reminders/verification";
const TEST = "/api/admin/reminders/test";

const State = answerSchema(
  "Whether you get reminders by e-mail.",
  {
    enabled: Type.Boolean(),
    available: Type.Boolean({ description: "Whether the server can send e-mail (setting smtp_url)." }),
    email: Type.String({ description: "Address of your account; empty if it has none." }),
    verified: Type.Boolean({
      description: "Whether the address is known to be yours; reminders go to no other.",
    }),
    sent: nullable(Type.String(), { description: "Time of the last e-mail." }),
    error: nullable(Type.String(), { description: "Why the last e-mail was not sent." }),
  },
  "Reminders",
);
const Sent = answerSchema("The address to which it was sent.", { email: Type.String() });
const Key = bodySchema({ key: Type.String({ minLength: 1, maxLength: 1024, examples: ["kP3mQ7xW"] }) });
const Verified = answerSchema("The verified address.", { email: Type.String() });
const Change = bodySchema({ enabled: Type.Boolean() });

const CHANGE = {
  summary: "Change your reminders",
  description:
    "An e-mail a day, if stock of yours or of your groups expires within 30 days or is below its minimum.",
};
const SEND_LINK = {
  summary: "Send a verification link",
  description: "The link works once within 72 hours, and replaces earlier ones.",
};
const VERIFY = {
  security: [] as [],
  summary: "Verify your address",
  description: "With the `key` of the link, for the account that it was sent for.",
};
const SEND_TEST = {
  summary: "Send a test message",
  description: "To the address of your account, by the mail server of the setting smtp_url.",
};

interface ReminderRoutesOptions {
  accounts: Accounts;
  store: SubscriptionStore;
  sender: ReminderSender;
  isAvailable: boolean;
  clock: Clock;
}

/** Reminders by e-mail: each person switches them on; administrators test the mail server. */
export function reminderRoutes({ accounts, store, sender, isAvailable, clock }: ReminderRoutesOptions) {
  const show = (user: number) => {
    const found = store.find(user);
    const { email, isVerified } = store.recipient(user);
    return {
      enabled: found !== null,
      available: isAvailable,
      email,
      verified: isVerified,
      sent: timestampOrNull(found?.sent ?? null),
      error: found?.error ?? null,
    };
  };
  return guardedRoutes("reminders", "administration", accounts)
    .get(OWN, ({ actor }) => show(actor.user), {
      signedIn: true,
      ...answers("Show your reminders", { 200: State }, 401),
    })
    .put(
      OWN,
      ({ actor, body: { enabled } }) => {
        if (!enabled) store.disable(actor.user);
        else if (!isAvailable) throw new Problem("conflict", `${NO_SERVER} Ask an administrator.`);
        else if (store.recipient(actor.user).email === "") throw new Problem("conflict", NO_ADDRESS);
        else store.enable(actor.user, clock.now());
        return show(actor.user);
      },
      {
        signedIn: true,
        parse: "jsonBody",
        body: Change,
        ...answers(CHANGE, { 200: State }, 400, 401, 403, 409),
      },
    )
    .post(VERIFICATION, async ({ actor }) => ({ email: await sender.sendVerification(actor.user) }), {
      signedIn: true,
      ...answers(SEND_LINK, { 200: Sent }, 401, 403, 409, 429),
    })
    .post(
      `${VERIFICATION}/confirm`,
      ({ request, body: { key } }) => {
        accounts.sessions.requireSameOrigin(request);
        const { user, email } = accounts.verifyEmail(key);
        store.postpone(user, clock.now());
        return { email };
      },
      { parse: "jsonBody", body: Key, ...answers(VERIFY, { 200: Verified }, 400, 403, 404) },
    )
    .post(TEST, async ({ actor }) => ({ email: await sender.sendTest(actor.user) }), {
      administrator: true,
      ...answers(SEND_TEST, { 200: Sent }, 401, 403, 409),
    });
}
