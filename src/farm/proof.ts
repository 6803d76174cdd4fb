import { existsSync } from "node:fs";
import { join } from "node:path";
import { METHOD } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import { calibrationPath, readCalibration } from "../scoring/calibration-file.ts";
import { emptyCorpus, openCorpusFile, sha256 } from "../scoring/corpus.ts";
import { writeDurably } from "../scoring/durable-file.ts";
import type { ServerRecord } from "./layout.ts";

/** A corpus that was read to its last byte and is what the server scores on; null path: the empty one. */
export interface ProvenCorpus {
  hash: string;
  path: string | null;
  sequences: number;
}

/** Gets a corpus that is not here: puts it where `corpusFile` says. @throws Problem */
export type FetchCorpus = (hash: string) => Promise<void>;

export const corpusFile = (dataDirectory: string, hash: string): string =>
  join(dataDirectory, "corpora", `${hash}.labc`);

/**
 * Proves that a job scored here gives what it would give at the server: the corpus has the content that its name says, and
 * the same null of its own, which the server says.
 * @throws Problem bad_corpus, not_found
 */
export async function proveCorpus(
  dataDirectory: string,
  { basis, calibration, corpusName }: Pick<ServerRecord, "basis" | "calibration" | "corpusName">,
  fetch?: FetchCorpus,
): Promise<ProvenCorpus> {
  const hash = basis.corpus;
  const empty = emptyCorpus();
  if (hash === empty.hash) return { hash, path: null, sequences: 0 };
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new Problem("bad_corpus", "The server names no corpus by its hash.");
  const path = corpusFile(dataDirectory, hash);
  if (!existsSync(path)) await fetch?.(hash);
  if (!existsSync(path)) {
    throw new Problem(
      "not_found",
      `The corpus ${corpusName ?? ""} (${hash.slice(0, 12)}…) of the server is not in ${join(dataDirectory, "corpora")}.`,
    );
  }
  const corpus = openCorpusFile(path);
  try {
    corpus.verify(sha256);
  } catch (error) {
    throw new Problem("bad_corpus", `${path}: ${(error as Error).message}. Remove it.`, { cause: error });
  }
  if (corpus.hash !== hash) {
    throw new Problem("bad_corpus", `${path} holds another corpus than its name says. Remove it.`);
  }
  if (calibration !== null && !existsSync(calibrationPath(path))) {
    writeDurably(calibrationPath(path), [new TextEncoder().encode(calibration)]);
  }
  const own = readCalibration(path);
  const method = own ? `${METHOD} ${own.hash}` : METHOD;
  if (method !== basis.method) {
    throw new Problem(
      "bad_corpus",
      `${calibrationPath(path)} is not the null of the server's corpus. Remove it: the server's is taken then.`,
    );
  }
  return { hash, path, sequences: corpus.sequenceCount };
}
