import { readCookie, hiddenCookie } from "../platform/cookie.ts";
import { newSecret, sha256 } from "../platform/secret.ts";
import { Problem } from "../problem.ts";
import type { Actor } from "../platform/actor.ts";

/** Keys of the owners on whose behalf a caller may change jobs and searches. */
export interface Owner {
  /** Keys of the caller as owner: the account's, and that of the secret of a browser or program. */
  keys: readonly string[];
  isAdministrator: boolean;
}

/** Distinguishes the owner of a job or search from other holders of the link. */
export interface Ownership {
  /** @throws Problem invalid_request for a bad Owner-Key */
  identify: (request: Request) => Owner;
  /**
   * The key of the owner of jobs that the request starts; null for the account's. `headers` make the browser remember
   * it.
   * @param setsCookie false if the response has no cookies: without a secret of the caller, nobody owns the jobs
   * @throws Problem invalid_request for a bad Owner-Key
   */
  claim: (request: Request, setsCookie?: boolean) => { key: string | null; headers: Record<string, string> };
}

const COOKIE = "labd_owner";
const SECONDS = 400 * 86_400;
/** A secret that a program chooses: long enough not to be guessed. */
const SECRET = /^[\x21-\x7e]{20,255}$/;

/** Owners are accounts; anonymous jobs belong to the holder of the secret with which they were started. */
export const makeOwnership = (accounts: { authenticate: (request: Request) => Actor }): Ownership => ({
  identify(request) {
    const { username, superuser } = findActor(request, accounts);
    const secret = readOwnerKey(request);
    const ownKeys = username === null ? [] : [`user ${username}`];
    return { keys: secret === null ? ownKeys : [...ownKeys, sha256(secret)], isAdministrator: superuser };
  },
  claim(request, setsCookie = true) {
    if (findActor(request, accounts).username !== null) return { key: null, headers: {} };
    const given = readOwnerKey(request);
    // A key that begins with the time is added at the ends of indexes.
    if (given === null && !setsCookie) return { key: `nobody ${Bun.randomUUIDv7()}`, headers: {} };
    const secret = given ?? newSecret("");
    if (request.headers.has("owner-key")) return { key: sha256(secret), headers: {} };
    const cookie = hiddenCookie(COOKIE, secret, "", SECONDS, "Strict");
    return { key: sha256(secret), headers: { "Set-Cookie": cookie } };
  },
});

/** The caller; anonymous if the session has ended and the request only reads. */
function findActor(request: Request, accounts: { authenticate: (request: Request) => Actor }) {
  const nobody = { username: null, superuser: false };
  if (!request.headers.has("authorization") && !request.headers.has("cookie")) return nobody;
  try {
    return accounts.authenticate(request);
  } catch {
    return nobody;
  }
}

/** @throws Problem invalid_request */
function readOwnerKey(request: Request): string | null {
  const given = request.headers.get("owner-key");
  if (given !== null && !SECRET.test(given))
    throw new Problem("invalid_request", "Owner-Key: expected 20 to 255 printable ASCII characters.");
  const secret = given ?? readCookie(request, COOKIE);
  return secret !== null && SECRET.test(secret) ? secret : null;
}

/** @throws Problem forbidden unless the caller is the owner or an administrator */
export function requireOwner({ keys, isAdministrator }: Owner, key: string, what: string): void {
  if (isAdministrator || keys.includes(key)) return;
  throw new Problem(
    "forbidden",
    `Only the owner may change this ${what}; others may read it. Sign in as the user who started it, or send the cookie or the Owner-Key with which it was started.`,
  );
}
