import type { Identities, Identity } from "./identities.ts";
import { type LdapOptions, lookUpIdentity } from "./ldap.ts";
import { isInAnyGroup, type Person } from "./person.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../accounts.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/sqlite.ts";
import { writeLockOf } from "../../platform/write-lock.ts";

const DAY = 86_400_000;
/** Milliseconds from the start of the service to the first look. */
const AFTER_START = 300_000;
/** So many are shut out at once without a doubt; more only where they are no more than half of all. */
const FEW = 3;

/** What became of one account. */
export interface Rechecked {
  username: string;
  outcome: "kept" | "let in" | "shut out" | "left alone";
  why?: string;
}

interface RecheckParts {
  options: LdapOptions;
  identities: Identities;
  accounts: Accounts;
  database: Database;
}

/**
 * Asks the directory about everybody who signs in by it, and shuts out whom it no longer has or lets in: sessions end,
 * and tokens do nothing. Nothing at all is done where that would be most of them, since then it is the settings, or the
 * directory, that are wrong.
 * @throws Problem identity_unavailable, conflict where it would be most of them
 */
export async function recheckDirectory({
  options,
  identities,
  accounts,
  database,
}: RecheckParts): Promise<Rechecked[]> {
  const seen: { identity: Identity; username: string; person: Person | undefined; refused: boolean }[] = [];
  for (const identity of identities.byProvider("ldap")) {
    const username = accounts.actorOf(identity.user).username!;
    const isActive = identities.canSignIn(identity.user, "ldap");
    // Somebody disabled it here.
    if (!isActive && identity.suspended === null) continue;
    const person = await lookUpIdentity(options, { ...identity, username });
    const isAllowed =
      person &&
      !person.disabled &&
      (options.allowed.length === 0 || isInAnyGroup(person.groups, options.allowed));
    seen.push({ identity, username, person, refused: !isAllowed });
  }
  const leaving = seen.filter(({ identity, refused }) => refused && identity.suspended === null);
  if (leaving.length > FEW && leaving.length * 2 > seen.length)
    throw new Problem(
      "conflict",
      `The directory has ${leaving.length} of ${seen.length} accounts no longer, or in no group that may sign in. Nobody was shut out: see to the settings (labd check --ldap NAME).`,
    );
  await writeLockOf(database).free();
  return seen.map(({ identity, username, person, refused }): Rechecked => {
    const wasOut = identity.suspended !== null;
    if (person && !refused) {
      identities.refresh(person, options);
      return { username, outcome: wasOut ? "let in" : "kept" };
    }
    const reason = person && !person.disabled ? "not_allowed" : "gone";
    const why = person
      ? person.disabled
        ? "disabled in the directory, or expired"
        : "in no group that may sign in"
      : "not in the directory, or not by ldap_user_filter";
    if (wasOut) return { username, outcome: "shut out", why };
    try {
      identities.suspend(identity, reason);
      return { username, outcome: "shut out", why };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { username, outcome: "left alone", why: `${why}; but ${error.message}` };
    }
  });
}

/** Does so every 24 hours while serving. */
export function scheduleRecheck(parts: RecheckParts & { log: Log }): {
  close(): Promise<void>;
} {
  const { log } = parts;
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= recheckDirectory(parts)
      .then(
        (all) => {
          const out = all.filter(({ outcome }) => outcome !== "kept");
          log.info("directory asked again", { accounts: all.length, changed: out });
        },
        (error: unknown) => {
          const { message, cause } = error as Error & { cause?: Error };
          log.problem("directory not asked again", { cause: cause?.message ?? message });
        },
      )
      .finally(() => {
        running = undefined;
      });
  };
  const first = setTimeout(run, AFTER_START);
  const timer = setInterval(run, DAY);
  return {
    async close() {
      clearTimeout(first);
      clearInterval(timer);
      await running;
    },
  };
}
