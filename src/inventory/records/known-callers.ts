import type { Actor } from "../model/access.ts";
import type { Statements } from "./statements.ts";
import type { Clock } from "../../platform/clock.ts";
import { identify } from "../../platform/request-context.ts";
import { tallyOf } from "../../platform/cache-counter.ts";

/** Milliseconds that a caller is known for; a token that runs out does so at most this much later for readers. */
const KNOWN_FOR = 1000;
const CALLERS_KEPT = 1000;

/**
 * `authenticate`, remembered for readers with a token: three statements for each request would cost more than a list.
 * Anything that is written to the database, by this connection or by another, ends all that is remembered, so that what
 * is revoked, disabled or changed counts with the next request. Writers, sessions and passwords are looked up always.
 */
export function rememberCallers(
  authenticate: (request: Request) => Actor,
  statements: Statements,
  clock: Clock,
): (request: Request) => Actor {
  const known = new Map<string, { actor: Actor; until: number }>();
  const tally = tallyOf("callers");
  let state = "";
  const refresh = (): void => {
    const now = statements.state();
    if (now !== state) known.clear();
    state = now;
  };
  return (request) => {
    const header = request.headers.get("authorization");
    const reads = request.method === "GET" || request.method === "HEAD";
    if (header === null || !reads || !/^(token|bearer) /i.test(header)) return authenticate(request);
    refresh();
    const now = clock.now();
    const found = known.get(header);
    if (found && now < found.until && now >= found.until - KNOWN_FOR) {
      tally.hits++;
      identify(found.actor);
      return found.actor;
    }
    tally.misses++;
    const actor = authenticate(request);
    // Looking a token up may write when it was used last.
    refresh();
    if (known.size >= CALLERS_KEPT) known.clear();
    known.set(header, { actor, until: now + KNOWN_FOR });
    return actor;
  };
}
