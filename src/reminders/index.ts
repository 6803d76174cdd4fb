import type { Accounts } from "../accounts/accounts.ts";
import { makeGuards } from "../accounts/guards.ts";
import type { Reminders } from "../inventory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { mount } from "../platform/mount.ts";
import type { Database } from "../platform/sqlite.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { reminderOperations } from "./reminder-routes.ts";
import { ReminderSender } from "./sender.ts";
import { parseSmtpUrl, sendEmail } from "./smtp.ts";
import { SubscriptionStore } from "./store.ts";

export { parseSmtpUrl } from "./smtp.ts";

export interface ReminderOptions {
  database: Database;
  clock: Clock;
  log: Log;
  accounts: Accounts;
  reminders: Reminders;
  /** The setting smtp_url; empty without a mail server. */
  smtpUrl: string;
  /** The setting ca_file. */
  caFile: string;
  /** URL of the service without /api/, for links. */
  base: string;
  /** Milliseconds that closing waits for an e-mail that is being sent. */
  closeTimeout?: number;
}

/** Reminders by e-mail. Nothing is sent until `sender` is started. @throws Problem invalid_setting */
export function openReminders(options: ReminderOptions) {
  const { database, clock, accounts, smtpUrl, caFile } = options;
  const server = smtpUrl === "" ? undefined : parseSmtpUrl(smtpUrl, caFile);
  const store = new SubscriptionStore(database);
  const sender = new ReminderSender({
    ...options,
    store,
    send: server && ((email) => sendEmail(server, email)),
    waitUntilWritable: () => getWriteLock(database).free(),
  });
  const routes = mount(reminderOperations, {
    tag: "administration",
    guards: makeGuards(accounts),
    dependencies: { accounts, store, sender, isAvailable: server !== undefined, clock },
  });
  return { routes, sender, store };
}
