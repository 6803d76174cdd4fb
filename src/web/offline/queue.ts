import type { DeviceStore } from "./device-store.ts";

/** Changes made without a network. They are sent in order; those that the server rejects stay until somebody decides. */

/** A record put into a location, if the record is still as it was seen. */
export interface Move {
  kind: "move";
  segment: string;
  id: string;
  name: string;
  version: number;
  location: { id: string; name: string };
  /** Empty in a location without a grid. */
  position: string;
}
/** A code scanned in a stocktake. */
export interface StocktakeScan {
  kind: "scan";
  stocktake: { id: string; name: string };
  code: string;
  /** The record that has the code, as far as the device knows. */
  name: string | null;
  place: { id: string; name: string } | null;
}
export type Change = Move | StocktakeScan;

export interface QueuedChange {
  /** Sent as Idempotency-Key: a change that arrives twice is done once. */
  key: string;
  /** Milliseconds since 1970. */
  at: number;
  change: Change;
  conflict?: Conflict;
}

/** Why the server rejected a change. */
export interface Conflict {
  status: number;
  message: string;
  /** The record as it is now, if somebody changed it. */
  now?: { version: number; where: string; by: string };
}

export interface Answer {
  /** 0: the server does not respond. */
  status: number;
  body: Readonly<Record<string, unknown>>;
}
/** Sends a request as the person whose queue it is. */
export type SendRequest = (
  method: string,
  path: string,
  options?: { body?: unknown; headers?: Record<string, string>; query?: Record<string, string> },
) => Promise<Answer>;

const keyOf = (person: string): string => `queue ${person}`;

export const readQueue = async (store: DeviceStore, person: string): Promise<QueuedChange[]> =>
  (await store.read<QueuedChange[]>(keyOf(person))) ?? [];

const updateQueue = (
  store: DeviceStore,
  person: string,
  change: (queue: QueuedChange[]) => QueuedChange[],
): Promise<unknown> =>
  store.update<QueuedChange[]>(keyOf(person), (before = []) => {
    const after = change(before);
    return after.length === 0 ? undefined : after;
  });

export const enqueue = (store: DeviceStore, person: string, queued: QueuedChange): Promise<unknown> =>
  updateQueue(store, person, (queue) => [...queue, queued]);

export const discard = (store: DeviceStore, person: string, key: string): Promise<unknown> =>
  updateQueue(store, person, (queue) => queue.filter((queued) => queued.key !== key));

/** Sends a rejected change again; where somebody changed the record, over that change. */
export const applyAnyway = (store: DeviceStore, person: string, key: string): Promise<unknown> =>
  updateQueue(store, person, (queue) =>
    queue.map((queued) => {
      if (queued.key !== key) return queued;
      const { conflict, change, ...rest } = queued;
      const version = conflict?.now?.version;
      return {
        ...rest,
        change: change.kind === "move" && version !== undefined ? { ...change, version } : change,
      };
    }),
  );

/**
 * Sends the changes in order. It stops at one that the server cannot take now (no network, no session, overload), and
 * goes on after one that it rejects.
 * @returns how many the server has taken
 */
export async function sendQueue(store: DeviceStore, person: string, send: SendRequest): Promise<number> {
  for (let sent = 0; ;) {
    const next = (await readQueue(store, person)).find(({ conflict }) => !conflict);
    if (!next) return sent;
    const outcome = await (next.change.kind === "move"
      ? sendMove(next.change, send)
      : sendScan(next.change, next.key, send));
    if (outcome === "later") return sent;
    if (outcome.conflict) {
      const { conflict } = outcome;
      await updateQueue(store, person, (queue) =>
        queue.map((queued) => (queued.key === next.key ? { ...queued, conflict } : queued)),
      );
    } else {
      const { version } = outcome;
      await updateQueue(store, person, (queue) =>
        queue.filter(({ key }) => key !== next.key).map((queued) => afterMove(queued, next.change, version)),
      );
      sent++;
    }
  }
}

/** A change that follows another of the same record expects the version that this one made. */
function afterMove(queued: QueuedChange, done: Change, version: number | undefined): QueuedChange {
  const { change, conflict } = queued;
  const follows = change.kind === "move" && done.kind === "move" && change.id === done.id && !conflict;
  return follows && version !== undefined && change.version === done.version
    ? { ...queued, change: { ...change, version } }
    : queued;
}

type Outcome = { version?: number | undefined; conflict?: undefined } | { conflict: Conflict } | "later";

const FLAT = { response_format: "flat" };

const isDone = (status: number): boolean => status >= 200 && status < 300;

/** Statuses after which the same request may succeed without a decision. */
const isTemporary = (status: number): boolean => [0, 401, 408, 425, 429].includes(status) || status >= 500;

async function sendMove(change: Move, send: SendRequest): Promise<Outcome> {
  const path = `/api/v2/${change.segment}/${change.id}/`;
  const { status, body } = await send("PATCH", path, {
    body: { location: change.location.id, position: change.position },
    headers: { "If-Match": `"${change.version}"` },
    query: { fields: "version", ...FLAT },
  });
  if (isDone(status)) return { version: Number(recordIn(body).version) };
  if (isTemporary(status)) return "later";
  const conflict = { status, message: messageIn(status, body) };
  return status === 412 ? compareWithNow(change, conflict, send) : { conflict };
}

/** Somebody has changed the record: how it is now; done if it is already where it was to go, because the answer was lost. */
async function compareWithNow(change: Move, conflict: Conflict, send: SendRequest): Promise<Outcome> {
  const query = { fields: "version,location,position,modified_by", ...FLAT };
  const { status, body } = await send("GET", `/api/v2/${change.segment}/${change.id}/`, { query });
  if (isTemporary(status)) return "later";
  if (!isDone(status)) return { conflict: { status, message: messageIn(status, body) } };
  const { version, location, position, modified_by } = recordIn(body);
  if (location === change.location.id && position === change.position) return { version: Number(version) };
  const label = location ? await labelOf(String(location), send) : "no location";
  const where = [label, position].filter(Boolean).join(", ");
  return { conflict: { ...conflict, now: { version: Number(version), where, by: String(modified_by) } } };
}

async function labelOf(location: string, send: SendRequest): Promise<string> {
  const { body } = await send("GET", `/api/v2/locations/${location}/`, {
    query: { fields: "label", ...FLAT },
  });
  return String(recordIn(body).label ?? "a location that you may not view");
}

async function sendScan(change: StocktakeScan, key: string, send: SendRequest): Promise<Outcome> {
  const { status, body } = await send("POST", `/api/v2/stocktakes/${change.stocktake.id}/scans/`, {
    body: { codes: [change.code], place: change.place?.id ?? null },
    headers: { "Idempotency-Key": key },
  });
  if (isDone(status)) return {};
  return isTemporary(status) ? "later" : { conflict: { status, message: messageIn(status, body) } };
}

/** One record, in the format `flat`. */
const recordIn = (body: Answer["body"]): Answer["body"] => (body.results ?? {}) as Answer["body"];

const messageIn = (status: number, { message }: Answer["body"]): string =>
  typeof message === "string" ? message : `The server returned status ${status}.`;
