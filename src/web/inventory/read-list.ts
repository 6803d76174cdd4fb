import type { RecordPage } from "../../inventory/api/list-operations.ts";
import { call } from "../request.ts";
import type { Change } from "./history.tsx";

/**
 * Reads of lists of the inventory. The members of a record depend on its list, which OPTIONS describes at run time, so
 * `Row` is the type of the fields that `query` asks for.
 */

type ListQuery = Parameters<typeof call<"GET /api/v2/:list/">>[1]["query"];

/** One page of a list. @throws ApiError */
export const readList = <Row extends object>(
  list: string,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<RecordPage<Row>> =>
  call("GET /api/v2/:list/", { params: { list }, query, signal }) as Promise<RecordPage<object>> as Promise<
    RecordPage<Row>
  >;

/** The number of records that pass these filters. @throws ApiError */
export const countRecords = async (list: string, filters: ListQuery, signal?: AbortSignal): Promise<number> =>
  (await readList(list, { ...filters, fields: "id", page_size: "1" }, signal)).total;

/** One record. @throws ApiError */
export const readOne = <Row extends object>(
  list: string,
  id: string,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<Row> =>
  call("GET /api/v2/:list/:id/", { params: { list, id }, query, signal }) as Promise<object> as Promise<Row>;

/** One record with these fields, without nested ones. @throws ApiError */
export const readFlat = async <Row extends object>(
  list: string,
  id: string,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<Row> =>
  (await readOne<{ results: Row }>(list, id, { ...query, response_format: "flat" }, signal)).results;

/** Recorded changes of a record, newest first. @throws ApiError */
export const readHistory = (
  list: string,
  id: string,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<RecordPage<Change>> =>
  call("GET /api/v2/:list/:id/history/", {
    params: { list, id },
    query,
    signal,
  }) as Promise<object> as Promise<RecordPage<Change>>;
