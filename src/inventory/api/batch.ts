import { type Json, KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import type { BatchKind } from "../records/journal.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import { type Call, noContent, respondJson } from "./call.ts";
import { withIdempotencyKey } from "./idempotency.ts";

export interface Batch<Value> {
  kind: BatchKind;
  /** Row of the batch that this one undoes. */
  undoes?: number;
  work(writer: RecordWriter): Value;
  respond(value: Value): Response;
}

/**
 * Runs a batch as the parameters ask for it (`dry_run`, `confirm`). Responds with the preview, with 204 if the client
 * prefers a minimal response, or by `respond`, naming the batch in the header Batch-Id.
 */
export function runBatch<Value>(call: Call, { work, respond, ...info }: Batch<Value>): Response {
  const { actor, request, store, url } = call;
  const number = (name: string, kind: "flag" | "integer", otherwise: number): number => {
    const given = url.searchParams.get(name);
    const value = given === null ? otherwise : KINDS[kind].parse(given);
    if (value === undefined || Number(value) < 0)
      throw parameterProblem(name, `Expected ${KINDS[kind].expected}.`);
    return Number(value);
  };
  const dryRun = number("dry_run", "flag", 0) === 1;
  const previewLimit = number("changes", "integer", Number.POSITIVE_INFINITY);
  const confirm = url.searchParams.get("confirm");
  const outcome = store.run({ ...info, actor, dryRun, confirm, previewLimit }, work);
  if ("preview" in outcome) return respondJson(outcome.preview);
  const isMinimal = /(^|[,;\s])return=minimal\b/i.test(request.headers.get("prefer") ?? "");
  const response = isMinimal ? noContent({ "Preference-Applied": "return=minimal" }) : respond(outcome.value);
  if (outcome.batch !== null) response.headers.set("Batch-Id", outcome.batch);
  return response;
}

/** Runs a batch once other writes allow it. */
export const writeBatch = <Value>(call: Call, batch: Batch<Value>): Promise<Response> =>
  call.store.enqueue(() => runBatch(call, batch));

/** The same for a POST: a repeated request with the same Idempotency-Key and body gets the first response again. */
export const writeOnce = <Value>(call: Call, body: Json, batch: Batch<Value>): Promise<Response> =>
  call.store.enqueue(() => withIdempotencyKey(call, body, () => runBatch(call, batch)));
