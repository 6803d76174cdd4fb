import type { reminderOperations } from "../reminders/reminder-routes.ts";
import type { webhookOperations } from "../webhooks/route.ts";

/** The declared operations of the server. */
type Declared = (typeof reminderOperations | typeof webhookOperations)[number];

/** What pages send to operations and get from them, by method and path: the types of the server's declarations. */
export type Operations = { [Each in Declared as Each["key"]]: NonNullable<Each["types"]> };
