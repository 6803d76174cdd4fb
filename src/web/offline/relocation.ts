import { freePositionsIn, readSlots, relocate } from "../inventory/box/slots.ts";
import { api } from "../inventory/declaration.ts";
import { get, isUnreachable } from "../request.ts";
import { addChange, keepMove, snapshot, waitingChanges, worksOffline } from "./device.ts";
import { findCode, freePositions } from "./snapshot.ts";

/** Moves of scanned records, which wait where the server does not respond. */

/** A record that a code stands for, as a move needs it. */
export interface Found {
  segment: string;
  id: string;
  name: string;
  version: number;
  /** Free positions of a location with a grid. */
  free: readonly string[] | null;
}

/** The records that a code stands for. @throws ApiError */
export const findScanned = (code: string): Promise<Found[]> =>
  findOnline(code).catch((error: unknown) => findOffline(code, error));

async function findOnline(code: string): Promise<Found[]> {
  const { results } = await get<{ results: Found[] }>("/api/v2/scan/", { code });
  if (results.length !== 1) return results;
  const [{ segment, id, name }] = results;
  const query = { fields: "version", response_format: "flat" };
  const { results: record } = await get<{ results: { version: number } }>(api(segment, `${id}/`), query);
  const box = segment === "locations" ? await readSlots(id) : null;
  const free = box?.grid_rows ? freePositionsIn(box) : null;
  return [{ segment, id, name, version: record.version, free }];
}

async function findOffline(code: string, error: unknown): Promise<Found[]> {
  const known = isUnreachable(error) ? await snapshot() : undefined;
  if (!known) throw error;
  return findCode(known, code).map((record) => {
    const { segment, id, name, version, grid } = record;
    return { segment, id, name, version, free: grid ? freePositions(known, record) : null };
  });
}

/** Moves a record. @returns the server's answer; null if the move waits for the network @throws ApiError */
export async function moveScanned(
  { segment, id, name, version }: Omit<Found, "free">,
  { location, position }: { location: { id: string; name: string }; position: string },
): Promise<Response | null> {
  // Changes are sent in order.
  const known = await snapshot();
  const isFirst =
    known === undefined || (await waitingChanges(known.person.id)).every((each) => each.conflict);
  if (isFirst)
    try {
      const response = await relocate({ segment, id, version }, { location: location.id, position });
      const { version: now } = (await response.clone().json()) as { version: number };
      await keepMove({ id, version: now, location, position });
      return response;
    } catch (error) {
      if (!isUnreachable(error) || !worksOffline()) throw error;
    }
  await addChange({ kind: "move", segment, id, name, version, location, position });
  return null;
}
