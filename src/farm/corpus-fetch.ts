import { closeSync, fsyncSync, openSync, rmSync, type Stats, statfsSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { renameDurably } from "../platform/durable-file.ts";
import { createDirectory, createFile } from "../platform/owned-file.ts";
import { lockFile } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import { corpusPath, verifyCorpusFile } from "../scoring/index.ts";
import { CorpusServer } from "./corpus-server.ts";

export interface FetchOptions {
  /** Token of an account of the servers. */
  token?: string | undefined;
  /** Called for every piece that arrives. */
  report?: ((bytes: number, total: number, server: string) => void) | undefined;
  /** Receives a sentence where a download continues or waits, and where a server cannot be used. */
  tell?: ((sentence: string) => void) | undefined;
  /** Milliseconds before a cut connection is opened again; doubled from one attempt to the next. */
  pause?: number | undefined;
}

/** Ending of a file that is incomplete; the next download continues it. */
const FETCHING = ".fetching";
/** Bytes that stay free on the disk for the database. */
const RESERVE = 512 * 1024 ** 2;
/** Milliseconds between attempts to take the lock of another process's download. */
const LOCK_INTERVAL = 250;

/** Files that this process has verified, with inode, size and time. */
const verified = new Map<string, string>();

/**
 * The path of a corpus in the data directory, fetched from the first of the servers that has it. A download continues
 * after cut connections and kills, and gets the corpus's name only once its hash is right; one download of a corpus
 * runs at a time on a machine.
 * @param hash SHA-256 of the content, in hexadecimal
 * @param servers `https://server` (with its base path), in the order in which they are asked
 * @throws Problem bad_corpus, store_failed or not_found, with the reason of each server
 */
export async function fetchCorpus(
  hash: string,
  servers: readonly string[],
  dataDirectory: string,
  options: FetchOptions,
): Promise<string> {
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new Problem(
      "invalid_request",
      `${hash} is not the hash of a corpus. Expected 64 hexadecimal digits.`,
    );
  const path = corpusPath(dataDirectory, hash);
  if (isVerified(path, hash, options)) return path;
  const sources = servers.map((address) => new CorpusServer(address, options.token));
  createDirectory(dirname(path));
  const lock = await takeLock(path, options);
  try {
    const reasons: Problem[] = [];
    if (sources.length === 0) reasons.push(new Problem("bad_corpus", "No server offers the corpus."));
    for (const server of sources) {
      try {
        if (!isVerified(path, hash, options)) await fetchFile(server, path, hash, options);
        return path;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        reasons.push(error);
        if (sources.length > 1) options.tell?.(`${error.message} Trying the next server.`);
      }
    }
    const [first] = reasons;
    throw new Problem(
      first.code,
      `The corpus ${hash} cannot be fetched. ${reasons.map(({ message }) => message).join(" ")}`,
      { cause: first },
    );
  } finally {
    if (verified.has(path)) rmSync(`${path}.lock`, { force: true });
    lock.release();
  }
}

/** Waits until nobody else on this machine fetches this corpus. */
async function takeLock(path: string, { tell }: FetchOptions): Promise<{ release(): void }> {
  for (let isRepeat = false; ; isRepeat = true) {
    const lock = lockFile(`${path}.lock`);
    if (lock) return lock;
    if (!isRepeat) tell?.("Waiting for another download of this corpus.");
    await Bun.sleep(LOCK_INTERVAL);
  }
}

/** True if the file exists with the right content; a damaged one is removed. */
function isVerified(path: string, hash: string, { tell }: FetchOptions): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  if (verified.get(path) === fileState(stat)) return true;
  try {
    verifyCorpusFile(path, hash);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "bad_corpus") throw error;
    tell?.(`${error.message} It is discarded.`);
    rmSync(path, { force: true });
    return false;
  }
  verified.set(path, fileState(stat));
  return true;
}

const fileState = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;

async function fetchFile(
  server: CorpusServer,
  path: string,
  hash: string,
  options: FetchOptions,
): Promise<void> {
  const part = path + FETCHING;
  const had = statSync(part, { throwIfNoEntry: false })?.size ?? 0;
  if (had > 0) options.tell?.(`Continuing after the ${had.toLocaleString("en")} bytes that exist.`);
  await appendTo(part, server, hash, had, options);
  try {
    verifyCorpusFile(part, hash);
  } catch (error) {
    rmSync(part, { force: true });
    if (!(error instanceof Problem) || error.code !== "bad_corpus") throw error;
    if (had > 0) {
      options.tell?.(`The file does not have the hash ${hash}: it is discarded and fetched again.`);
      return fetchFile(server, path, hash, options);
    }
    const reason = error.message.replace(/( Add the corpus again)?\.$/, "");
    throw new Problem(
      "bad_corpus",
      `${server.address} sent a file for ${hash} that is not that corpus (${reason}). It was discarded.`,
      { cause: error },
    );
  }
  renameDurably(part, path);
  verified.set(path, fileState(statSync(path)));
}

/** Appends the missing bytes to a file and syncs it to the disk. */
async function appendTo(
  part: string,
  server: CorpusServer,
  hash: string,
  from: number,
  { report, pause }: FetchOptions,
): Promise<void> {
  let total = 0;
  const onSize = (bytes: number): void => {
    total = bytes;
    requireSpace(part, bytes - from);
  };
  const file = openSync(createFile(part), "a");
  let at = from;
  try {
    for await (const piece of server.corpus(hash, { from, onSize, pause })) {
      for (let written = 0; written < piece.length;)
        written += writeSync(file, piece, written, piece.length - written);
      at += piece.length;
      report?.(at, total, server.address);
    }
    fsyncSync(file);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
    throw new Problem(
      "store_failed",
      `The disk of ${dirname(part)} is full. Free some space, and run the same command again.`,
      { cause: error },
    );
  } finally {
    closeSync(file);
    if (at === 0) rmSync(part, { force: true });
  }
}

/** @throws Problem store_failed where the disk has no room for so many more bytes */
function requireSpace(part: string, more: number): void {
  const { bavail, bsize } = statfsSync(dirname(part));
  const room = bavail * bsize - RESERVE;
  if (more <= room) return;
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString("en")} MB`;
  throw new Problem(
    "store_failed",
    `${dirname(part)} has ${megabytes(Math.max(0, room))} free, but the corpus needs ${megabytes(more)} more. Free some space, and run the same command again.`,
  );
}
