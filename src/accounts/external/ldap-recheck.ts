import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/sqlite.ts";
import { getWriteLock } from "../../platform/write-lock.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../accounts.ts";
import type { Identities, Identity } from "./identities.ts";
import { type LdapOptions, lookUpIdentity } from "./ldap.ts";
import { isAllowed, type Person } from "./person.ts";

const DAY = 86_400_000;
/** Milliseconds from the start of the service to the first recheck. */
const START_DELAY = 300_000;
/** More accounts than this are disabled at once only if they are at most half of all. */
const MAX_UNCHECKED = 3;

/** The outcome for one account. */
export interface RecheckResult {
  username: string;
  outcome: "kept" | "enabled" | "disabled" | "unchanged";
  why?: string;
}

interface RecheckOptions {
  options: LdapOptions;
  identities: Identities;
  accounts: Accounts;
  database: Database;
}

interface Checked {
  identity: Identity;
  username: string;
  person: Person | undefined;
  isAdmitted: boolean;
}

/**
 * Looks up all users of the directory, and disables the accounts of people who left or may no longer sign in. Does
 * nothing if those are most: then the settings or the directory are wrong.
 * @throws Problem identity_unavailable; conflict for most
 */
export async function recheckDirectory(parts: RecheckOptions): Promise<RecheckResult[]> {
  const { options, identities, accounts, database } = parts;
  const checked: Checked[] = [];
  for (const identity of identities.listByProvider("ldap")) {
    const username = accounts.readActor(identity.user).username!;
    // An administrator disabled the account here.
    if (identity.suspended === null && !identities.canSignIn(identity.user, "ldap")) continue;
    const person = await lookUpIdentity(options, { ...identity, username });
    const isAdmitted = person !== undefined && !person.disabled && isAllowed(options, person.groups);
    checked.push({ identity, username, person, isAdmitted });
  }
  const departing = checked.filter(({ identity, isAdmitted }) => !isAdmitted && identity.suspended === null);
  if (departing.length > MAX_UNCHECKED && departing.length * 2 > checked.length)
    throw new Problem(
      "conflict",
      `${departing.length} of ${checked.length} accounts are missing from the directory or not in an allowed group. Nothing was changed: check the settings (labd check --ldap NAME).`,
    );
  await getWriteLock(database).free();
  return checked.map((one) => apply(one, parts));
}

function apply({ identity, username, person, isAdmitted }: Checked, parts: RecheckOptions): RecheckResult {
  const { identities, options } = parts;
  const isSuspended = identity.suspended !== null;
  if (person && isAdmitted) {
    identities.refresh(person, options);
    return { username, outcome: isSuspended ? "enabled" : "kept" };
  }
  const [reason, why] = !person
    ? (["gone", "not in the directory, or excluded by ldap_user_filter"] as const)
    : person.disabled
      ? (["gone", "disabled or expired in the directory"] as const)
      : (["not_allowed", "in no allowed group"] as const);
  try {
    if (!isSuspended) identities.suspend(identity, reason);
    return { username, outcome: "disabled", why };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { username, outcome: "unchanged", why: `${why}; but ${error.message}` };
  }
}

/** Rechecks every day while the service runs. */
export function scheduleRecheck(parts: RecheckOptions & { log: Log }) {
  const { log } = parts;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    try {
      const all = await recheckDirectory(parts);
      const changed = all.filter(({ outcome }) => outcome !== "kept");
      log.info("directory rechecked", { accounts: all.length, changed });
    } catch (error) {
      const { message, cause } = error as Error & { cause?: Error };
      log.problem("directory not rechecked", { cause: cause?.message ?? message });
    } finally {
      running = undefined;
    }
  };
  const start = (): void => {
    running ??= run();
  };
  const first = setTimeout(start, START_DELAY);
  const timer = setInterval(start, DAY);
  return {
    async close(): Promise<void> {
      clearTimeout(first);
      clearInterval(timer);
      await running;
    },
  };
}
