import { Problem, PROBLEMS } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import type { Actor } from "./actor.ts";
import { unauthenticated } from "./unauthenticated.ts";
import { readText } from "../platform/body.ts";

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

/** @throws Problem unauthenticated, forbidden */
export function requireUser(
  accounts: Accounts,
  request: Request,
  options: { enrolling?: boolean } = {},
): Actor & { user: number; username: string } {
  const actor = accounts.authenticate(request, options);
  if (actor.user === null) throw unauthenticated("Authentication credentials were not provided.");
  return actor as Actor & { user: number; username: string };
}

/** @throws Problem unauthenticated; forbidden, which names who could */
export function requireAdministrator(accounts: Accounts, request: Request): Actor & { user: number } {
  const actor = requireUser(accounts, request);
  if (actor.superuser) return actor;
  const names = accounts
    .list()
    .filter((user) => user.is_superuser === 1 && user.is_active === 1)
    .map(({ username, full_name }) => (full_name === "" ? username : `${full_name} (${username})`));
  throw new Problem(
    "forbidden",
    `This is for administrators, and ${actor.username} is none. Ask ${names.slice(0, 5).join(", ")}.`,
  );
}

/** The texts of a body of JSON, those that are missing as empty. @throws Problem malformed, invalid_request */
export async function readTexts<Name extends string>(
  request: Request,
  names: readonly Name[],
  required: readonly Name[],
): Promise<Record<Name, string>> {
  let body: unknown;
  try {
    body = JSON.parse((await readText(request, 65_536)) || "{}");
  } catch (cause) {
    throw Problem.from(cause).code === "internal"
      ? new Problem("malformed", "The body is not JSON.", { cause })
      : cause;
  }
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw new Problem("invalid_request", "Expected an object in JSON.");
  const given = body as Record<string, unknown>;
  const fields: Record<string, string[]> = {};
  for (const name of Object.keys(given))
    if (!names.includes(name as Name))
      fields[/^\w{1,60}$/.test(name) ? name : "non_field_errors"] = [
        `There is no such field. Choices: ${names.join(", ")}.`,
      ];
  for (const name of names) {
    const value = given[name] ?? "";
    if (typeof value !== "string" || value.length > 1024)
      fields[name] = ["Expected a text of up to 1024 characters."];
    else if (value === "" && required.includes(name)) fields[name] = ["This field is required."];
  }
  const [first] = Object.entries(fields);
  if (first) throw new Problem("invalid_request", `${first[0]}: ${first[1].join(" ")}`, { fields });
  return Object.fromEntries(names.map((name) => [name, given[name] ?? ""])) as Record<Name, string>;
}

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

/** Texts of a body in JSON. */
export const texts = (required: readonly string[], optional: readonly string[] = []) => ({
  "application/json": {
    schema: {
      type: "object",
      required,
      properties: Object.fromEntries([...required, ...optional].map((name) => [name, { type: "string" }])),
    },
  },
});

/** Whose account it is about. */
export const usernameParameter = (): object => parameter("path", "username", "Of the account.");

export const parameter = (where: "path" | "query", name: string, description: string) => ({
  name,
  in: where,
  required: where === "path",
  description,
  schema: { type: "string" },
});
