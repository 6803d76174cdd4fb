import type { AnyElysia } from "elysia";
import type { Actor } from "../model/access.ts";
import { openStore } from "../records/store.ts";
import { Imports } from "../imports/imports.ts";
import { openAnonymousCall, openCall } from "./call.ts";
import { Api } from "./operation-plugin.ts";
import { addAttachments } from "./route-attachments.ts";
import { addHistory } from "./route-history.ts";
import { addImports } from "./route-imports.ts";
import { addLabels, addScan } from "./route-labels.ts";
import { addPeople } from "./route-people.ts";
import { addRecords } from "./route-records.ts";
import { addRelations } from "./route-relations.ts";
import { addSignIn, addTokens } from "./route-session.ts";
import { addSharing } from "./route-sharing.ts";
import { addStocktakes } from "./route-stocktakes.ts";
import { addSubResources } from "./route-sub-resources.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

export interface InventoryOptions {
  database: Database;
  clock: Clock;
  accounts: Accounts;
  /** Whether callers without credentials may read public records. */
  anonymousRead: boolean;
  /** Maximum size of a body in bytes. */
  maxMessageBytes?: number;
  /** Closed by their owner. */
  imports?: Imports;
}

const MAX_MESSAGE_BYTES = 10_000_000;

/** The REST API below /api/v2/. Handlers throw Problems. */
export function inventoryRoutes(given: InventoryOptions): AnyElysia[] {
  const { database, clock, accounts, anonymousRead, ...options } = given;
  const maxBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  const store = openStore(database, clock);
  const shared = { store, maxBytes };
  const authenticate = (request: Request): Actor => accounts.authenticate(request);
  const api = new Api(
    (request, context) => openCall({ ...shared, authenticate, anonymousRead }, request, context),
    maxBytes,
  );
  addRecords(api);
  addImports(api, options.imports ?? new Imports(database, clock));
  addAttachments(api, store);
  addSubResources(api, store);
  addHistory(api);
  addSharing(api);
  addRelations(api);
  addLabels(api);
  addScan(api);
  addStocktakes(api);
  addTokens(api, accounts);
  addPeople(api, store, accounts);
  // Signing in takes no credentials, not even invalid ones.
  const open = new Api((request, context) => openAnonymousCall(shared, request, context), maxBytes);
  addSignIn(open, store, accounts);
  return [api.plugin(), open.plugin()];
}
