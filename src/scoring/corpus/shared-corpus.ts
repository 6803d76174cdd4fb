import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { CorpusHasher } from "../../motif/index.ts";
import { memoryLimit } from "../../platform/memory.ts";
import { Problem } from "../../problem.ts";

const CHUNK_BYTES = 1 << 20;
/** Share of the memory that a corpus may take; a larger one is mapped by each worker. */
const LARGEST_SHARE = 0.25;

/**
 * The last corpus that was read, in memory that all workers share. A mapped file would end the process, with all its jobs,
 * if the file is truncated or its disk fails.
 */
export class SharedCorpus {
  #last: {
    path: string;
    bytes: SharedArrayBuffer | undefined | Promise<SharedArrayBuffer | undefined>;
  } | null = null;

  constructor(private readonly maxBytes = memoryLimit() * LARGEST_SHARE) {}

  /**
   * The content of the file, checked against its hash while it is read; undefined for one that is too large. A promise only
   * until it is read. @throws Problem bad_corpus, by the promise; the next call tries again
   */
  read(path: string): SharedArrayBuffer | undefined | Promise<SharedArrayBuffer | undefined> {
    if (this.#last?.path === path) return this.#last.bytes;
    const bytes = readShared(path, this.maxBytes);
    const reading = { path, bytes: bytes as Awaited<typeof bytes> | typeof bytes };
    this.#last = reading;
    bytes.then(
      (read) => {
        reading.bytes = read;
      },
      () => {
        if (this.#last === reading) this.#last = null;
      },
    );
    return bytes;
  }
}

async function readShared(path: string, maxBytes: number): Promise<SharedArrayBuffer | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const { size } = await file.stat();
    return size > maxBytes ? undefined : await copy(file, size);
  } catch (error) {
    const why = error instanceof Damage ? error.message : "cannot be read";
    throw new Problem("bad_corpus", `corpora/${basename(path)} ${why}.`, {
      cause: error,
    });
  } finally {
    await file?.close();
  }
}

class Damage extends Error {}

async function copy(file: FileHandle, size: number): Promise<SharedArrayBuffer> {
  const shared = new SharedArrayBuffer(size);
  const bytes = new Uint8Array(shared);
  const chunk = new Uint8Array(CHUNK_BYTES);
  const hasher = new CorpusHasher();
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(CHUNK_BYTES, size - at), at);
    if (bytesRead === 0) throw new Damage("was truncated while it was read. Add the corpus again");
    const part = chunk.subarray(0, bytesRead);
    bytes.set(part, at);
    hasher.update(part);
    at += bytesRead;
  }
  if (!hasher.matches())
    throw new Damage("is truncated or altered: its content does not match its hash. Add the corpus again");
  return shared;
}
