import { isFileFormat, type Listing, parseExplain, parseListing } from "../model/listing.ts";
import type { Sql } from "../model/operator.ts";
import { plan, visibleOnly } from "../model/plan.ts";
import { countStatement, pageStatement } from "../model/sql.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Call } from "./call.ts";
import { isFiltered } from "./write-records.ts";

/** Slow requests are recognized by their parameters and by SQLite's query plans, without running them. */

/** Records that a response to a light request may hold. */
const PAGE = 200;
/** A table so small that its whole content is light. */
const SMALL_TABLE = 500;
/** Rows times arguments up to which a scan of the table is light: some 20 ms. */
const SCAN = 20_000;
/** Arguments above which not even an index makes a condition light. */
const ARGUMENTS = 60;
/** Rows of a table that a request reads as a whole. */
const LARGE_TABLE = 5000;
/** Characters of a short filter. */
const FILTER = 50;
const MAX_PLANS = 1000;

/** Parameters that neither filter nor order. */
const LIGHT_PARAMETERS = new Set(["page", "page_size", "format", "fields", "response_format", "strict"]);

/** A step of a query plan that visits the list, `t`. */
const VISITS = /^(SEARCH|SCAN) t\b/;
/** A list that visits few rows: by an index on a selective value. */
const SELECTS =
  /^SEARCH t USING (INTEGER PRIMARY KEY|(COVERING )?INDEX \S+ \((?!(kind=\?)?( AND )?(deleted=\?)?( AND public=\?)?\)))/;
/**
 * Steps that take long for every row of a large table: reading it instead of an index, sorting, and reading other tables than
 * that of grants.
 */
const IS_SLOW_STEP = /^(SEARCH|SCAN) t\b(?! USING COVERING)|TEMP B-TREE FOR ORDER BY|\bt_(?!grants\b)/;

/** Bytes of a body that holds or names at most some hundred records. */
const SMALL_BODY = 20_000;
/** Changes of a batch that is undone. */
const SMALL_BATCH = 100;

const plans = new Map<string, boolean>();

/** Reads of the past, explanations of queries, and archives, whose files are compressed. */
export const isHeavyRead = ({ url: { searchParams } }: Call): boolean =>
  searchParams.has("as_of") ||
  parseExplain(searchParams) !== undefined ||
  searchParams.get("format") === "eln";

/**
 * True if a list is heavy; a promise if it will be light once what it needs is in memory, which is being read.
 * @throws Problem for parameters that the list would refuse, too
 */
export function isHeavyList(call: Call, resource: RoutedResource): boolean | Promise<boolean> {
  const { actor, store, url } = call;
  if (url.search === "") return false;
  if (isHeavyRead(call)) return true;
  const { resources, reader } = store;
  const listing = parseListing(resources, resource, url.searchParams, actor);
  const rows = countRows(call, resource.table);
  if (isLong(call, listing, rows)) return true;
  if (url.searchParams.keys().every((name) => LIGHT_PARAMETERS.has(name))) return false;
  const condition = visibleOnly(resource, actor, listing.condition);
  const newPlan = () => plan(resources, resource, actor);
  const count = countStatement(resource, condition, newPlan());
  if (rows * (count.args.length + 1) <= SCAN) return false;
  if (count.args.length > ARGUMENTS) return true;
  const page = pageStatement(resource, condition, listing.order, newPlan(), { limit: 1, offset: 0 });
  const scans = (statement: Sql): boolean => isScan(call, statement);
  if (![count, page].some(scans)) return false;
  const missing = () => reader.missing(resource, listing, actor, scans);
  const reading = missing();
  if (!reading?.length) return !reading;
  return isHeavyAfter(reading, missing).catch(() => true);
}

/** Waits for the rows that are being read, then for their order. Concurrent writes can make it heavy after all. */
async function isHeavyAfter(
  reading: Promise<void>[],
  missing: () => Promise<void>[] | undefined,
): Promise<boolean> {
  await Promise.all(reading);
  await Promise.all(missing() ?? []);
  return missing()?.length !== 0;
}

/** True if the response holds many records. */
function isLong({ url }: Call, { format, size }: Listing, rows: number): boolean {
  const isFile = isFileFormat(format);
  const isPaged = url.searchParams.has("page") || url.searchParams.has("page_size");
  const maxRows = size === "max" || (isFile && !isPaged) ? rows : Math.min(size, rows);
  return maxRows > SMALL_TABLE || (maxRows > PAGE && rows > SMALL_TABLE);
}

/** Estimated time of a request that reads the whole table; long filters take longer for each row. */
export const isLarge = (call: Call, table: string): boolean =>
  countRows(call, table) * (1 + Math.floor(call.url.search.length / FILTER)) > LARGE_TABLE;

/** Upper bound on the rows, without counting them. */
const countRows = ({ store: { statements } }: Call, table: string): number =>
  Number(statements.get({ text: `SELECT max(rid) AS rows FROM ${table}`, args: [] })?.rows);

function isScan({ store: { statements } }: Call, { text, args }: Sql): boolean {
  let known = plans.get(text);
  if (known === undefined) {
    const steps = statements
      .all({ text: `EXPLAIN QUERY PLAN ${text}`, args })
      .map(({ detail }) => String(detail));
    // The trigram index and conditions on annotations find either few rows or all rows.
    known =
      steps.some((step) => /\bt_(annotations|a\d+)\b/.test(step)) ||
      steps.some((step) => step.includes("VIRTUAL TABLE")) ||
      (!steps.filter((step) => VISITS.test(step)).every((step) => SELECTS.test(step)) &&
        steps.some((step) => IS_SLOW_STEP.test(step)));
    if (plans.size >= MAX_PLANS) plans.clear();
    plans.set(text, known);
  }
  return known;
}

/** A write of records that filters select, or of many. */
export const isHeavyWrite = ({ url }: Call, sent: Uint8Array): boolean =>
  isFiltered(url.searchParams) ||
  sent.byteLength + url.search.length > SMALL_BODY ||
  Buffer.from(sent).includes('"filters"');

/** A write of the body's records. */
export const hasLargeBody = (sent: Uint8Array): boolean => sent.byteLength > SMALL_BODY;

export function isLargeBatch({ store: { statements } }: Call, id: string): boolean {
  const text =
    "SELECT 1 AS more FROM record_change WHERE batch = (SELECT rid FROM record_batch WHERE id = ?) LIMIT 1 OFFSET ?";
  return statements.get({ text, args: [id.toLowerCase(), SMALL_BATCH] }) !== null;
}
