import { join } from "node:path";
import type { Config } from "../config.ts";
import { recordEvents, reminders } from "../inventory/index.ts";
import { jobCompletions } from "../scoring/index.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { type Log, openLog } from "../platform/log.ts";
import { SECOND_FACTOR_KEY } from "../accounts/second-factor.ts";
import type { Database } from "../platform/sqlite.ts";
import { VERSION } from "../version.ts";
import { openWebhooks, type Webhooks } from "../webhooks/index.ts";

const silent = openLog("off", () => {}, systemClock.now);

/** The webhooks of a database. Nothing is delivered until the deliverer is started. */
export function prepareWebhooks(
  { database, accounts }: { database: Database; accounts: Accounts },
  config: Config,
  { clock = systemClock, log = silent }: { clock?: Clock; log?: Log } = {},
): Webhooks {
  const base = config.public_url;
  return openWebhooks({
    database,
    clock,
    log,
    sources: {
      records: recordEvents(database, clock, base),
      jobs: jobCompletions(database),
      reminders: reminders(database, clock, base),
    },
    accounts,
    allow: config.webhook_allow,
    plain: config.webhook_allow !== "",
    base,
    version: VERSION,
    keyFile: join(config.data_dir, SECOND_FACTOR_KEY),
  });
}
