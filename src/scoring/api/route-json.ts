import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import { Problem } from "../../problem.ts";
import type { JsonAnswers } from "./json-answers.ts";
import { API } from "./json-job.ts";
import { OPERATIONS } from "./json-operations.ts";

type Handler = (request: Request, id: string) => Response | Promise<Response>;
type Method = "GET" | "POST" | "DELETE";
interface Endpoint {
  path: string;
  methods: Partial<Record<Method, { handle: Handler; detail: object }>>;
}

/**
 * The addresses of the JSON service, each with and without a slash at its end. Handlers throw Problems, which the
 * composing application turns into answers.
 */
export function jsonRoutes(answers: JsonAnswers): AnyElysia {
  const app = new Elysia({ name: "scoring-json" });
  for (const endpoint of endpointsOf(answers)) addEndpoint(app, endpoint);
  return app as unknown as AnyElysia;
}

function endpointsOf(answers: JsonAnswers): Endpoint[] {
  const of = (handle: Handler, operation: keyof typeof OPERATIONS) => ({
    handle,
    detail: OPERATIONS[operation],
  });
  return [
    { path: "/jobs", methods: { POST: of(answers.submit, "submit") } },
    { path: "/jobs/:id", methods: { GET: of(answers.job, "job"), DELETE: of(answers.cancel, "cancel") } },
    { path: "/jobs/:id/result", methods: { GET: of(answers.result, "result") } },
    { path: "/jobs/:id/events", methods: { GET: of(answers.events, "events") } },
    { path: "/motif-classes", methods: { GET: of(answers.motifClasses, "motifClasses") } },
    { path: "/patterns", methods: { POST: of(answers.pattern, "pattern") } },
    { path: "/corpus", methods: { GET: of(answers.corpus, "corpus") } },
    { path: "/corpora/:id", methods: { GET: of(answers.corpusFile, "corpusFile") } },
    { path: "/corpora/:id/calibration", methods: { GET: of(answers.calibration, "calibration") } },
  ];
}

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

function addEndpoint(app: Elysia, { path, methods }: Endpoint): void {
  const allow = ["OPTIONS", ...Object.keys(methods), ...(methods.GET ? ["HEAD"] : [])].sort().join(", ");
  const dispatch = ({ request, params }: { request: Request; params?: Record<string, string> }) => {
    // The server leaves the body out of an answer to HEAD.
    const method = request.method === "HEAD" ? "GET" : request.method;
    if (method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: allow } });
    const found = Object.hasOwn(methods, method) ? methods[method as Method] : undefined;
    if (found) return found.handle(request, params?.id ?? "");
    throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${allow}.`, { allow });
  };
  for (const [method, { detail }] of Object.entries(methods)) {
    app.route(method, API + path, dispatch, { parse: "none", detail: detail as DocumentDecoration });
  }
  app.all(API + path, dispatch, HIDDEN);
  app.all(`${API + path}/`, dispatch, HIDDEN);
}
