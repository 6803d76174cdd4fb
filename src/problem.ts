/**
 * Every failure that a caller can see is a Problem, and every Problem has one row in PROBLEMS: what HTTP,
 * SOAP and the shell say of it. Codes are part of the interface: never renamed, never reused.
 */

interface Answer {
  /** HTTP status of the REST and plain HTTP answers. */
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

export const PROBLEMS = {
  invalid_request: row(400, "Client", 65, "A value, parameter or message breaks a rule; the text names it."),
  malformed: row(
    400,
    "Client",
    65,
    "The body is not well-formed JSON or XML, or its bytes do not fit its encoding.",
  ),
  invalid_pattern: row(
    400,
    "Client",
    65,
    "A motif pattern has no meaning or grows past the size cap; the position is named.",
  ),
  unknown_motif_class: row(400, "Client", 65, "No motif class has this name; near names are listed."),
  usage: row(400, "Client", 64, "The command line names an unknown verb or flag, or a flag lacks its value."),
  invalid_setting: row(
    400,
    "Client",
    78,
    "A setting has a value that is not allowed; the setting and the choices are named.",
  ),
  unauthenticated: row(401, "Client", 77, "Credentials are missing or not valid."),
  second_factor_required: row(
    401,
    "Client",
    77,
    "The password is right, and the account has a second factor: its code belongs in the field that is named, or a token is used.",
  ),
  second_factor_wrong: row(
    401,
    "Client",
    77,
    "The password is right, and the code of the second factor is wrong, over, or was used before.",
  ),
  second_factor_missing: row(
    403,
    "Client",
    77,
    "The account has to set up a second factor before it may do anything else.",
  ),
  confirmation_required: row(
    403,
    "Client",
    77,
    "The browser's session has to show again who it is: by the password in the field that is named, or at the provider.",
  ),
  forbidden: row(403, "Client", 77, "The caller is known, but may not do this."),
  job_failed: row(409, "Server", 70, "The job ended without a result; the text says why."),
  job_cancelled: row(409, "Client", 70, "The job was cancelled: it has no result and will have none."),
  import_cancelled: row(409, "Client", 70, "The import was cancelled; nothing was written."),
  job_expired: row(410, "Client", 70, "The job ended so long ago that its result was removed."),
  not_finished: row(409, "Server", 75, "The job has not ended yet: ask again later."),
  not_found: row(404, "Client", 66, "No such address or record, or none that the caller may see."),
  unknown_job: row(404, "Client", 66, "No job has this identifier."),
  method_not_allowed: row(
    405,
    "Client",
    64,
    "The address exists but not for this method; Allow lists the methods.",
  ),
  not_acceptable: row(406, "Client", 65, "The answer cannot be given in the wanted form."),
  timeout: row(408, "Client", 75, "The message did not arrive within the time that one may take."),
  conflict: row(409, "Client", 75, "The record is referred to, or changed in the meantime."),
  precondition_failed: row(
    412,
    "Client",
    75,
    "The record is not in the version that If-Match names; it changed in the meantime.",
  ),
  too_large: row(413, "Client", 65, "The message is larger than the limit that the text names."),
  unsupported_media_type: row(
    415,
    "Client",
    65,
    "The body has a media type or an encoding that this address does not read.",
  ),
  throttled: row(
    429,
    "Client",
    75,
    "Too many failed sign-ins; Retry-After says for how many seconds to wait.",
  ),
  key_reused: row(422, "Client", 65, "The Idempotency-Key was used with another request."),
  version_mismatch: row(500, "VersionMismatch", 65, "The message is not an envelope of SOAP 1.1 or 1.2."),
  must_understand: row(500, "MustUnderstand", 65, "A mandatory SOAP header is not known here."),
  busy: row(503, "Server", 75, "The queue is full or the service is stopping; try again later."),
  identity_unavailable: row(
    503,
    "Server",
    75,
    "The directory (LDAP) or provider (OpenID Connect) that knows the account does not answer; accounts with a password of their own sign in as ever.",
  ),
  disk_full: row(507, "Server", 74, "The disk is full; nothing was written, and reading goes on."),
  disk_failed: row(
    503,
    "Server",
    74,
    "The disk takes no writes, or cannot be read; the log has the system's own words.",
  ),
  already_running: row(503, "Server", 75, "Another process serves this data directory."),
  bad_database: row(
    500,
    "Server",
    76,
    "The database was written by a newer or an altered version; it is left untouched.",
  ),
  bad_corpus: row(500, "Server", 66, "A corpus file is missing, cut short or altered."),
  bad_backup: row(
    500,
    "Server",
    74,
    "A backup is damaged or not whole, or could not be made; the text names the file.",
  ),
  store_failed: row(
    502,
    "Server",
    69,
    "A store of objects (S3), or a server to fetch from, cannot be used; the text says what to do.",
  ),
  queue_away: row(
    503,
    "Server",
    69,
    "The queue between server and workers (Redis) does not answer; the text says which one.",
  ),
  internal: row(500, "Server", 70, "A defect of the program; the log has the cause under the request id."),
} as const satisfies Record<string, Answer>;

export type Code = keyof typeof PROBLEMS;

export interface ProblemDetails {
  /** Per field, what is wrong with it: shown by REST in the form that Django REST framework clients read. */
  fields?: Record<string, string[]>;
  /** Further members of the body, such as a verdict on each of several records. */
  more?: Record<string, unknown>;
  /** The whole body, where it is a list: what is wrong with each of several new records. */
  list?: readonly unknown[];
  /** Methods that the address answers, for 405. */
  allow?: string;
  /** Headers that the HTTP answer carries besides, such as WWW-Authenticate. */
  headers?: Record<string, string>;
  /** The underlying error: logged, never shown. */
  cause?: unknown;
}

export class Problem extends Error {
  readonly code: Code;
  readonly fields: Record<string, string[]> | undefined;
  readonly more: Record<string, unknown>;
  readonly list: readonly unknown[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: Code, message: string, details: ProblemDetails = {}) {
    super(message, { cause: details.cause });
    this.name = "Problem";
    this.code = code;
    this.fields = details.fields;
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

  /** What SQLite and the system say of a disk, or of another process that writes, in words of ours. */
  static #ofDisk(cause: unknown): Problem | undefined {
    const code = String((cause as { code?: unknown } | null)?.code ?? "");
    const again = { cause, headers: { "Retry-After": "60" } };
    if (/^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code))
      return new Problem(
        "disk_full",
        "The disk of the data is full: nothing was written. Reading goes on, and writing as soon as there is room.",
        again,
      );
    if (/^(SQLITE_(READONLY|IOERR|CANTOPEN)\w*|EROFS|EIO)$/.test(code))
      return new Problem(
        "disk_failed",
        "The disk of the data takes no writes (read-only, or failing): nothing was written. The log has the system's words.",
        again,
      );
    if (code === "SQLITE_BUSY")
      return new Problem("busy", "Another process is writing to the database. Try again.", { cause });
    return undefined;
  }

  /** Any thrown value as a Problem. What is not one becomes `internal`: its text is hidden, its cause kept for the log. */
  static from(error: unknown): Problem {
    if (error instanceof Problem) return error;
    const ofDisk = Problem.#ofDisk(error);
    if (ofDisk) return ofDisk;
    return new Problem("internal", "Internal error. The server's log has the cause.", { cause: error });
  }
}

/** What was typed is cut at this many characters, so that a hostile name costs nothing. */
const LONGEST_WORD = 64;

/** The choices nearest to what was typed (edit distance at most a third of the length, at most three), best first. */
export function nearest(typed: string, choices: Iterable<string>): string[] {
  const wanted = typed.slice(0, LONGEST_WORD).toLowerCase();
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

/**
 * Edit distance with swapped neighbours counted once (optimal string alignment), since they are the commonest
 * slip of the keyboard.
 */
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
