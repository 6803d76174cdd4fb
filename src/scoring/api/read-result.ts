import { gzipMember } from "../../platform/gzip-members.ts";
import type { FeatureSource } from "../features/annotation.ts";
import { hasKnownInstance } from "../features/known-verdicts.ts";
import type { Handlers } from "../jobs/handlers.ts";
import type { Form } from "../jobs/packed-prediction.ts";
import type { StoredResult } from "../jobs/stored-result.ts";
import { STORED_FORMATS } from "../results/document-formats.ts";
import { print } from "../results/print-thread.ts";

/**
 * The result of a job as JSON or XML: as it is stored, unless an instance is known in the query, which it does not tell. Null
 * until the job has ended. @throws Problem as `getResult` of the handlers, and as printing
 */
export async function readResult(
  { handlers, featureSource }: { handlers: Handlers; featureSource: () => FeatureSource },
  id: string,
  form: Form,
): Promise<StoredResult | null> {
  const stored = await handlers.getResult(id, form);
  const request = stored && handlers.request(id);
  const source = featureSource();
  if (!request || !hasKnownInstance(request, source)) return stored;
  const task = { ...(await handlers.getPrediction(id)), as: { result: form }, source };
  const printed = await print(task);
  const bytes = typeof printed === "string" ? new TextEncoder().encode(printed) : printed;
  const [head, tail] = STORED_FORMATS[form];
  const body = bytes.subarray(head.length, bytes.length - tail.length);
  return { count: 1, read: () => body, member: () => gzipMember(body) };
}
