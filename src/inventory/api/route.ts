import type { AnyElysia } from "elysia";
import { makeGuards } from "../../accounts/guards.ts";
import { LIST_PARAMETERS } from "../model/listing.ts";
import type { LoadRows } from "../records/row-index.ts";
import type { InventorySample } from "../records/sample.ts";
import { openStore } from "../records/store.ts";
import { Imports } from "../imports/imports.ts";
import { callOpener } from "./call.ts";
import { API_ROOT } from "../model/resource.ts";
import { readState } from "./entity-tag.ts";
import { mountOperations, listRoute, type ForwardRequest } from "./mount-operations.ts";
import { listStoreOperations, MAX_MESSAGE_BYTES, READ_ROWS } from "./record-operations.ts";
import type { RemoteRequest } from "./remote-request.ts";
import type { RequestPool } from "./request-pool.ts";
import { COMPUTING_PER_CALLER } from "./request-turns.ts";
import { importOperations } from "./route-imports.ts";
import { scanOperation } from "./route-labels.ts";
import { sampleOperation } from "./route-sample.ts";
import { signInOperations, tokenOperations } from "./route-session.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Aliases } from "../../platform/complete-methods.ts";
import { RESOURCES } from "../resources/index.ts";
import { currentOrigin, currentRequest } from "../../platform/request-context.ts";
import { Semaphore } from "../../platform/semaphore.ts";
import { type Database, makesCheckpoints, isInMemory } from "../../platform/sqlite.ts";
import { getWriteLock } from "../../platform/write-lock.ts";

export interface InventoryOptions {
  database: Database;
  clock: Clock;
  accounts: Accounts;
  /** True if callers without credentials may read public records. */
  anonymousRead: boolean;
  /** Records to try labd with, which administrators may load into an empty inventory. */
  sample?: () => Promise<InventorySample>;
  /** Maximum size of a body in bytes. */
  maxMessageBytes?: number;
  /** Closed by their owner. */
  imports?: Imports;
  /** Answers heavy requests; closed by its owner. Without it, and in memory, they are answered here. */
  pool?: RequestPool;
}

/** The additional addresses of the lists, which the reference omits. */
export const inventoryAliases = (): Aliases =>
  RESOURCES.flatMap((resource) => {
    const { segment, aliases = [], forClients } = resource;
    // Clients that fill in a path encode the slash.
    const encoded = segment.includes("/") ? [encodeURIComponent(segment)] : [];
    const names = [...(forClients ? [segment] : []), ...encoded, ...aliases];
    return names.map((alias) => [`${API_ROOT}${alias}/`, `${API_ROOT}${listRoute(resource)}/`] as const);
  })
    // Longer names precede: the longest matching name counts.
    .toSorted(([a], [b]) => b.length - a.length);

/** The REST API below /api/v2/. Handlers throw Problems. */
export function inventoryRoutes(given: InventoryOptions): AnyElysia {
  const { database, clock, accounts, anonymousRead, pool, sample, imports, maxMessageBytes } = given;
  const maxBytes = maxMessageBytes ?? MAX_MESSAGE_BYTES;
  const store = openStore(database, clock);
  const usesPool = pool && !isInMemory(database);
  if (usesPool) store.reader.loadRowsWith(loadFrom(pool, database));
  const operations = [
    ...listStoreOperations(store, accounts),
    ...importOperations(imports ?? new Imports(database, clock)),
    scanOperation(),
    ...(sample ? [sampleOperation(sample)] : []),
    ...tokenOperations(accounts),
    ...signInOperations(store, accounts),
  ];
  return mountOperations(operations, {
    open: callOpener({ store, guards: makeGuards(accounts), anonymousRead, maxBytes }),
    maxBytes,
    forwardRequest: usesPool ? sendTo(pool, database) : undefined,
  });
}

/**
 * Reads rows in the pool, on behalf of the caller whose request needs them. The lists of one page need many, which would
 * be too many requests for the pool if they did not wait here.
 */
function loadFrom(pool: RequestPool, database: Database): LoadRows {
  const { signal } = new AbortController();
  const turns = new Map<number | null, Semaphore>();
  return async (rows) => {
    const { actor } = rows;
    const remote: RemoteRequest = {
      kind: "request",
      database: database.filename,
      writes: false,
      checkpoints: false,
      operation: READ_ROWS,
      request: { url: "http://localhost/", method: "GET", headers: [], body: null },
      call: { method: "GET", base: "", path: "", actor, maxBytes: 0 },
      params: {},
      query: rows,
      body: null,
      state: "",
      origin: undefined,
    };
    const caller = { user: actor.user, network: "", signal, describe: () => "Reading the list" };
    const read = async () => new Uint32Array(await (await pool.run(remote, caller)).arrayBuffer());
    const turn = turns.get(actor.user) ?? new Semaphore(COMPUTING_PER_CALLER);
    turns.set(actor.user, turn);
    return turn.run(read);
  };
}

/** Sends requests to the pool; they hold the write lock while they write. */
const sendTo =
  (pool: RequestPool, database: Database): ForwardRequest =>
  async (operation, { params, query, body }, call, sent) => {
    const { request, method, base, path, actor, maxBytes, url } = call;
    const writes = method !== "GET" && method !== "HEAD";
    const remote: RemoteRequest = {
      kind: "request",
      database: database.filename,
      writes,
      checkpoints: makesCheckpoints(database),
      operation,
      request: {
        url: request.url,
        method: request.method,
        headers: [...request.headers],
        body: sent ?? null,
      },
      call: { method, base, path, actor, maxBytes },
      params,
      query,
      body,
      state: readState(call),
      origin: currentOrigin(),
    };
    const { network = "" } = currentRequest() ?? {};
    const describe = () => describeFilters(url.searchParams);
    const lock = getWriteLock(database);
    const caller = { user: actor.user, network, signal: request.signal, describe };
    return pool.run(remote, caller, (work) => lock.hold(work));
  };

/** The start of a sentence that describes a request. */
function describeFilters(parameters: URLSearchParams): string {
  const filters = [...new Set(parameters.keys())].filter((name) => !Object.hasOwn(LIST_PARAMETERS, name));
  const named = filters.slice(0, 3).map((name) => {
    const { length } = parameters.getAll(name);
    return `${name.slice(0, 100)}${length > 1 ? ` (${length} values)` : ""}`;
  });
  const more = filters.length > 3 ? ` and ${filters.length - 3} more` : "";
  if (filters.length === 0) return "This request";
  return `The request with the ${filters.length === 1 ? "filter" : "filters"} ${named.join(", ")}${more},`;
}
