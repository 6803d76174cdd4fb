import { type AccountOptions, Accounts } from "../../src/accounts/accounts.ts";
import type { ExternalPasswords } from "../../src/accounts/external-password.ts";
import { Problem } from "../../src/problem.ts";
import { asRequest, callerOfRequest } from "../fixtures/request.ts";
import { openMigrated } from "../database.ts";

export const PASSWORD = "correct horse";
export const MINUTE = 60_000;

/** Accounts in memory, with a clock that tests set. */
export function openAccounts(options: Partial<AccountOptions> = {}) {
  const clock = { at: 1_800_000_000_000, now: () => clock.at, newId: () => crypto.randomUUID() };
  const database = openMigrated();
  const reopen = (changed: Partial<AccountOptions> = {}) =>
    new Accounts(database, clock, { ...options, ...changed });
  return { database, clock, accounts: reopen(), reopen };
}

export const request = (headers: Record<string, string> = {}, method = "GET", url = "http://lab/") =>
  new Request(url, { method, headers });
export const basicHeader = (pair: string) => ({
  authorization: `Basic ${Buffer.from(pair).toString("base64")}`,
});
export const tokenHeader = (token: string) => ({ authorization: `Token ${token}` });
export const cookieHeader = ({ cookie }: { cookie: string }) => ({ cookie: cookie.split(";")[0] });

/** The username that a request signs in as, or the code of the problem. */
export const identifyCaller = async (
  accounts: Accounts,
  headers: Record<string, string>,
  method = "GET",
): Promise<string | null> =>
  callerOfRequest(accounts, request(headers, method)).then(
    ({ username }) => username,
    (error: unknown) => Problem.from(error).code,
  );

/** The problem that some work ends in. */
export async function catchProblem(work: () => unknown): Promise<Problem> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("The work did not fail.");
}

/** Signs in from an address. @returns "ok", or the code of the problem */
export const attempt = (
  accounts: Accounts,
  credentials: { username: string; password: string; code?: string },
  from?: string,
): Promise<string> =>
  asRequest(
    request(),
    () =>
      accounts.signIn(credentials).then(
        () => "ok",
        (error: unknown) => Problem.from(error).code,
      ),
    from,
  );

interface TestDirectory extends ExternalPasswords {
  asked: string[];
  isAway: boolean;
  isLinked: boolean;
}

/** A directory that knows one account by the password "theirs", and lists what it is asked. */
export function makeDirectory(user: number, username: string): TestDirectory {
  const directory: TestDirectory = {
    name: "ldap",
    asked: [],
    isAway: false,
    isLinked: true,
    async verify(typed: string, password: string) {
      directory.asked.push(typed);
      if (directory.isAway) throw new Problem("identity_unavailable", "away");
      return typed.toLowerCase() === username && password === "theirs" ? user : undefined;
    },
    checkPassword: async (rid: number, _: string, password: string) => rid === user && password === "theirs",
    canSignIn: (rid: number) => rid === user && directory.isLinked,
  };
  return directory;
}
