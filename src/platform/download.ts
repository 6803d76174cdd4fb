import { Problem } from "../problem.ts";

/** One attempt to read something from `from` on: a GET with `Range` where that is not 0. */
export type Opening = (from: number, signal: AbortSignal) => Promise<Response>;

export interface DownloadOptions {
  /** What is read, for errors: an address without secrets. */
  what: string;
  /** Bytes that are there already. */
  from?: number;
  signal?: AbortSignal | undefined;
  /** Called once, with the size of the whole, before the first byte. @throws what ends the download */
  sized?: (bytes: number) => void;
  /** Milliseconds without a byte after which a connection counts as cut. */
  stall?: number;
  /** Milliseconds before the first repetition; doubled from one to the next. */
  pause?: number | undefined;
  /** What a status means that is not worth a repetition. */
  refused?: (status: number, body: string) => Problem | undefined;
}

/** Attempts in a row without a byte, after which it is given up. */
const ATTEMPTS = 6;
const STALL = 60_000;
const PAUSE = 250;
const LONGEST_PAUSE = 10_000;

/** Why an attempt ended, where another may help. */
class Cut extends Error {
  constructor(
    reason: string,
    /** Milliseconds that the other side wants to be left alone. */
    readonly wait = 0,
  ) {
    super(reason);
  }
}

/**
 * The bytes of what HTTP gives, through cuts of the connection, stalls, and answers that say "later" (429, 5xx): each
 * time it goes on where it was. Memory: one chunk.
 * @throws Problem store_failed once several attempts in a row brought nothing; what `refused` and `sized` say
 */
export async function* download(open: Opening, options: DownloadOptions): AsyncGenerator<Uint8Array> {
  const { what, signal, pause = PAUSE } = options;
  let at = options.from ?? 0;
  let total: number | undefined;
  let failures = 0;
  for (;;) {
    const before = at;
    try {
      for await (const piece of attempt(open, at, options, (size) => {
        if (total !== undefined && total !== size)
          throw new Problem("store_failed", `${what} changed while it was read. Try again.`);
        if (total === undefined) options.sized?.(size);
        total = size;
      })) {
        at += piece.length;
        failures = 0;
        yield piece;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Cut)) throw error;
      failures = at > before ? 1 : failures + 1;
      if (failures >= ATTEMPTS)
        throw new Problem(
          "store_failed",
          `${what} cannot be read: ${error.message}${at > 0 ? ` after ${at} bytes` : ""}. Check address and network, and give the same command again.`,
          { cause: error },
        );
      const wait = Math.max(error.wait, pause * 2 ** (failures - 1));
      await Bun.sleep(Math.min(wait, LONGEST_PAUSE));
      signal?.throwIfAborted();
    }
  }
}

async function* attempt(
  open: Opening,
  from: number,
  { what, signal, stall = STALL, refused }: DownloadOptions,
  sized: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const patience = new AbortController();
  const abort = (): void => patience.abort();
  signal?.addEventListener("abort", abort);
  let timer = setTimeout(abort, stall);
  const cut = (error: unknown): Cut =>
    error instanceof Cut
      ? error
      : new Cut(patience.signal.aborted ? `nothing came for ${stall / 1000} s` : reasonOf(error));
  try {
    const response = await open(from, patience.signal).catch((error: unknown) => {
      throw error instanceof Problem ? error : cut(error);
    });
    if (response.status !== 200 && response.status !== 206) {
      const text = await response.text().catch(() => "");
      // All of it is there already; where it is more than all, who asked will find that out.
      if (response.status === 416 && from > 0) return;
      const problem = refused?.(response.status, text);
      if (problem) throw problem;
      const again = response.status === 429 || response.status >= 500;
      const said = `the answer was ${response.status}`;
      if (again) throw new Cut(said, Number(response.headers.get("retry-after") ?? 0) * 1000 || 0);
      throw new Problem("store_failed", `${what} cannot be read: ${said}. Check the address.`);
    }
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
    const length = Number(response.headers.get("content-length") ?? Number.NaN);
    const starts = response.status === 206 && range ? Number(range[1]) : 0;
    const size = response.status === 206 && range ? Number(range[2]) : length;
    if (starts !== from && starts !== 0) throw new Cut(`bytes from ${starts} on came, not from ${from} on`);
    if (Number.isFinite(size)) sized(size);
    let at = starts;
    const reader = (response.body ?? new Blob([]).stream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw cut(error);
        });
        if (done) break;
        clearTimeout(timer);
        // A server that knows no ranges begins at the beginning.
        const skip = Math.max(0, Math.min(value.length, from - at));
        at += value.length;
        if (skip < value.length) yield skip === 0 ? value : value.subarray(skip);
        timer = setTimeout(abort, stall);
      }
    } finally {
      void reader.cancel().catch(() => {});
    }
    if (Number.isFinite(size) && at < size) throw new Cut("the connection was cut");
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** `ConnectionRefused` says more to people than "Unable to connect. Is the computer able to access the url?". */
const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: unknown; message?: string };
  return typeof code === "string" ? code : (message ?? String(error));
};
