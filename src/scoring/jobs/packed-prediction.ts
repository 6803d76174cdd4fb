import type { Database } from "../../platform/sqlite.ts";

/** A prediction as it is stored and as it travels: JSON text, compressed (Zstandard) to a ninth to a quarter. */
export const packPrediction = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Bun.zstdCompressSync(text));

/** The text again. @throws where the bytes were damaged */
export const unpackPrediction = (bytes: Uint8Array<ArrayBuffer>): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(Bun.zstdDecompressSync(bytes));

/** A row of results: those from before were packed have their text. */
export interface StoredPrediction {
  prediction: string | null;
  packed: Uint8Array<ArrayBuffer> | null;
}

/** The JSON text of a prediction; null where there is none. */
export const textOf = ({ prediction, packed }: StoredPrediction): string | null =>
  packed ? unpackPrediction(packed) : prediction;

/** Stores the answer to a question. @returns its row; null where it is stored already */
export function storeResult(
  database: Database,
  digest: string,
  { corpus, method }: { corpus: string; method: string },
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

/** Row of the answer to a question on this corpus by this method; null where there is none. */
export function resultOf(
  database: Database,
  digest: string,
  { corpus, method }: { corpus: string; method: string },
): number | null {
  const row = database
    .query("SELECT rid FROM result WHERE digest = ? AND corpus = ? AND method = ?")
    .get(digest, corpus, method) as { rid: number } | null;
  return row?.rid ?? null;
}
