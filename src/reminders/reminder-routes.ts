import { Type } from "typebox";
import type { Accounts } from "../accounts/accounts.ts";
import { answers, answerSchema, bodySchema, timestampOrNull } from "../accounts/responses.ts";
import { guardedRoutes } from "../accounts/route-guards.ts";
import type { Clock } from "../platform/clock.ts";
import { nullable } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import { NO_SERVER, type ReminderSender } from "./sender.ts";
import type { SubscriptionStore } from "./store.ts";

const OWN = "/api/account/reminders";
const TEST = "/api/admin/reminders/test";

const State = answerSchema(
  "Whether you get reminders by e-mail.",
  {
    enabled: Type.Boolean(),
    available: Type.Boolean({ description: "Whether the server can send e-mail (setting smtp_url)." }),
    email: Type.String({ description: "Address of your account; empty if it has none." }),
    sent: nullable(Type.String(), { description: "Time of the last e-mail." }),
    error: nullable(Type.String(), { description: "Why the last e-mail was not sent." }),
  },
  "Reminders",
);
const Change = bodySchema({ enabled: Type.Boolean() });
const Tested = answerSchema("The address to which it was sent.", { email: Type.String() });

const CHANGE = {
  summary: "Change your reminders",
  description:
    "An e-mail a day, if stock of yours or of your groups expires within 30 days or is below its minimum.",
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
    return {
      enabled: found !== null,
      available: isAvailable,
      email: store.emailOf(user).email,
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
        else if (store.emailOf(actor.user).email === "")
          throw new Problem("conflict", "Your account has no e-mail address. Add one in your profile.");
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
    .post(TEST, async ({ actor }) => ({ email: await sender.sendTest(actor.user) }), {
      administrator: true,
      ...answers(SEND_TEST, { 200: Tested }, 401, 403, 409),
    });
}
