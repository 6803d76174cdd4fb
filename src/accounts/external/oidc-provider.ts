import { readFileSync } from "node:fs";
import type * as oauth from "oauth4webapi";
import type { JWTVerifyGetKey } from "jose";
import { readLogoutToken, type SignedOut } from "./logout-token.ts";
import type { OidcOptions } from "./oidc-options.ts";
import { type Person, plainEmail, plainText } from "./person.ts";

/**
 * Milliseconds for which what a provider says of itself is taken as it was: by who comes back, and by who leaves, which
 * has to be where it answers now.
 */
const HOUR = 3_600_000;
const MOMENT = 1000;
/** Bytes of one answer of a provider. */
const LARGEST = 1_048_576;
/** Seconds that the provider's clock may differ from ours. */
const TOLERANCE = 30;

/** What is kept of a sign-in that has begun, until its owner comes back. */
export interface PendingAuthorization {
  state: string;
  nonce: string;
  /** Of PKCE (RFC 7636): who comes back with a code shows that it was this browser that went. */
  verifier: string;
  /** Where the provider is told to send people back to. */
  returnTo: string;
}

/** Somebody whom a provider vouches for. */
export interface OidcIdentity {
  person: Person;
  /** What it said, signed: where somebody signs out, it shows the provider who asks. */
  idToken: string;
  /** What it calls the session there; null where it does not say. */
  session: string | null;
  /** When the person showed it who it is: milliseconds since 1970-01-01 UTC, 0 where it does not say. */
  confirmed: number;
}

/** Why a provider does not vouch for somebody. `away`: it was not reached; `refused`: it says no; `invalid`: it says what does not hold. */
export class OidcError extends Error {
  constructor(
    readonly reason: "away" | "refused" | "invalid",
    message: string,
  ) {
    super(message);
  }
}

/** One provider of OpenID Connect: the code flow with PKCE, state and nonce (OpenID Connect Core 1.0, RFC 9700). */
export class OidcProvider {
  private known: { server: oauth.AuthorizationServer; at: number } | undefined;
  private keys: { from: string; get: JWTVerifyGetKey } | undefined;

  constructor(
    private readonly options: OidcOptions,
    private readonly now: () => number,
  ) {}

  /**
   * The address at the provider that a browser is sent to, and what has to be kept meanwhile. `again`: it shall have the
   * person show who it is, though it knows. @throws NotVouched
   */
  async begin(returnTo: string, again = false): Promise<{ url: URL; begun: PendingAuthorization }> {
    const library = await load();
    const server = await this.discover(MOMENT);
    const begun = {
      state: library.generateRandomState(),
      nonce: library.generateRandomNonce(),
      verifier: library.generateRandomCodeVerifier(),
      returnTo,
    };
    const url = this.endpoint(server.authorization_endpoint);
    for (const [name, value] of Object.entries({
      client_id: this.options.clientId,
      response_type: "code",
      scope: this.options.scopes,
      redirect_uri: returnTo,
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: "S256",
      ...(again ? { prompt: "login", max_age: "0" } : {}),
    }))
      url.searchParams.set(name, value);
    return { url, begun };
  }

  /** Who comes back with the parameters of `answer`. @throws NotVouched */
  async finish(answer: URLSearchParams, begun: PendingAuthorization): Promise<OidcIdentity> {
    const library = await load();
    const server = await this.discover();
    try {
      return await this.exchange(library, server, answer, begun);
    } catch (error) {
      throw notVouched(library, error);
    }
  }

  /**
   * Where the provider lets people sign out (OpenID Connect RP-Initiated Logout 1.0), and sends them back from to
   * `returnTo`; undefined where it does not, or does not answer. By the ID token that it has given it knows who asks;
   * without one, many ask people whether they mean it.
   */
  async signOutAddress(returnTo: string, idToken: string | undefined): Promise<URL | undefined> {
    try {
      const { end_session_endpoint: address } = await this.discover(MOMENT);
      if (address === undefined) return undefined;
      const url = this.endpoint(address);
      url.searchParams.set("client_id", this.options.clientId);
      url.searchParams.set("post_logout_redirect_uri", returnTo);
      if (idToken !== undefined) url.searchParams.set("id_token_hint", idToken);
      return url;
    } catch {
      return undefined;
    }
  }

  /** Who has signed out there, by a logout token of which all holds but that it is new. @throws NotVouched */
  async signedOut(token: string): Promise<SignedOut> {
    const library = await load();
    const { createRemoteJWKSet, customFetch } = await import("jose");
    const server = await this.discover();
    const from = this.endpoint(server.jwks_uri).href;
    // It asks for keys that it does not know anew, and not too often, whoever sends tokens.
    if (this.keys?.from !== from) {
      const fetchKeys = this.ways(library)[library.customFetch] as unknown as FetchKeys;
      this.keys = { from, get: createRemoteJWKSet(new URL(from), { [customFetch]: fetchKeys }) };
    }
    const algorithms = (server.id_token_signing_alg_values_supported ?? ["RS256"]).filter((name) =>
      ASYMMETRIC.test(name),
    );
    const { clientId } = this.options;
    try {
      const { get } = this.keys;
      return await readLogoutToken(token, {
        issuer: server.issuer,
        clientId,
        algorithms,
        keys: get,
        now: this.now(),
      });
    } catch (error) {
      throw error instanceof OidcError ? error : new OidcError("invalid", (error as Error).message);
    }
  }

  /** What the provider says of itself. @throws NotVouched */
  async discover(longest = HOUR): Promise<oauth.AuthorizationServer> {
    if (this.known && this.now() - this.known.at < longest) return this.known.server;
    const library = await load();
    const issuer = new URL(this.options.issuer);
    try {
      const response = await library.discoveryRequest(issuer, { ...this.ways(library), algorithm: "oidc" });
      const server = await library.processDiscoveryResponse(issuer, response);
      for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const)
        if (server[name] === undefined) throw new Error(`its configuration has no ${name}`);
      this.known = { server, at: this.now() };
      return server;
    } catch (error) {
      if (error instanceof OidcError) throw error;
      throw new OidcError("away", `${this.options.issuer}: ${(error as Error).message}`);
    }
  }

  private async exchange(
    library: typeof oauth,
    server: oauth.AuthorizationServer,
    answer: URLSearchParams,
    begun: PendingAuthorization,
  ): Promise<OidcIdentity> {
    const { clientId, clientSecret } = this.options;
    const client = { client_id: clientId, [library.clockTolerance]: TOLERANCE };
    const parameters = library.validateAuthResponse(server, client, answer, begun.state);
    const response = await library.authorizationCodeGrantRequest(
      server,
      client,
      clientSecret === "" ? library.None() : this.authentication(library, server, clientSecret),
      parameters,
      begun.returnTo,
      begun.verifier,
      this.ways(library),
    );
    const tokens = await library.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: begun.nonce,
      requireIdToken: true,
    });
    await this.checkSignature(library, server, response);
    const claims: Claims = { ...library.getValidatedIdTokenClaims(tokens) };
    const subject = String(claims.sub);
    const { username, fullName, email, groups } = this.options;
    const isMissing = [username, fullName, email, groups].some((name) => valueAt(claims, name) === undefined);
    if (isMissing && server.userinfo_endpoint !== undefined) {
      const info = await library.userInfoRequest(server, client, tokens.access_token, this.ways(library));
      const more = await library.processUserInfoResponse(server, client, subject, info);
      // What is signed counts.
      for (const [name, value] of Object.entries(more)) claims[name] ??= value as Claims[string];
    }
    const { sid, auth_time: at } = library.getValidatedIdTokenClaims(tokens)!;
    return {
      person: this.person(subject, claims),
      idToken: tokens.id_token!,
      session: typeof sid === "string" && sid !== "" ? sid : null,
      confirmed: typeof at === "number" && at > 0 ? at * 1000 : 0,
    };
  }

  /** By the provider's keys; a key that is not known yet may have been made since these were read. */
  private async checkSignature(
    library: typeof oauth,
    server: oauth.AuthorizationServer,
    response: Response,
  ): Promise<void> {
    try {
      await library.validateApplicationLevelSignature(server, response, this.ways(library));
    } catch (error) {
      if ((error as { code?: string }).code !== library.KEY_SELECTION) throw error;
      this.known = undefined;
      const now = await this.discover();
      await library.validateApplicationLevelSignature(now, response, this.ways(library));
    }
  }

  private authentication(
    library: typeof oauth,
    server: oauth.AuthorizationServer,
    secret: string,
  ): oauth.ClientAuth {
    const ways = server.token_endpoint_auth_methods_supported;
    const isPost = ways?.includes("client_secret_post") && !ways.includes("client_secret_basic");
    return isPost ? library.ClientSecretPost(secret) : library.ClientSecretBasic(secret);
  }

  private person(subject: string, claims: Claims): Person {
    const { issuer, username, fullName, email, groups } = this.options;
    const text = (name: string): string => {
      const value = valueAt(claims, name);
      return typeof value === "string" ? value.trim() : "";
    };
    const listed = valueAt(claims, groups);
    return {
      provider: "oidc",
      issuer,
      subject,
      label: plainText(`${text(username) || subject} at ${issuer}`, 500),
      username: text(username),
      fullName: plainText(text(fullName)),
      email: plainEmail(text(email)),
      groups: (Array.isArray(listed) ? listed : [listed]).filter((name) => typeof name === "string"),
    };
  }

  private endpoint(address: string | undefined): URL {
    const url = new URL(address ?? "");
    const isPlain = url.protocol === "http:" && this.options.issuer.startsWith("http:");
    if (url.protocol !== "https:" && !isPlain)
      throw new OidcError("away", `${this.options.issuer}: ${url.origin} is not https`);
    return url;
  }

  /** How the provider is asked: within a time, a size, and by https unless it is on this machine. */
  private ways(library: typeof oauth): Ways {
    const { caFile, timeout, issuer } = this.options;
    const tls = caFile === "" ? {} : { tls: { ca: readFileSync(caFile, "utf8") } };
    return {
      [library.allowInsecureRequests]: issuer.startsWith("http:"),
      [library.customFetch]: async (url: string, init: object): Promise<Response> => {
        try {
          const limits = { ...init, ...tls, signal: AbortSignal.timeout(timeout) } as RequestInit;
          const response = await fetch(url, limits);
          const body = await readAll(response);
          if (response.status >= 500) throw new Error(`it answers ${response.status}`);
          return new Response(body, { status: response.status, headers: response.headers });
        } catch (error) {
          throw new OidcError("away", `${new URL(url).origin}: ${(error as Error).message}`);
        }
      },
    };
  }
}

type FetchKeys = (url: string, options: object) => Promise<Response>;
/** Ways to sign for which the provider alone has the key. */
const ASYMMETRIC = /^(RS|PS|ES)\d{3}$|^EdDSA$|^Ed25519$/;
type Claims = Record<string, oauth.JsonValue | undefined>;
type Ways = oauth.DiscoveryRequestOptions &
  oauth.TokenEndpointRequestOptions &
  oauth.ValidateSignatureOptions;

/** Loaded where it is used: few installations have a provider. */
const load = (): Promise<typeof oauth> => import("oauth4webapi");

/** A claim by its name, or by the names of those that it lies within. */
function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split("."))
    value =
      value !== null && typeof value === "object" && Object.hasOwn(value, part)
        ? (value as Record<string, unknown>)[part]
        : undefined;
  return value;
}

async function readAll(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null || [204, 205, 304].includes(response.status)) return null;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body) {
    size += part.length;
    if (size > LARGEST) throw new Error(`its answer is larger than ${LARGEST} bytes`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** What went wrong, without anything of a token in it. */
function notVouched(library: typeof oauth, error: unknown): OidcError {
  if (error instanceof OidcError) return error;
  // The person, or the provider on the person's behalf, said no.
  if (error instanceof library.AuthorizationResponseError) return new OidcError("refused", error.error);
  const said = error instanceof library.ResponseBodyError ? `: ${error.error}` : "";
  return new OidcError("invalid", `${(error as Error).message}${said}`);
}
