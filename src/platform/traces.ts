import type { Attributes, Context, Span, TextMapGetter, TextMapPropagator, Tracer } from "@opentelemetry/api";
import type { Log } from "./log.ts";
import { currentRequest } from "./request-context.ts";

/** Traces of requests, jobs and processes for a collector of OpenTelemetry (OTLP over HTTP). Off by default. */

/** What sends traces; null if they are off. Its library is loaded only then. */
let tracing: {
  api: typeof import("@opentelemetry/api");
  tracer: Tracer;
  propagator: TextMapPropagator;
} | null = null;
/** Spans of requests that submitted jobs, by the id of the job, until the job starts. The oldest give way. */
const submissions = new Map<string, { parent: Context; at: number }>();
const MAX_SUBMISSIONS = 10_000;
const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

export interface TraceOptions {
  /** Address of the collector, such as http://127.0.0.1:4318. */
  endpoint: string;
  version: string;
  log: Log;
}

/** Starts to send traces, unless the address is empty. @returns a function that sends the rest and stops */
export async function openTraces({ endpoint, version, log }: TraceOptions): Promise<() => Promise<void>> {
  if (endpoint === "") return () => Promise.resolve();
  const [api, { W3CTraceContextPropagator }, { OTLPTraceExporter }, { resourceFromAttributes }, sdk] =
    await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/core"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/sdk-trace"),
    ]);
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, "")}/v1/traces` });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": "labd", "service.version": version }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("labd", version);
  const own = { api, tracer, propagator: new W3CTraceContextPropagator() };
  tracing = own;
  return async () => {
    if (tracing === own) tracing = null;
    submissions.clear();
    await provider.shutdown().catch((error: unknown) => log.problem("traces", { cause: String(error) }));
  };
}

/** The span of a request, below the one that its `traceparent` names (W3C Trace Context); undefined if traces are off. */
export function startRequest({ method, headers }: Request): Span | undefined {
  if (!tracing) return undefined;
  const { api, tracer, propagator } = tracing;
  const caller = propagator.extract(api.ROOT_CONTEXT, headers, HEADERS);
  return tracer.startSpan(method, { kind: api.SpanKind.SERVER }, caller);
}

/** Ends the span of a request. Neither its address nor its caller is told, only the pattern of its route. */
export function endRequest(
  span: Span | undefined,
  of: { method: string; route: string; status: number; id: string },
): void {
  if (!span) return;
  span.updateName(`${of.method} ${of.route}`);
  span.setAttributes({
    "http.request.method": of.method,
    "http.route": of.route,
    "http.response.status_code": of.status,
    "labd.request": of.id,
  });
  endSpan(span, of.status >= 500);
}

function currentParent({ trace, ROOT_CONTEXT }: NonNullable<typeof tracing>["api"]): Context {
  const span = currentRequest()?.span;
  return span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT;
}

/** Work as a span below that of the current request. */
export async function traced<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const span = tracing?.tracer.startSpan(name, { attributes }, currentParent(tracing.api));
  let isFailed = true;
  try {
    const made = await work();
    isFailed = false;
    return made;
  } finally {
    endSpan(span, isFailed);
  }
}

/** Remembers the request that submits a job. */
export function traceSubmission(job: string): void {
  if (!tracing) return;
  submissions.set(job, { parent: currentParent(tracing.api), at: Date.now() });
  if (submissions.size > MAX_SUBMISSIONS) submissions.delete(submissions.keys().next().value!);
}

/** The span of an attempt to score a job, below the request that submitted it; undefined if traces are off. */
export function startJob(job: string, attempt: number): Span | undefined {
  if (!tracing) return undefined;
  const submitted = submissions.get(job);
  submissions.delete(job);
  const waited = submitted && { "labd.waited_milliseconds": Date.now() - submitted.at };
  const attributes = { "labd.job": job, "labd.attempt": attempt, ...waited };
  return tracing.tracer.startSpan("job", { attributes }, submitted?.parent ?? tracing.api.ROOT_CONTEXT);
}

/** Ends a span. The reason of a failure is in the log, not in the trace, since it may name records. */
export function endSpan(span: Span | undefined, isFailed: boolean): void {
  if (isFailed && tracing) span?.setStatus({ code: tracing.api.SpanStatusCode.ERROR });
  span?.end();
}
