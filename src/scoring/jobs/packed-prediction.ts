import type { Database } from "../../platform/sqlite.ts";
import type { ScoringVersion } from "./job.ts";

/** A prediction as it is stored and sent: JSON compressed by Zstandard, to a ninth to a quarter. */
export const packPrediction = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Bun.zstdCompressSync(text));

/** @throws if the bytes are damaged */
export const unpackPrediction = (bytes: Uint8Array<ArrayBuffer>): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(Bun.zstdDecompressSync(bytes));

/** A row of results; older ones have text instead of packed bytes. */
export interface StoredPrediction {
  prediction: string | null;
  packed: Uint8Array<ArrayBuffer> | null;
}

/** The prediction as JSON text; null if there is none. */
export const textOf = ({ prediction, packed }: StoredPrediction): string | null =>
  packed ? unpackPrediction(packed) : prediction;

/** Stores a result. @returns its row; null if it is stored already */
export function storeResult(
  database: Database,
  digest: string,
  { corpus, method }: ScoringVersion,
  packed: Uint8Array<ArrayBuffer>,
  now: number,
): number | null {
  const row = database
    .query(
      `INSERT INTO result (digest, corpus, method, prediction, packed, computed) VALUES (?, ?, ?, 'null', ?, ?)
       ON CONFLICT DO NOTHING RETURNING rid`,
    )
    .get(digest, corpus, method, packed, now) as { rid: number } | null;
  return row?.rid ?? null;
}

/** Row of the result on this corpus by this method; null if there is none. */
export function resultOf(
  database: Database,
  digest: string,
  { corpus, method }: ScoringVersion,
): number | null {
  const row = database
    .query("SELECT rid FROM result WHERE digest = ? AND corpus = ? AND method = ?")
    .get(digest, corpus, method) as { rid: number } | null;
  return row?.rid ?? null;
}
