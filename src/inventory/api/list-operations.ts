import type { Json } from "../model/field.ts";
import type { addImports } from "./route-imports.ts";
import type { addHistory } from "./route-history.ts";
import type { addLabels, addScan } from "./route-labels.ts";
import type { addRelations } from "./route-relations.ts";
import type { addSampleData } from "./route-sample.ts";
import type { addSearchOfAll } from "./route-search.ts";
import type { addSignIn, addTokens } from "./route-session.ts";
import type { addSharing } from "./route-sharing.ts";
import type { addSlots } from "./route-slots.ts";
import type { addStock } from "./route-stock.ts";
import type { addStocktakes } from "./route-stocktakes.ts";
import type { addStorage } from "./route-storage.ts";

/** The types of the operations of the inventory, for pages. Nothing here exists at run time. */

/** A record in JSON. Its fields depend on the list; OPTIONS of the list describes them. */
export interface JsonRecord {
  id: string;
  [field: string]: unknown;
}

/** One page of a list. */
export interface RecordPage<Row = JsonRecord> {
  previous: string | null;
  next: string | null;
  current: number;
  total: number;
  total_pages: number;
  results: Row[];
}

interface Parameters {
  [parameter: string]: string | number | boolean | null | undefined | readonly string[];
}
interface ListCall<Body, Answer> {
  params: { list: string };
  query: Parameters;
  body: Body;
  answer: Answer;
}
interface RecordCall<Body, Answer> {
  params: { list: string; id: string };
  query: Parameters;
  body: Body;
  answer: Answer;
}
interface PartCall<Body, Answer> {
  params: { list: string; id: string; part: string };
  query: Parameters;
  body: Body;
  answer: Answer;
}
interface OnePartCall<Body, Answer> {
  params: { list: string; id: string; part: string; sub_id: string };
  query: Parameters;
  body: Body;
  answer: Answer;
}
interface Fields {
  [field: string]: Json | undefined;
}

/**
 * Operations that all lists have: `list` is the address of the list, such as `stocks/consumables` or `users`; `part` is
 * that of a sub-resource, such as `notes`. Their declarations depend on the list, so the types are those of all records.
 */
export interface ListOperations {
  "GET /api/v2/:list/": ListCall<undefined, RecordPage>;
  "OPTIONS /api/v2/:list/": ListCall<undefined, { [name: string]: unknown }>;
  "POST /api/v2/:list/": ListCall<Fields | readonly Fields[], JsonRecord>;
  "PATCH /api/v2/:list/": ListCall<Fields | readonly Fields[], JsonRecord[]>;
  "POST /api/v2/:list/search/": ListCall<Fields, RecordPage>;
  "POST /api/v2/:list/bulk_delete/": ListCall<Fields | undefined, { [name: string]: unknown }>;
  "DELETE /api/v2/:list/bulk_delete/": ListCall<undefined, { [name: string]: unknown }>;
  "GET /api/v2/:list/:id/": RecordCall<undefined, JsonRecord>;
  "PUT /api/v2/:list/:id/": RecordCall<Fields, JsonRecord>;
  "PATCH /api/v2/:list/:id/": RecordCall<Fields, JsonRecord>;
  "DELETE /api/v2/:list/:id/": RecordCall<undefined, undefined>;
  "GET /api/v2/:list/:id/history/": RecordCall<undefined, RecordPage>;
  "POST /api/v2/:list/:id/restore/": RecordCall<Fields | undefined, JsonRecord>;
  "POST /api/v2/:list/:id/purge/": RecordCall<undefined, undefined>;
  "GET /api/v2/:list/:id/:part/": PartCall<undefined, RecordPage>;
  "POST /api/v2/:list/:id/:part/": PartCall<Fields, JsonRecord>;
  "PUT /api/v2/:list/:id/:part/:sub_id/": OnePartCall<Fields, JsonRecord>;
  "PATCH /api/v2/:list/:id/:part/:sub_id/": OnePartCall<Fields, JsonRecord>;
  "DELETE /api/v2/:list/:id/:part/:sub_id/": OnePartCall<undefined, undefined>;
}

/** The union of the operations that the functions below add. */
type Each = ReturnType<
  | typeof addHistory
  | typeof addImports
  | typeof addLabels
  | typeof addRelations
  | typeof addSampleData
  | typeof addScan
  | typeof addSearchOfAll
  | typeof addSharing
  | typeof addSignIn
  | typeof addSlots
  | typeof addStock
  | typeof addStocktakes
  | typeof addStorage
  | typeof addTokens
>[number];
type Declared = NonNullable<Each["declared"]>;

/** By method and path. An operation that several lists have is declared once for all of them. */
export type InventoryOperations = {
  [One in Declared as One["key"]]: One["types"];
} & ListOperations;
