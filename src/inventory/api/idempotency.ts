import type { Json } from "../model/field.ts";
import { bodyOf, type Call } from "./response.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

/** How long an answer is kept, in microseconds: 24 hours. */
const KEPT = 24 * 3600 * 1_000_000;

/**
 * Answers a POST with an Idempotency-Key once: the same request with the same key gets the same answer again, marked by
 * the header Idempotency-Replayed. The answer is kept in the transaction of the write, so that a retry after a crash
 * finds both or neither. Refusals are not kept: nothing was done.
 * @throws Problem invalid_request for a key that is none, key_reused with another request
 */
export function withIdempotencyKey(store: Store, call: Call, body: Json, work: () => Response): Response {
  const key = call.request.headers.get("idempotency-key");
  if (key === null || call.method !== "POST" || call.actor.user === null) return work();
  if (!/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key))
    throw new Problem("invalid_request", "Idempotency-Key: expected 1 to 255 printable ASCII characters.");
  const request = new Bun.CryptoHasher("sha256")
    .update(`${call.url.pathname.replace(/\/+$/, "")}\n${call.url.search}\n${JSON.stringify(body)}`)
    .digest("hex");
  const { statements, clock } = store;
  const now = Math.round(clock.now() * 1000);
  try {
    return statements.writing(() => {
      statements.run({ text: "DELETE FROM idempotent_answer WHERE at < ?", args: [now - KEPT] });
      const known = statements.get({
        text: "SELECT request, status, headers, body FROM idempotent_answer WHERE user_rid = ? AND key = ?",
        args: [call.actor.user, key],
      });
      if (known && known.request !== request)
        throw new Problem("key_reused", "This Idempotency-Key was used with another request.");
      if (known)
        return new Response(known.body as string | null, {
          status: Number(known.status),
          headers: {
            ...(JSON.parse(String(known.headers)) as Record<string, string>),
            "Idempotency-Replayed": "true",
          },
        });
      const response = work();
      const kept = bodyOf(response);
      // A file is made while it is sent; it cannot be given again from what is kept.
      if (kept === null && response.body !== null)
        throw new Problem("not_acceptable", "With an Idempotency-Key the answer cannot be a file.");
      statements.run({
        text: "INSERT INTO idempotent_answer (user_rid, key, request, at, status, headers, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        args: [
          call.actor.user,
          key,
          request,
          now,
          response.status,
          JSON.stringify(Object.fromEntries(response.headers)),
          kept,
        ],
      });
      return response;
    });
  } catch (error) {
    // What was read for the answer may have been taken back with the write.
    store.reader.forget();
    throw error;
  }
}
