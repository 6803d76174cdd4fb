import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../../problem.ts";
import { basePathOf, type PublicUrlOptions } from "../../platform/origin.ts";
import type { Handlers } from "./handlers.ts";
import { readText } from "../../platform/body.ts";
import { API } from "./json-job.ts";
import { readSubmission, type SubmissionContext } from "./json-submission.ts";
import { RESULT_FORM_NAMES } from "./result-format.ts";
import { ENDPOINT } from "./route.ts";
import { endedPage, refusedPage, resultPage, TRY_FIELDS, type TryValues, waitingPage } from "./try-page.ts";

export interface TryOptions extends SubmissionContext {
  handlers: Handlers;
  clientOf: (request: Request) => string;
  maxMessageBytes: number;
  /** How clients reach the service. */
  reach: PublicUrlOptions;
}

/** Where the form of the endpoint's page is sent, and below it a page per job, whose address can be shared. */
const TRY = `${ENDPOINT}/try`;

const HTML = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" };
const HIDDEN = { parse: "none", detail: { hide: true } } as const;

export function tryRoutes(options: TryOptions): AnyElysia {
  return new Elysia({ name: "scoring-try" })
    .post(TRY, ({ request }) => submit(request, options), HIDDEN)
    .get(TRY, ({ request }) => seeOther(`${basePathOf(request, options.reach)}${ENDPOINT}#try`), HIDDEN)
    .get(`${TRY}/:id`, ({ params, request }) => show(request, params.id ?? "", options), HIDDEN)
    .all(TRY, () => refuse("GET, HEAD, POST"), HIDDEN)
    .all(`${TRY}/:id`, () => refuse("GET, HEAD"), HIDDEN) as unknown as AnyElysia;
}

async function submit(request: Request, options: TryOptions): Promise<Response> {
  const base = basePathOf(request, options.reach);
  const values = await readValues(request, options.maxMessageBytes);
  try {
    const submission = readSubmission(objectOf(values), options);
    const id = await options.handlers.runJob(submission, options.clientOf(request));
    return seeOther(`${base}${TRY}/${id}`);
  } catch (error) {
    const problem = Problem.from(error);
    if (problem.code === "internal") throw error;
    const html = refusedPage(`${base}/`, `${base}${TRY}`, values, options.classes.classes, problem);
    return new Response(html, { status: problem.status, headers: { ...HTML, ...problem.headers } });
  }
}

function show(request: Request, id: string, { handlers, reach }: TryOptions): Response {
  const base = basePathOf(request, reach);
  try {
    const result = handlers.getResult(id);
    if (result) {
      const address = {
        result: `${base}${API}/jobs/${id}/result`,
        forms: RESULT_FORM_NAMES,
        form: `${base}${ENDPOINT}#try`,
      };
      return new Response(resultPage({ ...result, ...address, home: `${base}/` }), { headers: HTML });
    }
    const { status, details } = handlers.getStatus(id);
    return new Response(waitingPage(`${base}/`, status, details), { headers: HTML });
  } catch (error) {
    const problem = Problem.from(error);
    if (problem.code === "internal") throw error;
    return new Response(endedPage(`${base}/`, problem, `${base}${ENDPOINT}#try`), {
      status: problem.status,
      headers: HTML,
    });
  }
}

const seeOther = (address: string): Response =>
  new Response(null, { status: 303, headers: { Location: address } });

async function readValues(request: Request, maxBytes: number): Promise<TryValues> {
  const type = (request.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new Problem(
      "unsupported_media_type",
      "Content-Type: a form is sent as application/x-www-form-urlencoded.",
    );
  }
  const given = new URLSearchParams(await readText(request, maxBytes));
  return Object.fromEntries(TRY_FIELDS.map((name) => [name, given.get(name) ?? ""])) as TryValues;
}

/** What the form holds, in the terms of the JSON service, which checks it. */
function objectOf({ protein, patterns, motifClasses, scoringModel }: TryValues): Record<string, unknown> {
  const lines = (text: string): string[] =>
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== "");
  const query = protein.trim();
  const heading = query.match(/^>([^\r\n]*)/)?.[1];
  const sequence = heading === undefined ? query : query.slice(heading.length + 1);
  const asked = {
    patterns: lines(patterns),
    motifClasses: lines(motifClasses),
    ...(scoringModel === "" ? {} : { scoringModel }),
  };
  // A digit tells an accession from a sequence: no residue is a digit.
  if (heading === undefined && /^\S*\d\S*$/.test(query)) return { accession: query, ...asked };
  return { identifier: heading?.trim() || "protein", querySequence: sequence.toUpperCase(), ...asked };
}

function refuse(allow: string): never {
  throw new Problem("method_not_allowed", `Method not allowed. Allowed: ${allow}.`, { allow });
}
