import { Problem } from "../problem.ts";

/** One attempt to read something from `from` on: a GET with `Range` where that is not 0. */
export type Opening = (from: number, signal: AbortSignal) => Promise<Response>;

export interface DownloadOptions {
  /** The source, for errors: an address without secrets. */
  what: string;
  /** Bytes that exist already. */
  from?: number;
  signal?: AbortSignal | undefined;
  /** Called once, with the full size, before the first byte. @throws what ends the download */
  onSize?: (bytes: number) => void;
  /** Milliseconds without a byte after which a connection counts as cut. */
  stall?: number;
  /** Milliseconds before the first retry; doubled each time. */
  pause?: number | undefined;
  /** The problem for a status that is not worth a retry. */
  refused?: (status: number, body: string) => Problem | undefined;
}

/** Attempts in a row without a byte. */
const MAX_ATTEMPTS = 6;
const STALL_MILLISECONDS = 60_000;
const PAUSE_MILLISECONDS = 250;
const MAX_PAUSE = 10_000;

/** Why an attempt ended, where another may help. */
class Interrupted extends Error {
  constructor(
    reason: string,
    /** Milliseconds that the server asks to wait. */
    readonly wait = 0,
  ) {
    super(reason);
  }
}

/**
 * Downloads over HTTP through cut connections, stalls and temporary errors (429, 5xx): each retry resumes. Memory: one chunk.
 * @throws Problem store_failed once several attempts in a row brought nothing; what `refused` and `onSize` throw
 */
export async function* download(open: Opening, options: DownloadOptions): AsyncGenerator<Uint8Array> {
  const { what, signal, pause = PAUSE_MILLISECONDS } = options;
  let at = options.from ?? 0;
  let total: number | undefined;
  let failures = 0;
  const onSize = (size: number): void => {
    if (total !== undefined && total !== size)
      throw new Problem("store_failed", `${what} changed while it was read. Try again.`);
    if (total === undefined) options.onSize?.(size);
    total = size;
  };
  for (;;) {
    const before = at;
    try {
      for await (const piece of attempt(open, at, options, onSize)) {
        at += piece.length;
        failures = 0;
        yield piece;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Interrupted)) throw error;
      failures = at > before ? 1 : failures + 1;
      if (failures >= MAX_ATTEMPTS) throw downloadFailed(what, at, error);
      await Bun.sleep(Math.min(Math.max(error.wait, pause * 2 ** (failures - 1)), MAX_PAUSE));
      signal?.throwIfAborted();
    }
  }
}

const downloadFailed = (what: string, at: number, cause: Error): Problem =>
  new Problem(
    "store_failed",
    `${what} cannot be read: ${cause.message}${at > 0 ? ` after ${at} bytes` : ""}. Check the address and the network, and run the command again.`,
    { cause },
  );

async function* attempt(
  open: Opening,
  from: number,
  options: DownloadOptions,
  onSize: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const { signal, stall = STALL_MILLISECONDS } = options;
  const patience = new AbortController();
  const abort = (): void => patience.abort();
  const interrupted = (error: unknown): Error =>
    error instanceof Problem || error instanceof Interrupted
      ? error
      : new Interrupted(
          patience.signal.aborted ? `no data arrived for ${stall / 1000} s` : describeReason(error),
        );
  signal?.addEventListener("abort", abort);
  let timer = setTimeout(abort, stall);
  try {
    const response = await open(from, patience.signal);
    if (!(await isReadable(response, from, options))) return;
    const { start, size } = parseExtent(response);
    if (start !== from && start !== 0)
      throw new Interrupted(`the response started at byte ${start} instead of ${from}`);
    if (Number.isFinite(size)) onSize(size);
    let at = start;
    for await (const value of response.body ?? []) {
      clearTimeout(timer);
      // A server without ranges starts at the beginning.
      const skip = Math.min(value.length, Math.max(0, from - at));
      at += value.length;
      if (skip < value.length) yield value.subarray(skip);
      timer = setTimeout(abort, stall);
    }
    if (Number.isFinite(size) && at < size) throw new Interrupted("the connection was cut");
  } catch (error) {
    throw interrupted(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** True if the response has bytes; false where all of them exist already. @throws Problem, Interrupted */
async function isReadable(
  response: Response,
  from: number,
  { what, refused }: DownloadOptions,
): Promise<boolean> {
  const { status, headers } = response;
  if (status === 200 || status === 206) return true;
  const text = await response.text().catch(() => "");
  if (status === 416 && from > 0) return false;
  const problem = refused?.(status, text);
  if (problem) throw problem;
  if (status === 429 || status >= 500)
    throw new Interrupted(
      `the response had status ${status}`,
      Number(headers.get("retry-after") ?? 0) * 1000 || 0,
    );
  throw new Problem(
    "store_failed",
    `${what} cannot be read: the response had status ${status}. Check the address.`,
  );
}

/** The start of a response's bytes, and the length of the whole; NaN where it is unknown. */
function parseExtent({ status, headers }: Response): { start: number; size: number } {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "");
  if (status === 206 && range) return { start: Number(range[1]), size: Number(range[2]) };
  return { start: 0, size: Number(headers.get("content-length") ?? Number.NaN) };
}

/** `ConnectionRefused` says more than "Unable to connect. Is the computer able to access the url?". */
export const describeReason = (error: unknown): string => {
  const { code, message } = error as { code?: unknown; message?: string };
  return typeof code === "string" ? code : (message ?? String(error));
};
