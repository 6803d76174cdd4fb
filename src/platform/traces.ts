import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Log } from "./log.ts";
import { currentRequest } from "./request-context.ts";

/** Traces of requests, jobs and processes for a collector of OpenTelemetry (OTLP over HTTP). Off by default. */

let tracer: Tracer | null = null;
/** Spans of requests that submitted jobs, by the id of the job, until the job starts. The oldest give way. */
const submissions = new Map<string, { parent: Context; at: number }>();
const MAX_SUBMISSIONS = 10_000;
const propagator = new W3CTraceContextPropagator();
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
export function openTraces({ endpoint, version, log }: TraceOptions): () => Promise<void> {
  if (endpoint === "") return () => Promise.resolve();
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, "")}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "labd", "service.version": version }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const own = provider.getTracer("labd", version);
  tracer = own;
  return async () => {
    if (tracer === own) tracer = null;
    submissions.clear();
    await provider.shutdown().catch((error: unknown) => log.problem("traces", { cause: String(error) }));
  };
}

/** The span of a request, below the one that its `traceparent` names (W3C Trace Context); undefined if traces are off. */
export const startRequest = ({ method, headers }: Request): Span | undefined =>
  tracer?.startSpan(method, { kind: SpanKind.SERVER }, propagator.extract(ROOT_CONTEXT, headers, HEADERS));

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

const currentParent = (): Context => {
  const span = currentRequest()?.span;
  return span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT;
};

/** Work as a span below that of the current request. */
export async function traced<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const span = tracer?.startSpan(name, { attributes }, currentParent());
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
  if (!tracer) return;
  submissions.set(job, { parent: currentParent(), at: Date.now() });
  if (submissions.size > MAX_SUBMISSIONS) submissions.delete(submissions.keys().next().value!);
}

/** The span of an attempt to score a job, below the request that submitted it; undefined if traces are off. */
export function startJob(job: string, attempt: number): Span | undefined {
  if (!tracer) return undefined;
  const submitted = submissions.get(job);
  submissions.delete(job);
  const waited = submitted && { "labd.waited_milliseconds": Date.now() - submitted.at };
  const attributes = { "labd.job": job, "labd.attempt": attempt, ...waited };
  return tracer.startSpan("job", { attributes }, submitted?.parent ?? ROOT_CONTEXT);
}

/** Ends a span. The reason of a failure is in the log, not in the trace, since it may name records. */
export function endSpan(span: Span | undefined, isFailed: boolean): void {
  if (isFailed) span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.end();
}
