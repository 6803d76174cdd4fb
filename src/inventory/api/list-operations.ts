import type { attachmentOperations } from "./route-attachments.ts";
import type { historyOperations } from "./route-history.ts";
import type { importOperations } from "./route-imports.ts";
import type { labelOperations, scanOperation } from "./route-labels.ts";
import type { orderOperations } from "./route-orders.ts";
import type { recordOperations } from "./route-records.ts";
import type { relationOperations } from "./route-relations.ts";
import type { sampleOperation } from "./route-sample.ts";
import type { searchAllOperation } from "./route-search.ts";
import type { signInOperations, tokenOperations } from "./route-session.ts";
import type { sharingOperations } from "./route-sharing.ts";
import type { rackOperations } from "./route-rack.ts";
import type { slotOperations } from "./route-slots.ts";
import type { stockOperations } from "./route-stock.ts";
import type { stocktakeOperations } from "./route-stocktakes.ts";
import type { storageOperations } from "./route-storage.ts";
import type { subResourceOperations } from "./route-sub-resources.ts";
import type { unitOperations } from "./route-units.ts";

export type { JsonRecord, RecordPage } from "../model/record-schema.ts";
export type { SentFields } from "../model/schema.ts";

/** The union of the operations that the functions below declare. Nothing here exists at run time. */
type Declared =
  | ReturnType<
      | typeof attachmentOperations
      | typeof historyOperations
      | typeof importOperations
      | typeof labelOperations
      | typeof orderOperations
      | typeof recordOperations
      | typeof relationOperations
      | typeof sharingOperations
      | typeof signInOperations
      | typeof rackOperations
      | typeof slotOperations
      | typeof stockOperations
      | typeof stocktakeOperations
      | typeof storageOperations
      | typeof subResourceOperations
      | typeof tokenOperations
      | typeof unitOperations
    >[number]
  | ReturnType<typeof sampleOperation | typeof scanOperation | typeof searchAllOperation>;

/**
 * The types of the inventory's operations for pages, by method and path. `:list` is the address of a list, such as
 * `stocks/consumables`, and `:part` that of a sub-resource, such as `notes`.
 */
export type InventoryOperations = { [Each in Declared as Each["key"]]: NonNullable<Each["types"]> };
