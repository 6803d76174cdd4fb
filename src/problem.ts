/**
 * Every failure that a caller can see is a Problem, and every code has one row in PROBLEMS: its HTTP status, SOAP fault
 * and exit code. Codes are part of the interface: never renamed, never reused.
 */

interface Answer {
  /** HTTP status. */
  status: number;
  /** SOAP 1.1 fault code (SOAP 1.2 says Sender for Client and Receiver for Server). */
  soapFault: "Client" | "Server" | "VersionMismatch" | "MustUnderstand";
  /** Exit code of the executable; sysexits.h where it has a word for the case. */
  exitCode: number;
  /** One sentence for the documentation. */
  meaning: string;
}

const row = (status: number, soapFault: Answer["soapFault"], exitCode: number, meaning: string): Answer => ({
  status,
  soapFault,
  exitCode,
  meaning,
});
const client = (status: number, exitCode: number, meaning: string): Answer =>
  row(status, "Client", exitCode, meaning);
const server = (status: number, exitCode: number, meaning: string): Answer =>
  row(status, "Server", exitCode, meaning);

export const PROBLEMS = {
  invalid_request: client(
    400,
    65,
    "A value, parameter or message breaks a rule; the message names the rule.",
  ),
  malformed: client(
    400,
    65,
    "The body is not well-formed JSON or XML, or its bytes do not fit its encoding.",
  ),
  invalid_pattern: client(
    400,
    65,
    "A motif pattern is invalid or too large; the message names the position.",
  ),
  unknown_motif_class: client(400, 65, "No motif class has this name; similar names are listed."),
  usage: client(400, 64, "The command line has an unknown command or flag, or a flag without its value."),
  invalid_setting: client(
    400,
    78,
    "A setting has a value that is not allowed; the message names both and the choices.",
  ),
  url_too_long: client(414, 65, "The URL is longer than the limit that the message names."),
  unauthenticated: client(401, 77, "Credentials are missing or not valid."),
  second_factor_required: client(
    401,
    77,
    "The password is right, but the account has a second factor: send its code in the named field, or use a token.",
  ),
  second_factor_wrong: client(
    401,
    77,
    "The password is right, but the code of the second factor is wrong, expired or used.",
  ),
  second_factor_missing: client(403, 77, "The account must set up a second factor first."),
  confirmation_required: client(
    403,
    77,
    "Confirm the session with the password in the named field, or at the provider.",
  ),
  forbidden: client(403, 77, "The caller is authenticated but lacks permission."),
  job_failed: server(409, 70, "The job ended without a result; the message says why."),
  job_cancelled: client(409, 70, "The job was cancelled and has no result."),
  import_cancelled: client(409, 70, "The import was cancelled; nothing was written."),
  job_expired: client(410, 70, "The job ended so long ago that its result was deleted."),
  not_finished: server(409, 75, "The job has not ended yet; try again later."),
  not_found: client(404, 66, "The address or record does not exist, or the caller may not view it."),
  unknown_job: client(404, 66, "No job has this identifier."),
  method_not_allowed: client(
    405,
    64,
    "The address does not support this method; Allow lists the supported methods.",
  ),
  not_acceptable: client(406, 65, "The response is not available in the requested form."),
  timeout: client(408, 75, "The body did not arrive in time."),
  conflict: client(409, 75, "The record is referenced, or was changed in the meantime."),
  sharing_unconfirmed: client(
    409,
    75,
    "The request would show existing records to more people; the response lists them and has the `confirm` to repeat it with.",
  ),
  precondition_failed: client(
    412,
    75,
    "The record does not have the version in If-Match; it was changed in the meantime.",
  ),
  unknown_host: client(421, 65, "The Host of the request is not a name of this service."),
  too_large: client(413, 65, "The message is larger than the limit that the message names."),
  too_expensive: client(
    400,
    65,
    "The request takes longer than the limit; the message names the limit and the filters.",
  ),
  unsupported_media_type: client(415, 65, "The address does not accept this media type or encoding."),
  throttled: client(429, 75, "Too many failed sign-ins; Retry-After says for how many seconds to wait."),
  key_reused: client(422, 65, "The Idempotency-Key was used with another request."),
  version_mismatch: row(500, "VersionMismatch", 65, "The message is not an envelope of SOAP 1.1 or 1.2."),
  must_understand: row(500, "MustUnderstand", 65, "A mandatory SOAP header is not understood."),
  busy: server(503, 75, "The queue is full or the service is stopping; try again later."),
  identity_unavailable: server(
    503,
    75,
    "The account's directory (LDAP) or provider (OpenID Connect) does not respond; accounts with a local password can still sign in.",
  ),
  quota_exceeded: server(
    507,
    74,
    "Anonymous callers store as much as the limit allows that the message names; nothing was written.",
  ),
  disk_full: server(507, 74, "The disk is full; nothing was written, but reading still works."),
  disk_failed: server(503, 74, "The disk cannot be written or read; the log contains the system's message."),
  database_damaged: server(
    503,
    74,
    "The database is damaged; nothing is written until a backup is restored, and reading may fail.",
  ),
  already_running: server(503, 75, "Another process serves this data directory."),
  cannot_listen: server(503, 75, "The port is in use, or the machine does not have the address yet."),
  content_damaged: server(
    410,
    74,
    "A stored prediction or structure model is damaged; the message says which. Score again, or upload again.",
  ),
  bad_database: server(
    500,
    76,
    "The database cannot be used: another version wrote it, upgrading failed, or it was lost; it was not changed.",
  ),
  bad_corpus: server(500, 66, "A corpus file is missing, truncated or modified."),
  bad_backup: server(
    500,
    74,
    "A backup is damaged or incomplete, or could not be made; the message names the file.",
  ),
  bad_release: client(
    400,
    65,
    "A release cannot be installed: signature, version, a trial or the restart failed; the message says what is in place.",
  ),
  store_failed: server(
    502,
    69,
    "An object store (S3) or another server cannot be used; the message has advice.",
  ),
  email_failed: server(502, 69, "The mail server cannot be used; the message has its name and its answer."),
  queue_away: server(503, 69, "The job queue (Redis) does not respond; the message names it."),
  internal: server(500, 70, "A defect of labd; the log contains the cause under the request id."),
} as const satisfies Record<string, Answer>;

export type Code = keyof typeof PROBLEMS;

/** Members and indexes from a request to its part that is wrong, such as `["patterns", 1]`. */
export type Path = readonly (string | number)[];

export interface ProblemDetails {
  /** The part of the request that is wrong, which the message then begins with. */
  path?: Path;
  /** Position in the text at the path, from 1. */
  character?: number | undefined;
  /** All problems of a request with several; the message is that of the first. */
  problems?: readonly Problem[];
  /** Messages by field, in the form that Django REST framework clients read. */
  fields?: Record<string, string[]>;
  /** Further members of the body. */
  more?: Record<string, unknown>;
  /** The whole body, where it is a list: the errors of each of several new records. */
  list?: readonly unknown[];
  /** Methods for `Allow`, with 405. */
  allow?: string;
  /** Additional headers, such as WWW-Authenticate. */
  headers?: Record<string, string>;
  /** The underlying error: logged, never shown. */
  cause?: unknown;
}

export class Problem extends Error {
  readonly code: Code;
  /** The message without the place. */
  readonly reason: string;
  readonly path: Path | undefined;
  readonly character: number | undefined;
  /** Each problem that has a path. */
  readonly problems: readonly Problem[];
  readonly fields: Record<string, string[]> | undefined;
  readonly more: Record<string, unknown>;
  readonly list: readonly unknown[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: Code, reason: string, details: ProblemDetails = {}) {
    const { path, character, problems } = details;
    super(path ? `${printPath(path)}: ${placeInText(character, reason)}` : reason, { cause: details.cause });
    this.name = "Problem";
    this.code = code;
    this.reason = reason;
    this.path = path;
    this.character = character;
    this.problems = problems ?? (path ? [this] : []);
    this.fields = details.fields ?? (path && toFieldErrors(this));
    this.more = details.more ?? {};
    this.list = details.list;
    this.headers = { ...(details.allow ? { Allow: details.allow } : {}), ...details.headers };
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
  get soapFault(): Answer["soapFault"] {
    return PROBLEMS[this.code].soapFault;
  }
  get exitCode(): number {
    return PROBLEMS[this.code].exitCode;
  }

  /** The problem, the first of several, in the words of an interface. @param print the place of a path, such as `--pattern 2` */
  translatePaths(print: (path: Path) => string): Problem {
    const [{ code, path, character, reason } = this] = this.problems;
    if (!path) return this;
    const { headers, cause } = this;
    const place = character === undefined ? print(path) : `${print(path)}, character ${character}`;
    return new Problem(code, `${place}: ${reason}`, { headers, cause });
  }

  static diskFull(cause?: unknown): Problem {
    return new Problem(
      "disk_full",
      "The data disk is full: nothing was written. Reading, signing in and deleting work. Free space on the disk of the data directory; writing then resumes by itself.",
      { cause, headers: { "Retry-After": "60" } },
    );
  }

  /** Disk errors of SQLite and the system, and a database locked by another process. */
  static #ofDisk(cause: unknown): Problem | undefined {
    const code = String((cause as { code?: unknown } | null)?.code ?? "");
    const again = { cause, headers: { "Retry-After": "60" } };
    if (/^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code)) return Problem.diskFull(cause);
    if (/^(SQLITE_(READONLY|IOERR|CANTOPEN)\w*|EROFS|EIO)$/.test(code))
      return new Problem(
        "disk_failed",
        "The data disk cannot be written (read-only, or failing): nothing was written. The log contains the system's message.",
        again,
      );
    if (/^SQLITE_(CORRUPT\w*|NOTADB)$/.test(code))
      return new Problem(
        "database_damaged",
        "The database is damaged. Stop labd, copy the data directory elsewhere, and restore the last backup.",
        { cause },
      );
    if (code.startsWith("SQLITE_BUSY"))
      return new Problem("busy", "Another process is writing to the database. Try again.", { cause });
    return undefined;
  }

  /** Any thrown value as a Problem; others become `internal`, whose cause only the log shows. */
  static from(error: unknown): Problem {
    if (error instanceof Problem) return error;
    const ofDisk = Problem.#ofDisk(error);
    if (ofDisk) return ofDisk;
    return new Problem("internal", "Internal error. The log contains the cause under the request id.", {
      cause: error,
    });
  }

  /** True for errors of writes that a full or failing disk or a damaged database refuses: reading may still work. */
  static refusesWrites(error: unknown): boolean {
    return ["disk_full", "disk_failed", "database_damaged"].includes(Problem.from(error).code);
  }
}

/** A path as in programs, such as `patterns[1]`: the terms of JSON. */
const printPath = (path: Path): string =>
  path.map((part, i) => (typeof part === "number" ? `[${part}]` : `${i > 0 ? "." : ""}${part}`)).join("");

const placeInText = (character: number | undefined, reason: string): string =>
  character === undefined ? reason : `character ${character}: ${reason}`;

/** Messages by field: a problem within a list or an object counts for the field that holds it. */
function toFieldErrors({ path, character, reason, message }: Problem): Record<string, string[]> {
  const [field, ...rest] = path!;
  return { [field]: [rest.length === 0 ? placeInText(character, reason) : message] };
}

/** Collects the problems of a request, so that its client gets all of them at once. */
export class ProblemList {
  readonly #problems: Problem[] = [];

  add(path: Path, reason: string, code: Code = "invalid_request"): void {
    this.#problems.push(new Problem(code, reason, { path }));
  }

  /** The result of a function; null if it throws a problem with a path, which is added. */
  collect<T>(read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Problem) || error.problems.length === 0) throw error;
      this.#problems.push(...error.problems);
      return null;
    }
  }

  get first(): Problem | undefined {
    return this.#problems[0];
  }

  /** Number of problems of a field. */
  count(field: string): number {
    return this.#problems.filter(({ path }) => path![0] === field).length;
  }

  /** @param more further members of the body. @throws Problem with all of them, if there are any */
  throwIfAny(more: Record<string, unknown> = {}): void {
    const problems = this.#problems;
    if (problems.length === 0) return;
    const fields: Record<string, string[]> = {};
    for (const problem of problems)
      for (const [field, texts] of Object.entries(problem.fields!)) (fields[field] ??= []).push(...texts);
    throw new Problem(commonCode(problems), problems[0].message, { fields, more, problems });
  }
}

/** The code of problems that agree; otherwise `invalid_request`. */
export const commonCode = ([first, ...others]: readonly Problem[]): Code =>
  others.every(({ code }) => code === first.code) ? first.code : "invalid_request";

/** Longer input is truncated, so that it costs no time. */
const MAX_TYPED = 64;

/** Up to three choices similar to the input (edit distance at most a third of the length), best first. */
export function nearest(typed: string, choices: Iterable<string>): string[] {
  const wanted = typed.slice(0, MAX_TYPED).toLowerCase();
  return [...choices]
    .map((choice) => ({ choice, distance: editDistance(wanted, choice.toLowerCase()) }))
    .filter(
      ({ choice, distance }) =>
        distance <= Math.max(1, Math.floor(Math.max(choice.length, wanted.length) / 3)),
    )
    .sort((a, b) => a.distance - b.distance || (a.choice < b.choice ? -1 : 1))
    .slice(0, 3)
    .map(({ choice }) => choice);
}

/** Optimal string alignment distance: transposed neighbours, the most common typing error, count once. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      current[j] = Math.min(substitution, previous[j] + 1, current[j - 1] + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) current[j] = Math.min(current[j], beforePrevious[j - 2] + 1);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length];
}
