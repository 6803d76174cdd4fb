import { Problem } from "../problem.ts";
import { emptyCorpus, openCorpusFile } from "../scoring/index.ts";
import type { ServerRecord } from "./redis-records.ts";

/** The corpus with the content of the server's corpus; a null path means the empty corpus. */
export interface VerifiedCorpus {
  hash: string;
  path: string | null;
  sequences: number;
}

/** Gives the verified file of a corpus. @throws Problem */
export type ProvideCorpus = (hash: string, report: (bytes: number, total: number) => void) => Promise<string>;

/**
 * Makes sure that a job scored here gives the same result as on the server: with the same corpus.
 * @throws Problem bad_corpus, not_found, store_failed
 */
export async function verifyServerCorpus(
  server: Pick<ServerRecord, "scoringVersion" | "corpusName">,
  provide: ProvideCorpus,
  report: (bytes: number, total: number) => void,
): Promise<VerifiedCorpus> {
  const { scoringVersion, corpusName } = server;
  const hash = scoringVersion.corpus;
  if (hash === emptyCorpus().hash) return { hash, path: null, sequences: 0 };
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new Problem("bad_corpus", "The server does not announce the hash of its corpus.");
  try {
    const path = await provide(hash, report);
    return { hash, path, sequences: openCorpusFile(path).sequenceCount };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = `The server scores on ${corpusName ?? "a corpus"}, which is missing here. ${error.message}`;
    throw new Problem(error.code, message, { cause: error });
  }
}
