import type { Identities } from "./identities.ts";
import type { OidcOptions } from "./oidc-options.ts";
import { type Begun, NotVouched, OidcProvider } from "./oidc-provider.ts";
import { Problem } from "../problem.ts";
import type { Accounts } from "../shell/auth.ts";
import { callerNetwork } from "../shell/caller.ts";
import type { Clock } from "../shell/clock.ts";
import type { Log } from "../shell/log.ts";
import { baseOf, basePathOf, ownOrigin, ownPage, type Reach } from "../shell/origin.ts";
import { identify } from "../shell/request-origin.ts";
import { Sealing } from "../shell/sealing.ts";
import { sha256 } from "../shell/secret.ts";
import type { Database } from "../shell/sqlite.ts";
import { Throttle } from "../shell/throttle.ts";
import { writeTurn } from "../shell/write-turn.ts";

export const OIDC_SIGN_IN = "/api/oidc/sign-in";
export const OIDC_SIGN_OUT = "/api/oidc/sign-out";
export const OIDC_CALLBACK = "/api/oidc/callback";

/** Minutes that somebody may take at the provider. */
const MINUTES = 15;
/** Characters of the address to come back to. */
const LONGEST_NEXT = 1500;
const PRIVATE = { "Cache-Control": "no-store" };

/** Why a sign-in came to nothing, as the sign-in page is told: a word, never what somebody else wrote. */
export type OidcOutcome = "away" | "refused" | "invalid" | "expired" | "throttled";

interface Pending extends Begun {
  next: string;
  /** Milliseconds since 1970-01-01 UTC. */
  until: number;
}

export interface OidcParts {
  options: OidcOptions;
  identities: Identities;
  accounts: Accounts;
  database: Database;
  clock: Clock;
  log: Log;
  reach: Reach;
  /** Sign-ins that came to nothing, from one address within `loginWindow` seconds. */
  loginFailuresAddress: number;
  loginWindow: number;
}

/** Signing in by a provider: there, and back. */
export class Oidc {
  private readonly provider: OidcProvider;
  private readonly failures: Throttle;
  /** What a sign-in needs on its way back is in a cookie that nobody else can read: nothing is kept here. */
  private readonly sealing = new Sealing(null);

  constructor(private readonly parts: OidcParts) {
    this.provider = new OidcProvider(parts.options, parts.clock.now);
    this.failures = new Throttle(parts.loginFailuresAddress, parts.loginWindow * 1000, parts.clock);
  }

  /** Sends a browser to the provider. */
  async leave(request: Request): Promise<Response> {
    const { reach, clock } = this.parts;
    const wanted = ownPage(new URL(request.url).searchParams.get("next"));
    const next =
      wanted !== undefined && wanted.length <= LONGEST_NEXT ? wanted : `${basePathOf(request, reach)}/`;
    try {
      const { url, begun } = await this.provider.begin(baseOf(request, reach) + OIDC_CALLBACK);
      const pending: Pending = { ...begun, next, until: clock.now() + MINUTES * 60_000 };
      return redirect(url.href, this.cookie(request, begun.state, this.seal(pending), MINUTES * 60));
    } catch (error) {
      return this.backToPage(request, this.outcomeOf(error), next);
    }
  }

  /** Takes a browser that comes back: signs in, or says on the sign-in page why not. */
  async comeBack(request: Request): Promise<Response> {
    const answer = new URL(request.url).searchParams;
    const state = answer.get("state") ?? "";
    const pending = this.pendingOf(request, state);
    const address = callerNetwork(request, this.parts.reach) ?? "";
    const end = (response: Response): Response => {
      if (state !== "") response.headers.append("Set-Cookie", this.cookie(request, state, "", 0));
      return response;
    };
    if (!pending) return end(this.backToPage(request, "expired", ""));
    if (this.failures.wait(address) > 0) return end(this.backToPage(request, "throttled", pending.next));
    this.failures.count(address);
    try {
      const cookie = await this.signIn(request, answer, pending);
      this.failures.forgive(address);
      const response = redirect(pending.next, cookie);
      return end(response);
    } catch (error) {
      const outcome = this.outcomeOf(error);
      if (outcome === "away" || outcome === "refused") this.failures.forgive(address);
      return end(this.backToPage(request, outcome, pending.next));
    }
  }

  /** Sends a browser whose session here has ended to where it signs out at the provider; home where that is nowhere. */
  async signOut(request: Request): Promise<Response> {
    const home = `${baseOf(request, this.parts.reach)}/`;
    return redirect((await this.provider.signOutAddress(home))?.href ?? home);
  }

  private async signIn(request: Request, answer: URLSearchParams, pending: Pending): Promise<string> {
    const { identities, accounts, options, database, clock } = this.parts;
    const person = await this.provider.finish(answer, pending);
    await writeTurn(database).free();
    const user = identities.admit(person, options);
    identify({ username: accounts.actorOf(user).username, via: "oidc" });
    return database
      .transaction(() => {
        database.query("UPDATE user_account SET last_login = ? WHERE rid = ?").run(clock.now(), user);
        accounts.notes.user(user, "sign_in", { method: "session", by: "oidc", issuer: person.issuer });
        // Which factors it took is the provider's business.
        return accounts.sessions.open(user, request, { vouched: true }).cookie;
      })
      .immediate();
  }

  /** A word for what went wrong; what it was is for the log. */
  private outcomeOf(error: unknown): string {
    const { log, accounts } = this.parts;
    if (error instanceof NotVouched) {
      if (error.reason === "invalid")
        accounts.notes.audit.note({
          action: "sign_in",
          outcome: "refused",
          subject: { kind: "user", id: null },
          detail: { by: "oidc", reason: "invalid" },
        });
      if (error.reason !== "refused") log.problem("oidc", { reason: error.reason, cause: error.message });
      return error.reason;
    }
    const problem = Problem.from(error);
    if (problem.code === "forbidden" && typeof problem.more.reason === "string") return problem.more.reason;
    throw error;
  }

  private backToPage(request: Request, outcome: string, next: string): Response {
    const query = new URLSearchParams({ refused: outcome, ...(next === "" ? {} : { next }) });
    return redirect(`${basePathOf(request, this.parts.reach)}/sign-in?${query}`);
  }

  private seal(pending: Pending): string {
    return Buffer.from(this.sealing.seal(Buffer.from(JSON.stringify(pending)), "oidc")).toString("base64url");
  }

  private pendingOf(request: Request, state: string): Pending | undefined {
    const name = nameOf(state);
    const value = request.headers
      .get("cookie")
      ?.split(";")
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(`${name}=`))
      ?.slice(name.length + 1);
    if (value === undefined) return undefined;
    const opened = this.sealing.open(Buffer.from(value, "base64url"), "oidc");
    if (!opened) return undefined;
    const pending = JSON.parse(Buffer.from(opened).toString()) as Pending;
    return pending.state === state && pending.until > this.parts.clock.now() ? pending : undefined;
  }

  /** One for each sign-in under way, so that two windows do not take each other's. */
  private cookie(request: Request, state: string, value: string, seconds: number): string {
    const { reach } = this.parts;
    const secure = ownOrigin(request, reach).startsWith("https:") ? "; Secure" : "";
    const path = `${basePathOf(request, reach)}${OIDC_CALLBACK}`;
    return `${nameOf(state)}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }
}

const nameOf = (state: string): string => `labd_oidc_${sha256(state).slice(0, 8)}`;

function redirect(location: string, cookie?: string): Response {
  const response = new Response(null, { status: 303, headers: { ...PRIVATE, Location: location } });
  if (cookie !== undefined) response.headers.append("Set-Cookie", cookie);
  return response;
}
