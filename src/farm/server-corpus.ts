import { existsSync, readFileSync } from "node:fs";
import { METHOD } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import { emptyCorpus, openCorpusFile } from "../scoring/corpus/corpus.ts";
import { calibrationPath, corpusPath, writeDurably } from "../scoring/index.ts";
import type { ServerRecord } from "./redis-records.ts";

/** A corpus that was read to its last byte and is what the server scores on; null path: the empty one. */
export interface VerifiedCorpus {
  hash: string;
  path: string | null;
  sequences: number;
}

/**
 * Gives the file of a corpus that was proven to have this hash, and beside it the null of this hash or, for null, none;
 * fetches what lacks.
 * @throws Problem where it cannot be had
 */
export type ProvideCorpus = (
  hash: string,
  calibration: string | null,
  report: (bytes: number, total: number) => void,
) => Promise<string>;

/**
 * Proves that a job scored here gives what it would give at the server: the corpus has the content that its name says, and
 * the same null of its own. That one is small, and is there with the server's words.
 * @throws Problem bad_corpus, not_found, store_failed
 */
export async function verifyServerCorpus(
  dataDirectory: string,
  {
    scoringVersion,
    calibration,
    corpusName,
  }: Pick<ServerRecord, "scoringVersion" | "calibration" | "corpusName">,
  provide: ProvideCorpus,
  report: (bytes: number, total: number) => void,
): Promise<VerifiedCorpus> {
  const hash = scoringVersion.corpus;
  if (hash === emptyCorpus().hash) return { hash, path: null, sequences: 0 };
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new Problem("bad_corpus", "The server names no corpus by its hash.");
  const own = calibrationPath(corpusPath(dataDirectory, hash));
  if (calibration !== null && (!existsSync(own) || readFileSync(own, "utf8") !== calibration))
    writeDurably(own, [new TextEncoder().encode(calibration)]);
  try {
    const path = await provide(hash, scoringVersion.method.slice(METHOD.length + 1) || null, report);
    return { hash, path, sequences: openCorpusFile(path).sequenceCount };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = `The server scores on ${corpusName ?? "a corpus"}, which is not here. ${error.message}`;
    throw new Problem(error.code, message, { cause: error });
  }
}
