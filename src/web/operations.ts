import type { InventoryOperations } from "../inventory/api/list-operations.ts";
import type { accountOperations } from "../accounts/account-routes.ts";
import type { assistantOperations } from "../assistants/route.ts";
import type { auditOperations } from "../accounts/audit-routes.ts";
import type { identityOperations } from "../accounts/identity-routes.ts";
import type { secondFactorOperations } from "../accounts/second-factor-routes.ts";
import type { administrationOperations } from "../operations/administration/administration-routes.ts";
import type { reminderOperations } from "../reminders/reminder-routes.ts";
import type { batchOperations } from "../scoring/api/batch-operations.ts";
import type { classOperations } from "../scoring/api/class-routes.ts";
import type { comparisonOperations } from "../scoring/api/comparison-routes.ts";
import type { jobOperations, referenceOperations } from "../scoring/api/json-routes.ts";
import type { modelOperations } from "../scoring/api/model-routes.ts";
import type { proteinOperations } from "../scoring/api/protein-routes.ts";
import type { proteomeOperations } from "../scoring/api/proteome-routes.ts";
import type { resultOperations } from "../scoring/api/result-routes.ts";
import type { watchedOperations } from "../scoring/api/watched-routes.ts";
import type { taskOperations } from "../tasks/task-operations.ts";
import type { webhookOperations } from "../webhooks/route.ts";

/** The declared operations of the server. */
type Declared = (
  | typeof accountOperations
  | typeof administrationOperations
  | typeof auditOperations
  | typeof batchOperations
  | typeof classOperations
  | typeof comparisonOperations
  | typeof identityOperations
  | typeof jobOperations
  | typeof modelOperations
  | typeof assistantOperations
  | typeof proteinOperations
  | typeof proteomeOperations
  | typeof referenceOperations
  | typeof reminderOperations
  | typeof resultOperations
  | typeof secondFactorOperations
  | typeof taskOperations
  | typeof watchedOperations
  | typeof webhookOperations
)[number];

/** The types of requests and responses, by method and path, from the server's declarations. */
export type Operations = {
  [Each in Declared as Each["key"]]: NonNullable<Each["types"]>;
} & InventoryOperations;
