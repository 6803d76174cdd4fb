import jobs from "./0001-jobs.sql" with { type: "text" };
import accounts from "./0002-accounts.sql" with { type: "text" };
import inventory from "./0003-inventory.sql" with { type: "text" };
import stocks from "./0004-stocks.sql" with { type: "text" };
import parts from "./0005-parts.sql" with { type: "text" };
import imports from "./0006-imports.sql" with { type: "text" };
import savedViews from "./0008-saved-views.sql" with { type: "text" };
import stocktakes from "./0011-stocktakes.sql" with { type: "text" };
import oneTimeLinks from "./0012-one-time-links.sql" with { type: "text" };
import audit from "./0013-audit.sql" with { type: "text" };
import stockTrigrams from "./0015-stock-trigrams.sql" with { type: "text" };
import coveringIndexes from "./0016-covering-indexes.sql" with { type: "text" };
import webhooks from "./0017-webhooks.sql" with { type: "text" };
import externalIdentities from "./0018-external-identities.sql" with { type: "text" };
import webhookSecrets from "./0021-webhook-secrets.sql" with { type: "text" };
import suspendedIdentities from "./0019-suspended-identities.sql" with { type: "text" };
import secondFactors from "./0020-second-factors.sql" with { type: "text" };
import sessionProofs from "./0024-session-proofs.sql" with { type: "text" };
import sealedWebhookSecrets from "./0026-sealed-webhook-secrets.sql" with { type: "text" };
import farm from "./0022-farm.sql" with { type: "text" };
import packedPredictions from "./0028-packed-predictions.sql" with { type: "text" };

/** The migrations in order, embedded as text: forward only, never edited once released. */
export const MIGRATIONS: readonly { name: string; sql: string }[] = [
  { name: "0001-jobs.sql", sql: jobs },
  { name: "0002-accounts.sql", sql: accounts },
  { name: "0003-inventory.sql", sql: inventory },
  { name: "0004-stocks.sql", sql: stocks },
  { name: "0005-parts.sql", sql: parts },
  { name: "0006-imports.sql", sql: imports },
  { name: "0008-saved-views.sql", sql: savedViews },
  { name: "0011-stocktakes.sql", sql: stocktakes },
  { name: "0012-one-time-links.sql", sql: oneTimeLinks },
  { name: "0013-audit.sql", sql: audit },
  { name: "0015-stock-trigrams.sql", sql: stockTrigrams },
  { name: "0016-covering-indexes.sql", sql: coveringIndexes },
  { name: "0017-webhooks.sql", sql: webhooks },
  { name: "0018-external-identities.sql", sql: externalIdentities },
  { name: "0019-suspended-identities.sql", sql: suspendedIdentities },
  { name: "0020-second-factors.sql", sql: secondFactors },
  { name: "0021-webhook-secrets.sql", sql: webhookSecrets },
  { name: "0022-farm.sql", sql: farm },
  { name: "0024-session-proofs.sql", sql: sessionProofs },
  { name: "0026-sealed-webhook-secrets.sql", sql: sealedWebhookSecrets },
  { name: "0028-packed-predictions.sql", sql: packedPredictions },
];
