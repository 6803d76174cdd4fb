import type { Accounts } from "../accounts/accounts.ts";
import type { Config } from "../config.ts";
import { reminders } from "../inventory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/sqlite.ts";
import { openReminders } from "../reminders/index.ts";

/** The reminders of a database. Nothing is sent until the sender is started. */
export const prepareReminders = (
  { database, accounts }: { database: Database; accounts: Accounts },
  { public_url: base, smtp_url: smtpUrl, ca_file: caFile }: Config,
  { clock, log }: { clock: Clock; log: Log },
) =>
  openReminders({
    database,
    clock,
    log,
    accounts,
    reminders: reminders(database, clock, base),
    smtpUrl,
    caFile,
    base,
  });
