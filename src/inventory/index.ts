import { explain as explainIn } from "./model/explain.ts";
import { DECLARED, type RoutedResource } from "./resources/index.ts";

/** The inventory's face towards the rest of the program. */
export { makeLinkFinder } from "./api/links.ts";
export { inventoryAliases, inventoryRoutes } from "./api/route.ts";
export { prepareSearch } from "./api/route-search.ts";
export { REQUEST_PROCESS } from "./api/remote-request.ts";
export { RequestPool } from "./api/request-pool.ts";
export { makeNouns } from "./model/schema.ts";
export { EXPIRING_DAYS } from "./resources/stock-views.ts";
export { LISTS, listTitle } from "./resources/lists.ts";
export { PEOPLE, RESOURCES, type RoutedResource } from "./resources/index.ts";
export { recordEvents, type RecordEvents, type RecordFilter } from "./records/record-events.ts";
export { type DueList, type DueStock, reminders, type Reminders } from "./records/reminders.ts";
export type { ImportReport } from "./imports/import-report.ts";
export { Imports } from "./imports/imports.ts";
export { importTasks } from "./imports/import-tasks.ts";
export { type Memberships, openMemberships } from "./records/memberships.ts";
export { findUnit, formatAmount, UNITS } from "./model/unit.ts";
export { loadInventory, SYSTEM_USER } from "./records/sample.ts";
export type { InventorySample, RecordSample } from "./records/sample.ts";

/** Explains a compiled resource to people: fields with columns, parameters, SQL of a plain list. */
export const explain = (resource: RoutedResource): string => explainIn(DECLARED, resource);
