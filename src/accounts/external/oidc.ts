import { readText } from "../../platform/body.ts";
import type { Clock } from "../../platform/clock.ts";
import { readCookie, hiddenCookie } from "../../platform/cookie.ts";
import { withReserve } from "../../platform/disk-reserve.ts";
import { Sealing } from "../../platform/encryption.ts";
import type { Log } from "../../platform/log.ts";
import { parseOwnPage } from "../../platform/origin.ts";
import { currentRequest, identify } from "../../platform/request-context.ts";
import { sha256 } from "../../platform/secret.ts";
import type { Database } from "../../platform/sqlite.ts";
import { getWriteLock } from "../../platform/write-lock.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../accounts.ts";
import { LOGIN_FAILURES_ADDRESS, LOGIN_WINDOW, Throttle } from "../throttle.ts";
import type { Identities } from "./identities.ts";
import {
  type LogoutToken,
  OidcError,
  type OidcOptions,
  OidcProvider,
  type PendingAuthorization,
} from "./oidc-provider.ts";

export const OIDC_SIGN_IN = "/api/oidc/sign-in";
export const OIDC_SIGN_OUT = "/api/oidc/sign-out";
export const OIDC_CALLBACK = "/api/oidc/callback";
export const OIDC_BACK_CHANNEL = "/api/oidc/back-channel-logout";

/** Minutes that a sign-in may take at the provider. */
const SIGN_IN_MINUTES = 15;
/** Characters of the page to return to. */
const MAX_NEXT = 1500;
/** Characters of a cookie's value; browsers limit a cookie to 4096 bytes. */
const MAX_COOKIE = 3800;
/** Invalid logout tokens logged within LOGIN_WINDOW. */
const MAX_LOGGED_LOGOUTS = 20;
const ID_TOKEN_COOKIE = "labd_oidc_hint";
const MAX_LOGOUT_BYTES = 65_536;
const PRIVATE = { "Cache-Control": "no-store" };

interface Pending extends PendingAuthorization {
  next: string;
  /** True if the provider was asked to authenticate the person again. */
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
}

/** Signing in and out with an OpenID Connect provider. */
export class OidcSignIn {
  private readonly provider: OidcProvider;
  private readonly failures: Throttle;
  private readonly loggedLogouts: Throttle;
  /** Sign-ins under way are kept in encrypted cookies, not here. */
  private readonly sealing = new Sealing(null);

  constructor(private readonly parts: OidcParts) {
    const { options, clock } = parts;
    this.provider = new OidcProvider(options, clock.now);
    this.failures = new Throttle(LOGIN_FAILURES_ADDRESS, LOGIN_WINDOW, clock);
    this.loggedLogouts = new Throttle(MAX_LOGGED_LOGOUTS, LOGIN_WINDOW, clock);
  }

  /** Redirects a browser to the provider. */
  async startSignIn(request: Request): Promise<Response> {
    const { baseUrl, basePath } = currentRequest()!;
    const query = new URL(request.url).searchParams;
    const page = parseOwnPage(query.get("next")) ?? "";
    const next = page !== "" && page.length <= MAX_NEXT ? page : `${basePath}/`;
    try {
      const again = query.get("again") === "1";
      const { url, pending } = await this.provider.begin(baseUrl + OIDC_CALLBACK, again);
      const until = this.parts.clock.now() + SIGN_IN_MINUTES * 60_000;
      const sealed = this.seal({ ...pending, next, again, until } satisfies Pending, "oidc");
      return redirect(url.href, stateCookie(pending.state, sealed));
    } catch (error) {
      return signInPage(this.describeFailure(error), next);
    }
  }

  /** Completes a sign-in, or explains on the sign-in page why it failed. */
  async callback(request: Request): Promise<Response> {
    const parameters = new URL(request.url).searchParams;
    const state = parameters.get("state") ?? "";
    const response = await this.completeSignIn(request, parameters, state);
    if (state !== "") response.headers.append("Set-Cookie", stateCookie(state, ""));
    return response;
  }

  private async completeSignIn(
    request: Request,
    parameters: URLSearchParams,
    state: string,
  ): Promise<Response> {
    const pending = this.unseal<Pending>(readCookie(request, stateCookieName(state)), "oidc");
    if (pending?.state !== state || pending.until <= this.parts.clock.now()) return signInPage("expired", "");
    const address = currentRequest()!.network;
    if (this.failures.wait(address) > 0) return signInPage("throttled", pending.next);
    this.failures.count(address);
    try {
      const { cookie, idToken } = await this.signIn(request, parameters, pending);
      this.failures.forgive(address);
      return redirect(pending.next, cookie, this.idTokenCookie(idToken));
    } catch (error) {
      const outcome = this.describeFailure(error);
      if (outcome === "away" || outcome === "refused") this.failures.forgive(address);
      return signInPage(outcome, pending.next);
    }
  }

  private async signIn(request: Request, parameters: URLSearchParams, pending: Pending) {
    const { identities, accounts, options, database, clock } = this.parts;
    const { person, idToken, session, confirmed } = await this.provider.finish(parameters, pending);
    if (pending.again && clock.now() - confirmed > SIGN_IN_MINUTES * 60_000)
      throw new OidcError("invalid", "the person was not authenticated again (auth_time)");
    await getWriteLock(database).free();
    const user = identities.admit(person, options);
    identify({ user, username: accounts.readActor(user).username, via: "oidc" });
    const record = database.transaction(() => {
      database.query("UPDATE user_account SET last_login = ? WHERE rid = ?").run(clock.now(), user);
      const detail = { method: "session", by: "oidc", issuer: person.issuer };
      accounts.audit.recordUser(user, "sign_in", detail);
      const provider = { hours: options.sessionHours, session, confirmed };
      return { cookie: accounts.sessions.open(user, request, provider).cookie, idToken };
    });
    return withReserve(database, () => record.immediate());
  }

  /** Redirects a browser that has signed out here to sign out at the provider, or home. */
  async signOut(request: Request): Promise<Response> {
    const home = `${currentRequest()!.baseUrl}/`;
    const idToken = this.unseal<string>(readCookie(request, ID_TOKEN_COOKIE), ID_TOKEN_COOKIE);
    const url = await this.provider.signOutUrl(home, idToken);
    return redirect(url?.href ?? home, this.idTokenCookie(undefined));
  }

  /** Ends the sessions of a person who signed out at the provider. @throws Problem too_large, timeout */
  async backChannelLogout(request: Request): Promise<Response> {
    const { database, log } = this.parts;
    try {
      const form = new URLSearchParams(await readText(request, MAX_LOGOUT_BYTES));
      const [token, ...more] = form.getAll("logout_token");
      if (token === undefined || more.length > 0) throw new OidcError("invalid", "expected one logout_token");
      const logout = await this.provider.verifyLogoutToken(token);
      await getWriteLock(database).free();
      const sessions = database.transaction(() => this.endSessions(logout)).immediate();
      log.info("oidc back-channel logout", { sessions });
      return new Response(null, { status: 200, headers: PRIVATE });
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      // Limited, so that nobody can fill the log.
      if (this.loggedLogouts.wait("") === 0) {
        this.loggedLogouts.count("");
        log.problem("oidc", { reason: "logout_token", cause: error.message });
      }
      const error_description =
        error.reason === "away" ? "The provider's keys cannot be read." : "The logout token is not valid.";
      return Response.json(
        { error: "invalid_request", error_description },
        { status: 400, headers: PRIVATE },
      );
    }
  }

  private endSessions({ jti, until, subject, session }: LogoutToken): number {
    const { identities, accounts, options, database, clock } = this.parts;
    database.query("DELETE FROM logout_token WHERE until <= ?").run(clock.now());
    const { changes } = database
      .query("INSERT OR IGNORE INTO logout_token (sha256, until) VALUES (?, ?)")
      .run(sha256(jti), until);
    if (changes === 0) throw new OidcError("invalid", "it was sent before (jti)");
    const of: { user?: number; session?: string } = session === undefined ? {} : { session };
    if (subject !== undefined) {
      const identity = identities.find({ provider: "oidc", issuer: options.issuer, subject });
      if (!identity) return 0;
      of.user = identity.user;
    }
    return accounts.sessions.endProviderSessions(of, { by: "oidc", reason: "signed_out_there" });
  }

  /** A keyword for the sign-in page. Details are logged. */
  private describeFailure(error: unknown): string {
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

  private seal(value: unknown, context: string): string {
    return Buffer.from(this.sealing.seal(Buffer.from(JSON.stringify(value)), context)).toString("base64url");
  }

  private unseal<T>(sealed: string | null, context: string): T | undefined {
    const value = sealed === null ? undefined : this.sealing.open(Buffer.from(sealed, "base64url"), context);
    return value && (JSON.parse(Buffer.from(value).toString()) as T);
  }

  /** Keeps the ID token for signing out, sent only by pages of ours; deletes it without a token, or with too long a one. */
  private idTokenCookie(idToken: string | undefined): string {
    const sealed = idToken === undefined ? "" : this.seal(idToken, ID_TOKEN_COOKIE);
    const value = sealed.length > MAX_COOKIE ? "" : sealed;
    const seconds = value === "" ? 0 : this.parts.options.sessionHours * 3600;
    return hiddenCookie(ID_TOKEN_COOKIE, value, OIDC_SIGN_OUT, seconds, "Strict");
  }
}

const stateCookieName = (state: string): string => `labd_oidc_${sha256(state).slice(0, 8)}`;

const stateCookie = (state: string, value: string): string => {
  const seconds = value === "" ? 0 : SIGN_IN_MINUTES * 60;
  return hiddenCookie(stateCookieName(state), value, OIDC_CALLBACK, seconds, "Lax");
};

/** The sign-in page with the outcome as a keyword. */
function signInPage(outcome: string, next: string): Response {
  const query = new URLSearchParams({ refused: outcome, ...(next === "" ? {} : { next }) });
  return redirect(`${currentRequest()!.basePath}/sign-in?${query}`);
}

function redirect(location: string, ...cookies: string[]): Response {
  const response = new Response(null, { status: 303, headers: { ...PRIVATE, Location: location } });
  for (const one of cookies) response.headers.append("Set-Cookie", one);
  return response;
}
