import type { JsonRecord, RecordPage } from "../../inventory/api/list-operations.ts";
import { call, callForResponse, type CallOptions } from "../request.ts";
import type { Change } from "./history.tsx";

/** Reads of lists of the inventory, and of their sub-resources. */

type ListQuery = CallOptions<"GET /api/v2/:list/">["query"];

/**
 * Records as the caller knows them. The fields of a record depend on its list, which OPTIONS describes at run time, so
 * `Row` is the type of those that the query asked for.
 */
export const readRows = <Row extends object>(records: readonly object[]): Row[] => records as Row[];

/** One page of a list. @throws ApiError */
export async function readList<Row extends object>(
  list: string,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<RecordPage<Row>> {
  const { results, ...page } = await call("GET /api/v2/:list/", { params: { list }, query, signal });
  return { ...page, results: readRows(results) };
}

/** The number of records that pass these filters. @throws ApiError */
export const countRecords = async (list: string, filters: ListQuery, signal?: AbortSignal): Promise<number> =>
  (await readList(list, { ...filters, fields: "id", page_size: "1" }, signal)).total;

/** One record. @throws ApiError */
export async function readOne<Row extends object>(
  list: string,
  id: string,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<Row> {
  const record = await call("GET /api/v2/:list/:id/", { params: { list, id }, query, signal });
  return readRows<Row>([record])[0];
}

/** One record with these fields, without nested ones. @throws ApiError */
export const readFlat = async <Row extends object>(
  list: string,
  id: string,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<Row> =>
  (await readOne<{ results: Row }>(list, id, { ...query, response_format: "flat" }, signal)).results;

/** Recorded changes of a record, newest first. @throws ApiError */
export async function readHistory(
  list: string,
  id: string,
  query: CallOptions<"GET /api/v2/:list/:id/history/">["query"],
  signal?: AbortSignal,
): Promise<RecordPage<Change>> {
  const { results, ...page } = await call("GET /api/v2/:list/:id/history/", {
    params: { list, id },
    query,
    signal,
  });
  return { ...page, results: readRows(results) };
}

/** A record, and the address of its notes or annotations. */
interface Parts {
  list: string;
  id: string;
  part: string;
}

/** The notes or annotations of a record. @throws ApiError */
export const readParts = async <Row extends object = JsonRecord>(
  params: Parts,
  query: CallOptions<"GET /api/v2/:list/:id/:part/">["query"],
  signal?: AbortSignal,
): Promise<Row[]> =>
  readRows((await call("GET /api/v2/:list/:id/:part/", { params, query, signal })).results);

/** Deletes a note or an annotation. @throws ApiError */
export const deletePart = (params: Parts, id: string) =>
  callForResponse("DELETE /api/v2/:list/:id/:part/:sub_id/", { params: { ...params, sub_id: id } });
