import { Problem } from "../problem.ts";

/** A request that a client may repeat after a lost response: its key, and the hash of its content. */
export interface RepeatableRequest {
  key: string;
  digest: string;
}

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The value of the header Idempotency-Key, or null. @throws Problem invalid_request */
export function checkIdempotencyKey(key: string | null): string | null {
  if (key !== null && !KEY.test(key))
    throw new Problem("invalid_request", "Idempotency-Key: expected 1 to 255 printable ASCII characters.");
  return key;
}

/** @returns null for a request without Idempotency-Key. @throws Problem invalid_request */
export function readRepeatable({ headers }: Request, content: string): RepeatableRequest | null {
  const key = checkIdempotencyKey(headers.get("idempotency-key"));
  return key === null ? null : { key, digest: new Bun.CryptoHasher("sha256").update(content).digest("hex") };
}
