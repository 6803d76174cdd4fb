import { Accounts } from "../../accounts/accounts.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import type { RowsRequest } from "../records/row-index.ts";
import { openStore, type Store } from "../records/store.ts";
import { type Handler, heavyHandlers } from "./mount-operations.ts";
import { attachmentOperations } from "./route-attachments.ts";
import { historyOperations } from "./route-history.ts";
import { labelOperations } from "./route-labels.ts";
import { labidOperations } from "./route-labid.ts";
import { peopleOperations } from "./route-people.ts";
import { recordOperations } from "./route-records.ts";
import { relationOperations } from "./route-relations.ts";
import { searchAllOperation } from "./route-search.ts";
import { rackOperations } from "./route-rack.ts";
import { slotOperations } from "./route-slots.ts";
import { stockOperations } from "./route-stock.ts";
import { orderOperations } from "./route-orders.ts";
import { storageOperations } from "./route-storage.ts";
import { sharingOperations } from "./route-sharing.ts";
import { stocktakeOperations } from "./route-stocktakes.ts";
import { subResourceOperations } from "./route-sub-resources.ts";
import { unitOperations } from "./route-units.ts";

export const MAX_MESSAGE_BYTES = 10_000_000;

/** The operations that may be heavy. */
export const listStoreOperations = (store: Store, accounts: Accounts) => [
  ...recordOperations(),
  ...subResourceOperations(store),
  ...attachmentOperations(store),
  ...historyOperations(),
  ...sharingOperations(),
  ...relationOperations(),
  searchAllOperation(),
  ...slotOperations(),
  ...rackOperations(),
  ...stockOperations(),
  ...orderOperations(),
  ...storageOperations(),
  ...unitOperations(),
  ...labelOperations(),
  ...stocktakeOperations(),
  ...labidOperations(),
  ...peopleOperations(store, accounts),
];

/** The handler of a heavy operation, for a process that answers them. */
export function heavyOperations(database: Database, clock: Clock): (name: string) => Handler {
  const store = openStore(database, clock);
  const readRows: Handler = ({ query }) =>
    new Response(store.reader.readRows(query as unknown as RowsRequest).slice());
  let handlers: Map<string, Handler> | undefined;
  return (name) => {
    if (name === READ_ROWS) return readRows;
    // Declaring all operations takes as long as starting the process.
    handlers ??= heavyHandlers(listStoreOperations(store, new Accounts(database, clock)));
    return handlers.get(name)!;
  };
}

/** Reads rows for the caches of lists. */
export const READ_ROWS = "read rows";
