import { fillPath } from "../address.ts";
import type { Caller } from "../request.ts";
import type { DeviceStore } from "./device-store.ts";
import { keepOutcome } from "./keep-outcome.ts";
import {
  withVersions,
  type Move,
  requestMove,
  requestStockChange,
  type StockChange,
  type Versions,
  readVersions,
} from "./move.ts";

/** Changes made without a network. They are sent in order; rejected ones stay until the user decides. */

/** The address of the stocktakes. */
const LIST = "stocktakes";

/** A stocktake begun without a network. It has an id of this device until the server has given it one. */
export interface StocktakeStart {
  kind: "start";
  stocktake: { id: string; name: string };
  location: string;
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
/** A scanned code removed from a stocktake. */
export interface StocktakeRemoval {
  kind: "remove";
  stocktake: { id: string; name: string };
  code: string;
  /** The record that has the code, as far as the device knows. */
  name: string | null;
}
/** A stocktake applied without a network. */
export interface StocktakeApplication {
  kind: "apply";
  stocktake: { id: string; name: string };
}
export type Change =
  Move | StockChange | StocktakeStart | StocktakeScan | StocktakeRemoval | StocktakeApplication;

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
  /** The present versions of the records that were to move, if somebody has changed one. */
  versions?: Versions;
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

/** Calls operations with a function that sends requests. */
const callWith =
  (send: SendRequest): Caller<Promise<Answer>> =>
  (key, ...[given]) => {
    const { params, ...options } = (given ?? {}) as Parameters<SendRequest>[2] & {
      params?: Record<string, string>;
    };
    const [method, path] = key.split(" ");
    return send(method, fillPath(path, params), options);
  };

const queueKey = (person: string): string => `queue ${person}`;

export const readQueue = async (store: DeviceStore, person: string): Promise<QueuedChange[]> =>
  (await store.read<QueuedChange[]>(queueKey(person))) ?? [];

const updateQueue = (
  store: DeviceStore,
  person: string,
  change: (queue: QueuedChange[]) => QueuedChange[],
): Promise<unknown> =>
  store.update<QueuedChange[]>(queueKey(person), (before = []) => {
    const after = change(before);
    return after.length === 0 ? undefined : after;
  });

export const enqueue = (store: DeviceStore, person: string, queued: QueuedChange): Promise<unknown> =>
  updateQueue(store, person, (queue) => [...queue, queued]);

/** Removes a change, with a stocktake that was begun without a network everything about it. */
export const discard = (store: DeviceStore, person: string, key: string): Promise<unknown> =>
  updateQueue(store, person, (queue) => {
    const discarded = queue.find((queued) => queued.key === key)?.change;
    return queue.filter(
      ({ key: other, change }) =>
        other !== key && !(discarded?.kind === "start" && isAbout(change, discarded.stocktake.id)),
    );
  });

export const isAbout = (change: Change, stocktake: string): boolean =>
  "stocktake" in change && change.stocktake.id === stocktake;

/** Sends a rejected change again; where somebody changed the record, over that change. */
export const applyAnyway = (store: DeviceStore, person: string, key: string): Promise<unknown> =>
  updateQueue(store, person, (queue) =>
    queue.map((queued) => {
      if (queued.key !== key) return queued;
      const { conflict, change, ...rest } = queued;
      const versions = conflict?.versions;
      return {
        ...rest,
        change: "records" in change && versions ? withVersions(change, versions) : change,
      };
    }),
  );

/**
 * The next change to send, except changes of a stocktake that failed to start, and the end of one with a rejected scan.
 */
function nextIn(queue: readonly QueuedChange[]): QueuedChange | undefined {
  const rejected = queue.filter(({ conflict }) => conflict).map(({ change }) => change);
  const waitsFor = (change: Change, other: Change): boolean =>
    "stocktake" in change &&
    isAbout(other, change.stocktake.id) &&
    (other.kind === "start" || change.kind === "apply");
  return queue.find(
    ({ conflict, change }) => !conflict && !rejected.some((other) => waitsFor(change, other)),
  );
}

/**
 * Sends the changes in order. It stops at one that the server cannot take now (no network, no session, overload), and
 * goes on after one that it rejects.
 * @returns how many the server has taken
 */
export async function sendQueue(store: DeviceStore, person: string, send: SendRequest): Promise<number> {
  for (let sent = 0; ;) {
    const next = nextIn(await readQueue(store, person));
    if (!next) return sent;
    const outcome = await sendChange(next, send);
    if (outcome === "later") return sent;
    if (outcome.conflict) {
      const { conflict } = outcome;
      await updateQueue(store, person, (queue) =>
        queue.map((queued) => (queued.key === next.key ? { ...queued, conflict } : queued)),
      );
    } else {
      await keepOutcome(store, next.change, outcome);
      await updateQueue(store, person, (queue) =>
        queue
          .filter(({ key }) => key !== next.key)
          .map((queued) => updateFollowing(queued, next.change, outcome)),
      );
      sent++;
    }
  }
}

/** A change after the one that it follows: it has the versions of its records and the id of its stocktake from there. */
function updateFollowing(queued: QueuedChange, done: Change, { versions, id }: Done): QueuedChange {
  const { change, conflict } = queued;
  if (done.kind === "start" && "stocktake" in change && isAbout(change, done.stocktake.id))
    return { ...queued, change: { ...change, stocktake: { ...change.stocktake, id: id! } } };
  if (!("records" in change && "records" in done) || conflict || !versions) return queued;
  const seen = new Map(change.records.map((record) => [record.id, record.version]));
  const next = done.records.filter((record) => seen.get(record.id) === record.version);
  const changed = Object.fromEntries(next.map((record) => [record.id, versions[record.id]]));
  return { ...queued, change: withVersions(change, changed) };
}

/** The versions of moved records, or the id of a new stocktake. */
export interface Done {
  versions?: Versions | undefined;
  id?: string | undefined;
  conflict?: undefined;
}
type Outcome = Done | { conflict: Conflict } | "later";

function sendChange({ change, key }: QueuedChange, send: SendRequest): Promise<Outcome> {
  switch (change.kind) {
    case "move":
      return sendMove(change, key, send);
    case "stock":
      return sendStockChange(change, key, send);
    case "start":
      return sendStart(change, key, send);
    case "scan":
      return sendScan(change, key, send);
    case "remove":
      return sendRemoval(change, send);
    default:
      return sendApplication(change, key, send);
  }
}

const FLAT = { response_format: "flat" };

const isDone = (status: number): boolean => status >= 200 && status < 300;

/** Statuses after which the same request may succeed without a decision. */
const isTemporary = (status: number): boolean => [0, 401, 408, 425, 429].includes(status) || status >= 500;

/** The outcome of a change that the server has not taken. */
const rejected = ({ status, body }: Answer): Outcome =>
  isTemporary(status) ? "later" : { conflict: { status, message: messageIn(status, body) } };

async function sendMove(move: Move, key: string, send: SendRequest): Promise<Outcome> {
  const answer = await requestMove(move, key, callWith(send));
  if (isDone(answer.status)) return { versions: readVersions(answer.body, move) };
  return answer.status === 412 ? compareWithNow(move, send) : rejected(answer);
}

async function sendStockChange(change: StockChange, key: string, send: SendRequest): Promise<Outcome> {
  const answer = await requestStockChange(change, key, callWith(send));
  return isDone(answer.status) ? { versions: readVersions(answer.body, change) } : rejected(answer);
}

/**
 * Somebody has changed a record: how it is now; done if all are already where they were to go, because the answer was
 * lost.
 */
async function compareWithNow(move: Move, send: SendRequest): Promise<Outcome> {
  const query = {
    fields: "version,location,location__unique_path,position,modified_by,modified_by__full_name",
    ...FLAT,
  };
  const found: Answer["body"][] = [];
  for (const { segment, id } of move.records) {
    const answer = await callWith(send)("GET /api/v2/:list/:id/", { params: { list: segment, id }, query });
    if (!isDone(answer.status)) return rejected(answer);
    found.push(recordIn(answer.body));
  }
  const versions = Object.fromEntries(move.records.map(({ id }, i) => [id, Number(found[i].version)]));
  const isThere = ({ location = null, position = "" }: Answer["body"], i: number): boolean =>
    location === (move.location?.id ?? null) && position === move.records[i].position;
  if (found.every(isThere)) return { versions };
  const changed = Math.max(
    0,
    found.findIndex(({ version }, i) => version !== move.records[i].version),
  );
  const { location__unique_path: path, position, modified_by, modified_by__full_name: name } = found[changed];
  const where = [path ?? "no location", position].filter(Boolean).join(", ");
  const message = `${String(name || modified_by)} has changed ${move.records[changed].name}. It is now in ${where}.`;
  return { conflict: { status: 412, message, versions } };
}

async function sendStart(
  { stocktake, location }: StocktakeStart,
  key: string,
  send: SendRequest,
): Promise<Outcome> {
  const answer = await callWith(send)("POST /api/v2/:list/", {
    params: { list: LIST },
    body: { name: stocktake.name, location },
    headers: { "Idempotency-Key": key },
    query: { fields: "id", ...FLAT },
  });
  return isDone(answer.status) ? { id: String(recordIn(answer.body).id) } : rejected(answer);
}

/** Leaves records that were not scanned unchanged: this device does not know which they are. */
async function sendApplication(
  { stocktake }: StocktakeApplication,
  key: string,
  send: SendRequest,
): Promise<Outcome> {
  const answer = await callWith(send)("POST /api/v2/:list/:id/apply/", {
    params: { list: LIST, id: stocktake.id },
    body: { missing: "keep" },
    headers: { "Idempotency-Key": key },
  });
  return isDone(answer.status) ? {} : rejected(answer);
}

async function sendScan(change: StocktakeScan, key: string, send: SendRequest): Promise<Outcome> {
  const answer = await callWith(send)("POST /api/v2/:list/:id/scans/", {
    params: { list: LIST, id: change.stocktake.id },
    body: { codes: [change.code], place: change.place?.id ?? null },
    headers: { "Idempotency-Key": key },
  });
  return isDone(answer.status) ? {} : rejected(answer);
}

/** Removes a scan; succeeds if another user has removed it before. */
async function sendRemoval({ stocktake, code }: StocktakeRemoval, send: SendRequest): Promise<Outcome> {
  const answer = await callWith(send)("DELETE /api/v2/:list/:id/scans/", {
    params: { list: LIST, id: stocktake.id },
    query: { code },
  });
  return isDone(answer.status) || answer.status === 404 ? {} : rejected(answer);
}

/** One record, in the format `flat`. */
const recordIn = (body: Answer["body"]): Answer["body"] => (body.results ?? {}) as Answer["body"];

const messageIn = (status: number, { message }: Answer["body"]): string =>
  typeof message === "string" ? message : `The server returned status ${status}.`;
