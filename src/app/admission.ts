import type { Accounts } from "../accounts/accounts.ts";
import { isUnsafe } from "../platform/origin.ts";
import type { Database } from "../platform/sqlite.ts";
import type { StorageState } from "../platform/storage-state.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import type { Problem } from "../problem.ts";

interface Parts {
  accounts: Accounts;
  database: Database;
  storage: StorageState;
}

/**
 * Makes the function that admits requests before they are routed: it refuses writes that the disk cannot take, lets others
 * wait for the write lock, and verifies credentials.
 */
export const makeAdmission =
  ({ accounts, database, storage }: Parts) =>
  (request: Request, path: string): void | Promise<void> => {
    if (path.startsWith("/soap/")) return accounts.verifyHeader(request);
    const problem = writeProblem(request, path, storage);
    if (problem) throw problem;
    const free = needsWriteLock(request) ? getWriteLock(database).free() : undefined;
    return free ? free.then(() => accounts.verifyHeader(request)) : accounts.verifyHeader(request);
  };

/** Searches with long conditions come by POST. */
const isWrite = ({ method, url }: Request): boolean => isUnsafe(method) && !/\/search\/?(\?|$)/.test(url);

/** Requests by which people and programs sign in, also on a full disk. */
const SIGN_IN = /^\/api\/(?:(?:v2\/)?(?:token-auth|session)|account\/confirmation|oidc\/[a-z-]+)\/?$/;

const DELETION = /\/(?:bulk_delete|purge)\/?$/;

function writeProblem(request: Request, path: string, storage: StorageState): Problem | undefined {
  if (!isWrite(request)) return undefined;
  const isDeletion = request.method === "DELETE" || DELETION.test(path);
  return !isDeletion && SIGN_IN.test(path) ? storage.damage() : storage.problem(isDeletion);
}

/** Imports have queues of their own, and can be cancelled while they write. */
const needsWriteLock = ({ method, url }: Request): boolean =>
  isUnsafe(method) && !/\/imports?(\/|$|\?)/.test(url);
