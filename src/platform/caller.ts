import { currentRequest } from "./request-context.ts";

/** The key by which clients are told apart: the user of a valid token or session, else the client's network. */
export function identifyCaller(
  request: Request,
  accounts: { authenticate(request: Request): { username: string | null } },
): string {
  if (request.headers.has("authorization") || request.headers.has("cookie")) {
    try {
      const { username } = accounts.authenticate(request);
      if (username !== null) return `user ${username}`;
    } catch {
      // Reading with an ended session; writes are refused before.
    }
  }
  return currentRequest()?.network ?? "";
}
