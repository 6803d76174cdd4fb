import type { Json } from "../model/field.ts";
import { bodyOf, type Call } from "./call.ts";
import { Problem } from "../../problem.ts";

/** Microseconds for which responses are kept: 24 hours. */
const KEPT = 24 * 3600 * 1_000_000;

/**
 * Runs a POST with an Idempotency-Key once: a repeated request gets the same response, marked by the header
 * Idempotency-Replayed. The response is stored in the transaction of the write, so that a retry after a crash finds
 * both or neither. Errors are not stored, because they change nothing.
 * @throws Problem invalid_request for an invalid key, key_reused for a key of another request
 */
export function withIdempotencyKey(call: Call, body: Json, work: () => Response): Response {
  const { actor, method, request, store, url } = call;
  const key = request.headers.get("idempotency-key");
  if (key === null || method !== "POST" || actor.user === null) return work();
  if (!/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key))
    throw new Problem("invalid_request", "Idempotency-Key: expected 1 to 255 printable ASCII characters.");
  const digest = new Bun.CryptoHasher("sha256")
    .update(`${url.pathname.replace(/\/+$/, "")}\n${url.search}\n${JSON.stringify(body)}`)
    .digest("hex");
  const { statements, clock } = store;
  const now = Math.round(clock.now() * 1000);
  try {
    return statements.writing(() => {
      statements.run({ text: "DELETE FROM idempotent_answer WHERE at < ?", args: [now - KEPT] });
      const known = statements.get({
        text: "SELECT request, status, headers, body FROM idempotent_answer WHERE user_rid = ? AND key = ?",
        args: [actor.user, key],
      });
      if (known && known.request !== digest)
        throw new Problem("key_reused", "This Idempotency-Key was used with another request.");
      if (known) {
        const headers = JSON.parse(String(known.headers)) as Record<string, string>;
        return new Response(known.body as string | null, {
          status: Number(known.status),
          headers: { ...headers, "Idempotency-Replayed": "true" },
        });
      }
      const response = work();
      const text = bodyOf(response);
      if (text === null && response.body !== null)
        throw new Problem("not_acceptable", "With an Idempotency-Key the response cannot be a file.");
      const headers = JSON.stringify(Object.fromEntries(response.headers));
      statements.run({
        text: "INSERT INTO idempotent_answer (user_rid, key, request, at, status, headers, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        args: [actor.user, key, digest, now, response.status, headers, text],
      });
      return response;
    });
  } catch (error) {
    // Cached reads may include what was rolled back.
    store.reader.forget();
    throw error;
  }
}
