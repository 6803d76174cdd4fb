import { Accounts } from "../../accounts/accounts.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import type { RowsRequest } from "../records/row-index.ts";
import { openStore, type Store } from "../records/store.ts";
import { Api } from "./api.ts";
import type { Run } from "./operation.ts";
import { addAttachments } from "./route-attachments.ts";
import { addHistory } from "./route-history.ts";
import { addLabels } from "./route-labels.ts";
import { addLabid } from "./route-labid.ts";
import { addPeople } from "./route-people.ts";
import { addRecords } from "./route-records.ts";
import { addRelations } from "./route-relations.ts";
import { addSearchOfAll } from "./route-search.ts";
import { addSlots } from "./route-slots.ts";
import { addStock } from "./route-stock.ts";
import { addStorage } from "./route-storage.ts";
import { addSharing } from "./route-sharing.ts";
import { addStocktakes } from "./route-stocktakes.ts";
import { addSubResources } from "./route-sub-resources.ts";

export const MAX_MESSAGE_BYTES = 10_000_000;

/** All that may be heavy. */
export function addRecordOperations(api: Api, store: Store, accounts: Accounts): void {
  addRecords(api);
  addSubResources(api, store);
  addAttachments(api, store);
  addHistory(api);
  addSharing(api);
  addRelations(api);
  addSearchOfAll(api);
  addSlots(api);
  addStock(api);
  addStorage(api);
  addLabels(api);
  addStocktakes(api);
  addLabid(api);
  addPeople(api, store, accounts);
}

/** The handler of a heavy operation, for a process that answers them. */
export function heavyOperations(database: Database, clock: Clock): (name: string) => Run {
  const refuseDirectCall = () => {
    throw new Error("The server starts the connections.");
  };
  const store = openStore(database, clock);
  const readRows: Run = ({ query }) =>
    new Response(store.reader.readRows(query as unknown as RowsRequest).slice());
  let api: Api | undefined;
  return (name) => {
    if (name === READ_ROWS) return readRows;
    // Declaring all operations takes as long as starting the process.
    if (!api) {
      api = new Api(refuseDirectCall, MAX_MESSAGE_BYTES);
      addRecordOperations(api, store, new Accounts(database, clock));
    }
    return api.heavy.get(name)!;
  };
}

/** Reads rows for the caches of lists. */
export const READ_ROWS = "read rows";
