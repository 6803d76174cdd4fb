import { type Static, Type } from "typebox";
import type { Accounts } from "../accounts/accounts.ts";
import { type Clock, timestampOrNull } from "../platform/clock.ts";
import { operation } from "../platform/operation.ts";
import { answerSchema, bodySchema, nullable } from "../platform/schema.ts";
import { Problem } from "../problem.ts";
import { NO_ADDRESS, NO_SERVER, type ReminderSender } from "./sender.ts";
import type { SubscriptionStore } from "./store.ts";

const State = answerSchema(
  "Whether you get reminders by e-mail.",
  {
    enabled: Type.Boolean(),
    available: Type.Boolean({ description: "Whether the server can send e-mail (setting smtp_url)." }),
    email: Type.String({ description: "E-mail address of your account; empty without one." }),
    verified: Type.Boolean({
      description: "Whether the address is verified; reminders go to verified addresses only.",
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

interface ReminderParts {
  accounts: Accounts;
  store: SubscriptionStore;
  sender: ReminderSender;
  /** True if there is a mail server. */
  isAvailable: boolean;
  clock: Clock;
}

/** Reminders by e-mail: each person switches them on; administrators test the mail server. */
export const reminderOperations = [
  operation("GET /api/account/reminders", {
    access: "signedIn",
    summary: "Show your reminders",
    returns: State,
    run: ({ caller }, parts: ReminderParts) => showReminders(parts, caller.user),
  }),
  operation("PUT /api/account/reminders", {
    access: "signedIn",
    summary: "Change your reminders",
    description:
      "An e-mail a day, if stock of yours or of your groups expires within 30 days or is below its minimum.",
    body: Change,
    returns: State,
    errors: [409],
    run({ caller: { user }, body: { enabled } }, parts: ReminderParts) {
      const { store, isAvailable, clock } = parts;
      if (!enabled) store.disable(user);
      else if (!isAvailable) throw new Problem("conflict", `${NO_SERVER} Ask an administrator.`);
      else if (store.recipient(user).email === "") throw new Problem("conflict", NO_ADDRESS);
      else store.enable(user, clock.now());
      return showReminders(parts, user);
    },
  }),
  operation("POST /api/account/reminders/verification", {
    access: "signedIn",
    summary: "Send a verification link",
    description: "The link works once within 72 hours, and replaces earlier ones.",
    returns: Sent,
    errors: [409, 429],
    run: async ({ caller }, { sender }: ReminderParts) => ({
      email: await sender.sendVerification(caller.user),
    }),
  }),
  operation("POST /api/account/reminders/verification/confirm", {
    access: "withoutCredentials",
    summary: "Verify your address",
    description: "Takes the `key` of the link, which is valid for one account.",
    body: Key,
    returns: Verified,
    errors: [404],
    run({ request, body: { key } }, { accounts, store, clock }: ReminderParts) {
      accounts.sessions.requireSameOrigin(request);
      const { user, email } = accounts.verifyEmail(key);
      store.postpone(user, clock.now());
      return { email };
    },
  }),
  operation("POST /api/admin/reminders/test", {
    access: "administrator",
    summary: "Send a test message",
    description:
      "Sends an e-mail to the address of your account, by the mail server of the setting smtp_url.",
    returns: Sent,
    errors: [409],
    run: async ({ caller }, { sender }: ReminderParts) => ({ email: await sender.sendTest(caller.user) }),
  }),
];

function showReminders({ store, isAvailable }: ReminderParts, user: number): Static<typeof State> {
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
}
