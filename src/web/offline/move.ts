import type { Movable } from "../inventory/box/slots.ts";
import type { Caller } from "../request.ts";
import type { Answer } from "./queue.ts";

/** Records put into a location or taken out of one, if they are still as they were seen. */
export interface Move {
  kind: "move";
  /** Null: out of their location. */
  location: { id: string; name: string } | null;
  /** One, or several that may exchange their positions. */
  records: readonly MovedRecord[];
}
export interface MovedRecord extends Movable {
  /** The destination; empty in a location without a grid. */
  position: string;
}

/** Stock that was used, taken out or put back. */
export interface StockChange {
  kind: "stock";
  action: "consume" | "take_out" | "put_back";
  records: readonly [Movable];
  body: { amount?: number; unit?: string; due_back?: string; taken_out_by?: string };
  /** Words for it, such as `Take out`. */
  text: string;
}

/** Sends the request that changes stock. The key makes one that arrives twice count once. */
export const requestStockChange = <Result>(
  { action, records: [{ segment, id }], body }: StockChange,
  key: string,
  call: Caller<Result>,
): Result =>
  call(`POST /api/v2/:list/:id/${action}/`, {
    params: { list: segment, id },
    body: body as never,
    headers: { "Idempotency-Key": key },
    query: { fields: "version", response_format: "flat" },
  });

/** Sends the request that makes a move. The key is for several records; for one, If-Match does the same. */
export function requestMove<Result>(
  { location, records }: Pick<Move, "location" | "records">,
  key: string,
  call: Caller<Result>,
): Result {
  const [{ segment, id, version, position }] = records;
  if (records.length === 1)
    return call("PATCH /api/v2/:list/:id/", {
      params: { list: segment, id },
      body: { location: location?.id ?? null, position },
      headers: { "If-Match": `"${version}"` },
      query: { fields: "version", response_format: "flat" },
    });
  const body = {
    records: records.map((record) => record.id),
    // A location without a grid has no positions.
    positions: position === "" ? undefined : records.map((record) => record.position),
    versions: records.map((record) => record.version),
  };
  return call("POST /api/v2/:list/:id/free_slots/", {
    params: { list: "locations", id: location!.id },
    body,
    headers: { "Idempotency-Key": key },
  });
}

/** The versions of the moved records, by their ids, in the server's answer. */
export function readVersions(
  { results }: Answer["body"],
  { records }: { records: readonly Movable[] },
): Versions {
  if (Array.isArray(results))
    return Object.fromEntries((results as MovedRecord[]).map(({ id, version }) => [id, version]));
  return { [records[0].id]: Number((results as { version: number }).version) };
}
export type Versions = Readonly<Record<string, number>>;

/** The move with the records in other versions. */
export const withVersions = <T extends { records: readonly Movable[] }>(move: T, versions: Versions): T => ({
  ...move,
  records: move.records.map((record) =>
    Object.assign({}, record, { version: versions[record.id] ?? record.version }),
  ),
});

/** A move in words. */
export function moveText({ location, records }: Move): string {
  const [{ name, position }, other] = records;
  if (other) return `Move ${records.length} records to ${location!.name}`;
  return location
    ? `Move ${name} to ${[location.name, position].filter(Boolean).join(", ")}`
    : `Take out ${name}`;
}
