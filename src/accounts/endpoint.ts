import { PROBLEMS } from "../problem.ts";

/** What an address is asked, besides the request: the parts of its path that its template names. */
export interface EndpointRequest {
  request: Request;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** One address, what answers it by method, and what the documentation says of that. */
export interface Endpoint {
  path: string;
  methods: Partial<
    Record<
      Method,
      { answer: (ask: EndpointRequest) => Response | Promise<Response>; detail: Record<string, unknown> }
    >
  >;
}

/** An answer that nobody keeps: it may be of one person alone. */
export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
  });

export const noContent = (): Response =>
  new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });

/** A list in the envelope of all lists, whole. */
export const list = (results: readonly unknown[]): Response => json({ total: results.length, results });

/** A row as it is printed: times, which are milliseconds, become RFC 3339. */
export const withTimestamps = <Row extends object>(row: Row, ...times: (keyof Row)[]): object =>
  Object.assign(
    {},
    row,
    Object.fromEntries(times.map((name) => [name, timestamp(row[name] as number | null)])),
  );

export const timestamp = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString();

const MEANINGS: Record<number, string> = {
  400: "A value breaks a rule; the field is named.",
  401: PROBLEMS.unauthenticated.meaning,
  403: "Not for this caller; the text says for whom.",
  404: "There is none.",
  409: "Not now: the text says why.",
  413: "There is no room for the file.",
};
const PROBLEM = {
  "application/json": {
    schema: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" } },
    },
  },
};

/** What the documentation says of one operation. */
export function describeOperation(
  summary: string,
  {
    description,
    answers,
    refusals = [401, 403],
    body,
    parameters = [],
  }: {
    description?: string;
    answers: Record<number, string>;
    refusals?: number[];
    /** Content of the request by media type. */
    body?: Record<string, object>;
    parameters?: object[];
  },
): Record<string, unknown> {
  return {
    tags: ["administration"],
    security: [{ token: [] }],
    summary,
    ...(description === undefined ? {} : { description }),
    parameters,
    ...(body ? { requestBody: { required: true, content: body } } : {}),
    responses: Object.fromEntries([
      ...Object.entries(answers).map(([status, said]) => [
        status,
        status === "204"
          ? { description: said }
          : { description: said, content: { "application/json": { schema: { type: "object" } } } },
      ]),
      ...refusals.map((status) => [status, { description: MEANINGS[status], content: PROBLEM }]),
    ]),
  };
}

export const parameter = (where: "path" | "query", name: string, description: string) => ({
  name,
  in: where,
  required: where === "path",
  description,
  schema: { type: "string" },
});
