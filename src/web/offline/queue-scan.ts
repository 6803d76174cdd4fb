import { isUnreachable } from "../request.ts";
import { addChange, snapshot, worksOffline } from "./device.ts";
import type { StocktakeScan } from "./queue.ts";
import {
  findCode,
  findRecord,
  type KnownRecord,
  type KnownStocktake,
  locationsAround,
  type Snapshot,
} from "./snapshot.ts";

interface Scanned {
  person: string | undefined;
  stocktake: KnownStocktake;
  place: StocktakeScan["place"];
  code: string;
}

/**
 * Keeps a scan for later where the server could not be reached. @returns what the device knows of it, in the form of
 * the server's answer @throws the error of the request where the scan cannot be kept
 */
export async function queueScan({ person, stocktake, place, code }: Scanned, error: unknown) {
  const known = isUnreachable(error) && worksOffline() ? await snapshot() : undefined;
  if (!known || person === undefined) throw error;
  const matches = findCode(known, code);
  const record = matches.length === 1 ? matches[0] : null;
  await addChange(person, {
    kind: "scan",
    stocktake: { id: stocktake.id, name: stocktake.name },
    code,
    name: record?.name ?? null,
    place,
  });
  const verdict =
    record && isInside(known, record, stocktake.location) ? ("place" as const) : ("waiting" as const);
  return { results: [{ code, verdict, again: false, record, matches: record ? [] : matches }] };
}

/** Whether a record is the counted location, or a location inside it. */
const isInside = (known: Snapshot, record: KnownRecord, location: string): boolean =>
  record.segment === "locations" &&
  [record, ...locationsAround(known, record)].includes(findRecord(known, location)!);
