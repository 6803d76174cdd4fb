import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { Problem } from "../problem.ts";
import {
  calibrationPath,
  corpusPath,
  readCalibration,
  readCalibrationText,
  verifyCorpusFile,
  writeDurably,
} from "../scoring/index.ts";
import { download } from "../platform/download.ts";
import { isStoreAddress, ObjectStore, type StoreAccess } from "../platform/object-store.ts";
import { lockFile } from "../platform/sqlite.ts";

export interface FetchOptions {
  /** For `s3://` sources. */
  access: StoreAccess;
  /** For `https://` sources: what a labd server knows the caller by. */
  token?: string | undefined;
  /**
   * Hash of the corpus's own null that has to lie beside it; null: none may. By default it is whatever the source has.
   */
  calibration?: string | null | undefined;
  /** How far it is, at every piece that came. */
  report?: ((bytes: number, total: number, source: string) => void) | undefined;
  /** Told in a sentence where work that was begun is gone on with, where it waits, and where a source is of no use. */
  tell?: ((sentence: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds before a cut connection is taken up again; longer each time in a row. */
  pause?: number | undefined;
}

/** How far a source reads, and what it tells. */
interface Reading {
  from: number;
  sized: (bytes: number) => void;
  signal?: AbortSignal | undefined;
  pause?: number | undefined;
}

/** Where a corpus can be had. */
interface Source {
  address: string;
  corpus(hash: string, reading: Reading): AsyncIterable<Uint8Array>;
  /** The corpus's null as text; null where the source has none. */
  calibration(hash: string): Promise<string | null>;
}

/** Ending of what is under way. It stays where a download is cut off, and the next one goes on behind it. */
const FETCHING = ".fetching";
/** Bytes that stay free on the disk whatever is fetched: a database there needs them more. */
const RESERVE = 512 * 1024 ** 2;
/** Milliseconds between looks at what another process fetches. */
const LOOK = 250;
/** Bytes of a calibration: some hundred numbers. */
const LARGEST_CALIBRATION = 16 * 1024 ** 2;

/** Downloads of this process, by path: who asks for the same waits for the same. */
const underWay = new Map<string, Promise<string>>();
/** Files that this process has read to the last byte, with the state that they were in. */
const proven = new Map<string, string>();

/**
 * The corpus of this content, in the data directory: where it lacks, from the first source that has it. What comes goes
 * to the disk as it comes, through cut connections, and goes on where it was after a kill. A file is there under its
 * name only once all of it was read and has the hash; what has not is thrown away, and the next source is asked. One
 * download of a corpus runs at a time, however many in this process or others on this machine ask.
 * @param hash SHA-256 of the content, in hexadecimal
 * @param sources `https://server` (with its base path), or `s3://bucket/prefix`, in the order in which they are asked
 * @returns the path of the file
 * @throws Problem bad_corpus, store_failed or not_found, which tells of each source why it is of no use
 */
export async function fetchCorpus(
  hash: string,
  sources: readonly string[],
  dataDirectory: string,
  options: FetchOptions,
): Promise<string> {
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new Problem(
      "invalid_request",
      `${hash} is no hash of a corpus. Expected 64 digits of hexadecimal.`,
    );
  const path = corpusPath(dataDirectory, hash);
  const key = `${path} ${options.calibration}`;
  const running = underWay.get(key) ?? provide(path, hash, sources, options);
  if (!underWay.has(key)) {
    underWay.set(key, running);
    const forget = (): void => void underWay.delete(key);
    running.then(forget, forget);
  }
  return running;
}

async function provide(
  path: string,
  hash: string,
  addresses: readonly string[],
  options: FetchOptions,
): Promise<string> {
  const isThere = (): boolean => isProven(path, hash, options) && hasCalibration(path, options.calibration);
  // The corpus gets its name after its null: where it is there, nobody need be asked.
  if (isThere()) return path;
  const sources = addresses.map((address) => sourceOf(address, options));
  mkdirSync(dirname(path), { recursive: true });
  const lock = await turn(path, options);
  try {
    const wrong: Problem[] = [];
    if (addresses.length === 0) wrong.push(new Problem("bad_corpus", "There is no source to fetch it from."));
    for (const source of sources) {
      try {
        const settle = (): Promise<void> => fetchCalibration(source, path, hash, options);
        await (isProven(path, hash, options) ? settle() : fetchFile(source, path, hash, options, settle));
        return path;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        wrong.push(error);
        if (addresses.length > 1) options.tell?.(`${error.message} Trying the next source.`);
      }
    }
    const [first] = wrong;
    throw new Problem(
      first.code,
      `The corpus ${hash} cannot be had. ${wrong.map(({ message }) => message).join(" ")}`,
      { cause: first },
    );
  } finally {
    // With the corpus in place nobody downloads it again, whatever lock they hold.
    if (proven.has(path)) rmSync(`${path}.lock`, { force: true });
    lock.release();
  }
}

/** Waits until nobody else fetches this corpus. */
async function turn(path: string, { tell, signal }: FetchOptions): Promise<{ release(): void }> {
  for (let told = false; ; told = true) {
    const lock = lockFile(`${path}.lock`);
    if (lock) return lock;
    if (!told) tell?.("Another process fetches this corpus: waiting for it.");
    await Bun.sleep(LOOK);
    signal?.throwIfAborted();
  }
}

/** Whether the file is there and is what its name says; one that is not is taken away. */
function isProven(path: string, hash: string, { tell }: FetchOptions): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  if (proven.get(path) === stateOf(stat)) return true;
  try {
    verifyCorpusFile(path, hash);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "bad_corpus") throw error;
    if (/\.null was altered/.test(error.message)) {
      rmSync(calibrationPath(path), { force: true });
      return isProven(path, hash, { tell } as FetchOptions);
    }
    tell?.(`${error.message} It is thrown away.`);
    rmSync(path, { force: true });
    return false;
  }
  proven.set(path, stateOf(stat));
  return true;
}

const stateOf = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;

function hasCalibration(path: string, wanted: string | null | undefined): boolean {
  return wanted === undefined || (readCalibration(path)?.hash ?? null) === wanted;
}

async function fetchFile(
  source: Source,
  path: string,
  hash: string,
  options: FetchOptions,
  settle: () => Promise<void>,
): Promise<void> {
  const part = path + FETCHING;
  const had = statSync(part, { throwIfNoEntry: false })?.size ?? 0;
  if (had > 0) options.tell?.(`Going on behind the ${had.toLocaleString("en")} bytes that came before.`);
  await stream(source, part, hash, had, options);
  try {
    verifyCorpusFile(part, hash);
  } catch (error) {
    rmSync(part, { force: true });
    if (!(error instanceof Problem) || error.code !== "bad_corpus") throw error;
    if (had > 0) {
      options.tell?.(`What came is not ${hash}: it is thrown away, and all of it fetched anew.`);
      return fetchFile(source, path, hash, options, settle);
    }
    throw new Problem(
      "bad_corpus",
      `${source.address} gave a file for ${hash} that is not that corpus (${error.message.replace(/ Add the corpus again\.$/, "").replace(/\.$/, "")}): it was thrown away.`,
      { cause: error },
    );
  }
  await settle();
  renameSync(part, path);
  syncDirectory(dirname(path));
  proven.set(path, stateOf(statSync(path)));
}

/** Appends what lacks of a file, and waits until it is on the disk. */
async function stream(
  source: Source,
  part: string,
  hash: string,
  from: number,
  { report, signal, pause }: FetchOptions,
): Promise<void> {
  let total = 0;
  const sized = (bytes: number): void => {
    total = bytes;
    refuseFull(part, bytes - from);
  };
  const file = openSync(part, "a");
  let at = from;
  try {
    for await (const piece of source.corpus(hash, { from, sized, signal, pause })) {
      for (let written = 0; written < piece.length;)
        written += writeSync(file, piece, written, piece.length - written);
      at += piece.length;
      report?.(at, total, source.address);
    }
    fsyncSync(file);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
    throw new Problem(
      "store_failed",
      `The disk of ${dirname(part)} is full. Make room, and give the same command again.`,
      { cause: error },
    );
  } finally {
    closeSync(file);
    if (at === 0) rmSync(part, { force: true });
  }
}

/** @throws Problem store_failed where the disk has no room for so much more */
function refuseFull(part: string, more: number): void {
  const { bavail, bsize } = statfsSync(dirname(part));
  const room = bavail * bsize - RESERVE;
  if (more <= room) return;
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString("en")} MB`;
  throw new Problem(
    "store_failed",
    `${dirname(part)} has room for ${megabytes(Math.max(0, room))}, and ${megabytes(more)} are to come. Make room, and give the same command again.`,
  );
}

/** Brings the corpus's own null to the state that is wanted. */
async function fetchCalibration(
  source: Source,
  path: string,
  hash: string,
  { calibration: wanted }: FetchOptions,
): Promise<void> {
  if (wanted === null) return rmSync(calibrationPath(path), { force: true });
  if (wanted !== undefined && hasCalibration(path, wanted)) return;
  const text = await source.calibration(hash);
  const say = (what: string): Problem =>
    new Problem("bad_corpus", `${source.address} ${what} for the corpus ${hash}.`);
  if (text === null) {
    if (wanted !== undefined) throw say(`has no calibration ${wanted}`);
    return;
  }
  const found = readCalibrationText(text, `The calibration of ${hash} at ${source.address}`);
  if (!found || found.corpus !== hash || !calibrationPath(path).endsWith(`.${found.method}.null`))
    throw say("gave a calibration that does not belong to this version or not");
  if (wanted !== undefined && found.hash !== wanted)
    throw say(`gave the calibration ${found.hash} instead of ${wanted}`);
  if (!hasCalibration(path, found.hash))
    writeDurably(calibrationPath(path), [new TextEncoder().encode(text)]);
}

/** @throws Problem invalid_request for an address of neither kind */
function sourceOf(address: string, { access, token }: FetchOptions): Source {
  if (isStoreAddress(address)) return storeSource(new ObjectStore(address, access));
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "")
    throw new Problem(
      "invalid_request",
      `${address} is no source of corpora. Expected https://server or s3://bucket/prefix, without a password or parameters.`,
    );
  return serverSource(url.href.replace(/\/+$/, ""), token);
}

/** Name of a corpus in a store, and of its null beside it. */
export const objectName = (hash: string): string => `${hash}.labc`;
export const calibrationName = (hash: string): string => calibrationPath(objectName(hash));

function storeSource(store: ObjectStore): Source {
  return {
    address: store.address,
    corpus: (hash, reading) => store.read(objectName(hash), reading),
    calibration: (hash) => absentIsNull(() => store.text(calibrationName(hash))),
  };
}

function serverSource(base: string, token: string | undefined): Source {
  const read = (path: string, reading: Reading): AsyncGenerator<Uint8Array> => {
    const what = `${base}${path}`;
    return download(
      (at, aborted) =>
        fetch(what, {
          signal: aborted,
          // A token is for this server: it does not go along to another.
          redirect: "manual",
          headers: {
            "Accept-Encoding": "identity",
            ...(token === undefined ? {} : { Authorization: `Token ${token}` }),
            ...(at > 0 ? { Range: `bytes=${at}-` } : {}),
          },
        }),
      { what, ...reading, refused: (status) => refusal(status, what, token) },
    );
  };
  return {
    address: base,
    corpus: (hash, reading) => read(`/api/scoring/corpora/${hash}`, reading),
    calibration: (hash) =>
      absentIsNull(async () => {
        const pieces: Uint8Array[] = [];
        const sized = (bytes: number): void => {
          if (bytes > LARGEST_CALIBRATION)
            throw new Problem("bad_corpus", `${base} gave ${bytes} bytes for a calibration.`);
        };
        for await (const piece of read(`/api/scoring/corpora/${hash}/calibration`, { from: 0, sized }))
          pieces.push(piece);
        return Buffer.concat(pieces).toString("utf8");
      }),
  };
}

function refusal(status: number, what: string, token: string | undefined): Problem | undefined {
  if (status === 404) return new Problem("not_found", `${what} is not there: the server has no such corpus.`);
  if (status !== 401 && status !== 403) return undefined;
  return new Problem(
    "unauthenticated",
    `${what} wants ${token === undefined ? "a token: give one of an account of that server" : "another token: this one is not valid there"}.`,
  );
}

async function absentIsNull(read: () => Promise<string>): Promise<string | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return null;
    throw error;
  }
}

function syncDirectory(directory: string): void {
  if (process.platform === "win32" || !existsSync(directory)) return;
  const entry = openSync(directory, "r");
  fsyncSync(entry);
  closeSync(entry);
}
