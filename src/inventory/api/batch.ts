import { readRepeatable } from "../../platform/idempotency-key.ts";
import { type Json, KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { singleParameter } from "../model/listing.ts";
import type { BatchKind, RecordWrite } from "../records/batch-audit.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { WriteOptions } from "../records/store.ts";
import { storedBody, type Call, keepBodies, noContent, respondJson } from "./call.ts";
import { Problem } from "../../problem.ts";

export interface Batch<Value> {
  kind: BatchKind;
  /** Row of the batch that this batch undoes. */
  undoes?: number;
  /** The planned writes, if they were computed beforehand. */
  planned?: readonly RecordWrite[] | undefined;
  given?: WriteOptions["given"];
  work(writer: RecordWriter): Value;
  respond(value: Value): Response;
  /** Members of a preview besides the changes. */
  preview?: (value: Value) => object;
}

/**
 * Runs a batch as the parameters ask for it (`dry_run`, `confirm`). Responds with the preview, with 204 if the client
 * prefers a minimal response, or by `respond`, naming the batch in the header Batch-Id.
 */
export function runBatch<Value>(call: Call, { work, respond, preview, ...info }: Batch<Value>): Response {
  const { actor, request, store, url } = call;
  const dryRun = isDryRun(call);
  const previewLimit = readNumber(call, "changes", "integer", Number.POSITIVE_INFINITY);
  const confirm = singleParameter(url.searchParams, "confirm");
  let more: object | undefined;
  const outcome = store.run({ ...info, actor, dryRun, confirm, previewLimit }, (writer) => {
    const value = work(writer);
    if (dryRun) more = preview?.(value);
    return value;
  });
  if ("preview" in outcome) return respondJson({ ...outcome.preview, ...more });
  const isMinimal = /(^|[,;\s])return=minimal\b/i.test(request.headers.get("prefer") ?? "");
  const response = isMinimal ? noContent({ "Preference-Applied": "return=minimal" }) : respond(outcome.value);
  if (outcome.batch !== null) response.headers.set("Batch-Id", outcome.batch);
  return response;
}

function readNumber({ url }: Call, name: string, kind: "flag" | "integer", otherwise: number): number {
  const given = singleParameter(url.searchParams, name);
  const value = given === null ? otherwise : KINDS[kind].parse(given);
  if (value === undefined || Number(value) < 0)
    throw parameterProblem(name, `Expected ${KINDS[kind].expected}.`);
  return Number(value);
}

const isDryRun = (call: Call): boolean => readNumber(call, "dry_run", "flag", 0) === 1;

/**
 * Runs a batch when other writes allow it.
 * @param body of the request; a repeated POST with the same Idempotency-Key and body gets the first response again
 */
export const writeBatch = async <Value>(call: Call, body: Json, batch: Batch<Value>): Promise<Response> =>
  batch.planned && isDryRun(call)
    ? call.store.statements.reading(() => runBatch(call, batch))
    : call.store.enqueue(() => withIdempotencyKey(call, body, () => runBatch(call, batch)));

/** Microseconds for which responses are kept: 24 hours. */
const RETENTION_MICROSECONDS = 24 * 3600 * 1_000_000;

/**
 * Runs a POST with an Idempotency-Key once: a repeated request gets the same response, marked by the header
 * Idempotency-Replayed. The response is stored in the transaction of the write, so that a retry after a crash finds
 * both or neither. Errors are not stored, because they change nothing.
 * @throws Problem invalid_request for an invalid key, key_reused for a key of another request
 */
export function withIdempotencyKey(call: Call, body: Json, work: () => Response): Response {
  const { actor, method, request, store, url } = call;
  if (method !== "POST" || actor.user === null) return work();
  const content = `${url.pathname.replace(/\/+$/, "")}\n${url.search}\n${JSON.stringify(body)}`;
  const repeatable = readRepeatable(request, content);
  if (repeatable === null) return work();
  const { key, digest } = repeatable;
  const { statements, clock } = store;
  const now = Math.round(clock.now() * 1000);
  try {
    return statements.writing(() => {
      statements.run({
        text: "DELETE FROM idempotent_answer WHERE at < ?",
        args: [now - RETENTION_MICROSECONDS],
      });
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
      const response = keepBodies(work);
      const text = storedBody(response);
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
    // Cached reads may include changes that were rolled back.
    store.reader.forget();
    throw error;
  }
}
