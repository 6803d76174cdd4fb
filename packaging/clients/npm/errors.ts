/** Messages of an error by field or parameter. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** An error of the server, in its words, or on the way there. */
export class LabdError extends Error {
  /** Code of the problem, such as `invalid_request`. */
  readonly code: string;
  /** HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The JSON of the answer. */
  readonly body: unknown;
  /** Identifies the request in the log of the server. */
  readonly requestId: string | undefined;

  constructor(message: string, code = "", status?: number, body?: unknown, requestId?: string) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.body = body;
    this.requestId = requestId;
  }

  /** Messages by field or parameter; empty if the error is about none. */
  get fields(): FieldErrors {
    const entries = Object.entries((this.body ?? {}) as Record<string, unknown>);
    return Object.fromEntries(
      entries.filter(([, value]) => Array.isArray(value) && value.every((one) => typeof one === "string")),
    ) as FieldErrors;
  }
}

/** The server cannot be reached, or the connection was lost. */
export class ConnectionFailed extends LabdError {}
/** The server refuses the request (400, 413, 422); `fields` says which fields and why. */
export class InvalidRequest extends LabdError {}
/** The token is missing, unknown, expired or revoked (401). */
export class NotAuthenticated extends LabdError {}
/** The account may not do this (403). */
export class Forbidden extends LabdError {}
/** There is no such record, protein or result, or you may not view it (404). */
export class NotFound extends LabdError {}
/** The request contradicts the state of a record (409). */
export class Conflict extends LabdError {}
/** The record has been changed since you read it (412). */
export class VersionConflict extends LabdError {}
/** The server cannot take the request now, also after retries (429, 503). */
export class Unavailable extends LabdError {}
/** The server failed (other 5xx). */
export class ServerFailure extends LabdError {}
/** A job, search or batch failed or was cancelled. */
export class WorkFailed extends LabdError {}
/** Several records have the code. Give the id of one. */
export class AmbiguousCode extends LabdError {}

const STATUSES: Readonly<Record<number, typeof LabdError>> = {
  401: NotAuthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  412: VersionConflict,
  429: Unavailable,
  503: Unavailable,
};

/** The error of an answer. @internal */
export async function readError(response: Response, hasToken: boolean): Promise<LabdError> {
  const { status, headers } = response;
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may answer with a page.
  }
  const { message, detail, code } = (body ?? {}) as { message?: string; detail?: string; code?: string };
  const Kind = STATUSES[status] ?? (status < 500 ? InvalidRequest : ServerFailure);
  const said =
    message ?? detail ?? `The server answered with status ${status}: ${text.slice(0, 200) || "no text"}`;
  const hint = status === 401 && !hasToken ? " Give a token, or set LABD_TOKEN." : "";
  return new Kind(said + hint, code ?? "", status, body, headers.get("x-request-id") ?? undefined);
}
