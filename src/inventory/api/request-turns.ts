/** The choice of the next waiting request, and the number of processes. */

/** Requests that compute at once; each process takes some 60 MB while it runs. */
const COMPUTING = 4;
/** Maximum for one caller, and for all callers without credentials. */
export const COMPUTING_PER_CALLER = 2;
const COMPUTING_ANONYMOUS = 3;
/** Limits of responses that wait for their readers, which need a process, but hardly any time. */
const MAX_OPEN = 6;
const OPEN_PER_CALLER = 4;
const OPEN_ANONYMOUS = 4;

/** Key of the only process that writes. */
export const WRITER = "writer";

/** Key of a caller: the account, or the network of callers without credentials. */
export const callerKey = (user: number | null, network: string): string =>
  user === null ? `network ${network}` : `user ${user}`;

const isAnonymous = ({ key }: { key?: string | undefined }): boolean => key?.startsWith("network ") ?? false;

/** The properties of a process that the scheduler needs. */
export interface Turn {
  /** Key of the caller on whose behalf the process works; undefined while idle. */
  readonly key: string | undefined;
  /** Time at which the response began to wait for the reader, in milliseconds. */
  readonly unreadSince: number | undefined;
}

/** The next request; `displaced` is a process whose response is cut off for it. */
export interface NextRequest<Request, Process> {
  request: Request;
  displaced: Process | undefined;
}

/**
 * Callers with fewer running requests go first, otherwise in the order of arrival. A response that nobody has read for
 * `patience` milliseconds makes room if there is no other; a number says after how long that may be.
 */
export function nextTurn<Request extends { key: string }, Process extends Turn>(
  waiting: readonly Request[],
  processes: readonly Process[],
  patience: number,
  now: number,
): NextRequest<Request, Process> | number | undefined {
  const open = processes.filter(({ key }) => key !== undefined && key !== WRITER);
  const computing = open.filter(({ unreadSince }) => unreadSince === undefined);
  const of = <T extends { key?: string | undefined }>(list: readonly T[], key: string): T[] =>
    list.filter((one) => one.key === key);
  const mayCompute = (request: Request): boolean =>
    request.key === WRITER
      ? of(processes, WRITER).length === 0
      : computing.length < COMPUTING &&
        of(computing, request.key).length < COMPUTING_PER_CALLER &&
        (!isAnonymous(request) || computing.filter(isAnonymous).length < COMPUTING_ANONYMOUS);
  const candidates = waiting
    .filter(mayCompute)
    .sort((a, b) => of(open, a.key).length - of(open, b.key).length);
  let later: number | undefined;
  for (const request of candidates) {
    const full = request.key === WRITER ? undefined : fullGroup(open, request);
    if (!full) return { request, displaced: undefined };
    const [displaced] = full
      .filter(({ unreadSince }) => unreadSince !== undefined)
      .sort((a, b) => a.unreadSince! - b.unreadSince!);
    const left = displaced ? displaced.unreadSince! + patience - now : Number.POSITIVE_INFINITY;
    if (left <= 0) return { request, displaced };
    later = Math.min(later ?? left, left);
  }
  return later;
}

/** Processes, one of which must end before the request can have one. */
function fullGroup<Process extends Turn>(
  open: readonly Process[],
  request: { key: string },
): readonly Process[] | undefined {
  const own = open.filter(({ key }) => key === request.key);
  if (own.length >= OPEN_PER_CALLER) return own;
  const anonymous = open.filter(isAnonymous);
  if (isAnonymous(request) && anonymous.length >= OPEN_ANONYMOUS) return anonymous;
  return open.length >= MAX_OPEN ? open : undefined;
}
