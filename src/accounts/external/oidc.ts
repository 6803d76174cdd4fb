import type { Identities } from "./identities.ts";
import type { OidcOptions } from "./oidc-options.ts";
import { type PendingAuthorization, OidcError, OidcProvider } from "./oidc-provider.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../accounts.ts";
import { readText } from "../../platform/body.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { baseOf, basePathOf, ownOrigin, ownPage, type PublicUrlOptions } from "../../platform/origin.ts";
import { currentRequest, identify } from "../../platform/request-context.ts";
import { Sealing } from "../../platform/encryption.ts";
import { sha256 } from "../../platform/secret.ts";
import type { Database } from "../../platform/sqlite.ts";
import { LOGIN_FAILURES_ADDRESS, LOGIN_WINDOW, Throttle } from "../throttle.ts";
import { writeLockOf } from "../../platform/write-lock.ts";

export const OIDC_SIGN_IN = "/api/oidc/sign-in";
export const OIDC_SIGN_OUT = "/api/oidc/sign-out";
export const OIDC_CALLBACK = "/api/oidc/callback";
export const OIDC_BACK_CHANNEL = "/api/oidc/back-channel-logout";

/** Minutes that somebody may take at the provider. */
const MINUTES = 15;
/** Characters of the address to come back to. */
const LONGEST_NEXT = 1500;
/** Characters of a cookie, of which browsers keep 4096 with its name and attributes. */
const LONGEST_COOKIE = 3800;
/** Refused logout tokens within `loginWindow` that are in the log. */
const LOGOUTS_TOLD = 20;
const HINT = "labd_oidc_hint";
/** Bytes of a request by the provider. */
const LARGEST_LOGOUT = 65_536;
const PRIVATE = { "Cache-Control": "no-store" };

interface Pending extends PendingAuthorization {
  next: string;
  /** Whether the provider was to have the person show who it is. */
  again: boolean;
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
  reach: PublicUrlOptions;
}

/** Signing in by a provider: there, and back. */
export class OidcSignIn {
  private readonly provider: OidcProvider;
  private readonly failures: Throttle;
  /** Refused logout tokens that the log was told of. */
  private readonly toldOfLogouts: Throttle;
  /** What a sign-in needs on its way back is in a cookie that nobody else can read: nothing is kept here. */
  private readonly sealing = new Sealing(null);

  constructor(private readonly parts: OidcParts) {
    this.provider = new OidcProvider(parts.options, parts.clock.now);
    this.failures = new Throttle(LOGIN_FAILURES_ADDRESS, LOGIN_WINDOW, parts.clock);
    this.toldOfLogouts = new Throttle(LOGOUTS_TOLD, LOGIN_WINDOW, parts.clock);
  }

  /** Sends a browser to the provider. */
  async startSignIn(request: Request): Promise<Response> {
    const { reach, clock } = this.parts;
    const query = new URL(request.url).searchParams;
    const wanted = ownPage(query.get("next"));
    const next =
      wanted !== undefined && wanted.length <= LONGEST_NEXT ? wanted : `${basePathOf(request, reach)}/`;
    try {
      const again = query.get("again") === "1";
      const { url, begun } = await this.provider.begin(baseOf(request, reach) + OIDC_CALLBACK, again);
      const pending: Pending = { ...begun, next, again, until: clock.now() + MINUTES * 60_000 };
      const cookie = this.stateCookie(request, begun.state, this.seal(pending, "oidc"), MINUTES * 60);
      return redirect(url.href, cookie);
    } catch (error) {
      return this.backToPage(request, this.outcomeOf(error), next);
    }
  }

  /** Takes a browser that comes back: signs in, or says on the sign-in page why not. */
  async callback(request: Request): Promise<Response> {
    const answer = new URL(request.url).searchParams;
    const state = answer.get("state") ?? "";
    const pending = this.pendingOf(request, state);
    const address = currentRequest()?.network ?? "";
    const end = (response: Response): Response => {
      if (state !== "") response.headers.append("Set-Cookie", this.stateCookie(request, state, "", 0));
      return response;
    };
    if (!pending) return end(this.backToPage(request, "expired", ""));
    if (this.failures.wait(address) > 0) return end(this.backToPage(request, "throttled", pending.next));
    this.failures.count(address);
    try {
      const { cookie, idToken } = await this.signIn(request, answer, pending);
      this.failures.forgive(address);
      const response = redirect(pending.next, cookie);
      response.headers.append("Set-Cookie", this.hintCookie(request, idToken));
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
    const idToken = this.opened<string>(cookieOf(request, HINT), HINT);
    return redirect(
      (await this.provider.signOutAddress(home, idToken))?.href ?? home,
      this.hintCookie(request, undefined),
    );
  }

  /**
   * Takes the provider's word that somebody has signed out there, and ends the sessions here that came by it (OpenID
   * Connect Back-Channel Logout 1.0). @throws Problem too_large, timeout
   */
  async backChannelLogout(request: Request): Promise<Response> {
    const { identities, accounts, options, database, clock, log } = this.parts;
    try {
      const [token, ...more] = new URLSearchParams(await readText(request, LARGEST_LOGOUT)).getAll(
        "logout_token",
      );
      if (token === undefined || more.length > 0) throw new OidcError("invalid", "expected one logout_token");
      const { jti, until, subject, session } = await this.provider.signedOut(token);
      await writeLockOf(database).free();
      const ended = database
        .transaction((): number => {
          database.query("DELETE FROM logout_token WHERE until <= ?").run(clock.now());
          const { changes } = database
            .query("INSERT OR IGNORE INTO logout_token (sha256, until) VALUES (?, ?)")
            .run(sha256(jti), until);
          if (changes === 0) throw new OidcError("invalid", "it was sent before (jti)");
          const of = session === undefined ? {} : { session };
          const why = { by: "oidc", reason: "signed_out_there" };
          if (subject === undefined) return accounts.sessions.endProviderSessions(of, why);
          const user = identities.find({ provider: "oidc", issuer: options.issuer, subject })?.user;
          return user === undefined ? 0 : accounts.sessions.endProviderSessions({ ...of, user }, why);
        })
        .immediate();
      log.info("oidc signed out there", { sessions: ended });
      return new Response(null, { status: 200, headers: PRIVATE });
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      // Whoever sends what does not hold fills no log, and keeps nobody else's word from being heard.
      if (this.toldOfLogouts.wait("") === 0) {
        this.toldOfLogouts.count("");
        log.problem("oidc", { reason: "logout_token", cause: error.message });
      }
      const said = {
        error: "invalid_request",
        error_description:
          error.reason === "away"
            ? "The keys of the provider cannot be read."
            : "The logout token does not hold.",
      };
      return Response.json(said, { status: 400, headers: PRIVATE });
    }
  }

  private async signIn(
    request: Request,
    answer: URLSearchParams,
    pending: Pending,
  ): Promise<{ cookie: string; idToken: string }> {
    const { identities, accounts, options, database, clock } = this.parts;
    const { person, idToken, session, confirmed } = await this.provider.finish(answer, pending);
    if (pending.again && clock.now() - confirmed > MINUTES * 60_000)
      throw new OidcError("invalid", "it was to ask who it is, and says of no such moment (auth_time)");
    await writeLockOf(database).free();
    const user = identities.admit(person, options);
    identify({ username: accounts.actorOf(user).username, via: "oidc" });
    return database
      .transaction(() => {
        database.query("UPDATE user_account SET last_login = ? WHERE rid = ?").run(clock.now(), user);
        accounts.audit.recordUser(user, "sign_in", { method: "session", by: "oidc", issuer: person.issuer });
        // Which factors it took is the provider's business.
        const vouched = { hours: options.sessionHours, session, confirmed };
        return { cookie: accounts.sessions.open(user, request, vouched).cookie, idToken };
      })
      .immediate();
  }

  /** A word for what went wrong; what it was is for the log. */
  private outcomeOf(error: unknown): string {
    const { log, accounts } = this.parts;
    if (error instanceof OidcError) {
      if (error.reason === "invalid")
        accounts.audit.log.record({
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

  /** To the sign-in page, with a word why it came to nothing; never what somebody else wrote. */
  private backToPage(request: Request, outcome: string, next: string): Response {
    const query = new URLSearchParams({ refused: outcome, ...(next === "" ? {} : { next }) });
    return redirect(`${basePathOf(request, this.parts.reach)}/sign-in?${query}`);
  }

  private seal(value: unknown, of: string): string {
    return Buffer.from(this.sealing.seal(Buffer.from(JSON.stringify(value)), of)).toString("base64url");
  }

  private opened<T>(sealed: string | undefined, of: string): T | undefined {
    const value = sealed === undefined ? undefined : this.sealing.open(Buffer.from(sealed, "base64url"), of);
    return value && (JSON.parse(Buffer.from(value).toString()) as T);
  }

  private pendingOf(request: Request, state: string): Pending | undefined {
    const pending = this.opened<Pending>(cookieOf(request, nameOf(state)), "oidc");
    return pending?.state === state && pending.until > this.parts.clock.now() ? pending : undefined;
  }

  /** One for each sign-in under way, so that two windows do not take each other's. */
  private stateCookie(request: Request, state: string, value: string, seconds: number): string {
    return `${nameOf(state)}=${value}; ${this.attributes(request, OIDC_CALLBACK, seconds, "Lax")}`;
  }

  /**
   * What shows the provider who signs out, until then: no page but ours makes a browser send it. Without a token, or
   * with one that no cookie holds, that takes it away.
   */
  private hintCookie(request: Request, idToken: string | undefined): string {
    const sealed = idToken === undefined ? "" : this.seal(idToken, HINT);
    const value = sealed.length > LONGEST_COOKIE ? "" : sealed;
    const seconds = value === "" ? 0 : this.parts.options.sessionHours * 3600;
    return `${HINT}=${value}; ${this.attributes(request, OIDC_SIGN_OUT, seconds, "Strict")}`;
  }

  private attributes(request: Request, path: string, seconds: number, site: "Lax" | "Strict"): string {
    const { reach } = this.parts;
    const secure = ownOrigin(request, reach).startsWith("https:") ? "; Secure" : "";
    return `Path=${basePathOf(request, reach)}${path}; Max-Age=${seconds}; HttpOnly; SameSite=${site}${secure}`;
  }
}

const cookieOf = (request: Request, name: string): string | undefined =>
  request.headers
    .get("cookie")
    ?.split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

const nameOf = (state: string): string => `labd_oidc_${sha256(state).slice(0, 8)}`;

function redirect(location: string, cookie?: string): Response {
  const response = new Response(null, { status: 303, headers: { ...PRIVATE, Location: location } });
  if (cookie !== undefined) response.headers.append("Set-Cookie", cookie);
  return response;
}
