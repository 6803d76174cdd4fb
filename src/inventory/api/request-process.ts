import { getPriority, setPriority } from "node:os";
import type { FromProcess, RemoteRequest, ToProcess } from "./remote-request.ts";
import { heavyOperations } from "./record-operations.ts";
import { openStore } from "../records/store.ts";
import { systemClock } from "../../platform/clock.ts";
import { findCause } from "../../platform/log.ts";
import { runWithOrigin } from "../../platform/request-context.ts";
import { checkpoint, type Database, openReader, openWriter } from "../../platform/sqlite.ts";
import { getWriteLock } from "../../platform/write-lock.ts";
import { Problem } from "../../problem.ts";

/** A process that answers heavy requests for the server, one after another, until the server ends it. */

/** Bytes of a body that are sent at once. */
const CHUNK = 65_536;
/** Added to the niceness: the server comes first; writes, which others wait for, come before reads. */
const NICENESS = { write: 5, read: 10 };

/** Resident bytes from which memory is released after a request. */
const LARGE_HEAP = 150_000_000;

type Body = ReadableStreamDefaultReader<Uint8Array>;

let database: Database | undefined;
let operations: ReturnType<typeof heavyOperations> | undefined;
let body: Body | undefined;
/** Called when the server has given the write lock to this process. */
let locked: (() => void) | undefined;

const send = (message: FromProcess): void => void process.send!(message);

/** Never returns: the process ends with the channel to the server. */
export function serveRequests(version: string): Promise<never> {
  process.on("disconnect", () => process.exit());
  // Service managers and terminals signal all processes: the server decides when this one ends.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  process.on("message", (message: ToProcess) => {
    if (message.kind === "cancel") void body?.cancel().catch(() => {});
    else if (message.kind === "locked") locked?.();
    else (message.kind === "next" ? sendChunk() : answer(message)).catch(fail);
  });
  send({ kind: "ready", version });
  return new Promise(() => {});
}

function fail(error: unknown): void {
  const problem = Problem.from(error);
  const { code, message, fields, more, list, headers } = problem;
  const cause = findCause(problem);
  send({
    kind: "failed",
    code,
    message,
    details: { more, headers, ...(fields && { fields }), ...(list && { list }), ...(cause && { cause }) },
  });
}

async function answer(remote: RemoteRequest): Promise<void> {
  body = undefined;
  open(remote);
  const { url, method, headers, body: sent } = remote.request;
  const request = new Request(url, {
    method,
    headers,
    ...(sent ? { body: sent as Uint8Array<ArrayBuffer> } : {}),
  });
  const store = openStore(database!, systemClock);
  const { state, params, query, origin } = remote;
  const call = { ...remote.call, request, url: new URL(url), store, state };
  const response = await runWithOrigin(origin, () =>
    operations!(remote.operation)(
      { params, query: query as Record<string, unknown>, body: remote.body },
      call,
    ),
  );
  body = response.body?.getReader();
  const first = body ? await read(body) : { bytes: null, ended: true };
  send({ kind: "head", status: response.status, headers: [...response.headers], ...first });
  if (remote.writes && remote.checkpoints) checkpoint(database!);
  if (first.ended) collect();
}

/** A process only reads or only writes. */
function open({ database: path, writes }: RemoteRequest): void {
  if (database) return;
  try {
    setPriority(Math.min(getPriority() + NICENESS[writes ? "write" : "read"], 19));
  } catch {
    // A container may forbid the call.
  }
  database = writes ? openWriter(path) : openReader(path);
  if (writes) getWriteLock(database).acquire = acquireLock;
  operations = heavyOperations(database, systemClock);
}

function acquireLock(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  locked = resolve;
  send({ kind: "lock" });
  return promise;
}

async function sendChunk(): Promise<void> {
  const chunk = await read(body!);
  send({ kind: "chunk", ...chunk });
  if (chunk.ended) collect();
}

/** Else the heap would grow with every large response or write. */
function collect(): void {
  if (process.memoryUsage.rss() > LARGE_HEAP) Bun.gc(true);
}

/** Reads at least CHUNK bytes, or all remaining bytes. */
async function read(from: Body): Promise<{ bytes: Uint8Array; ended: boolean }> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; size < CHUNK;) {
    const { done, value } = await from.read();
    if (done) return { bytes: Buffer.concat(chunks), ended: true };
    size += chunks.push(value) && value.byteLength;
  }
  return { bytes: Buffer.concat(chunks), ended: false };
}
