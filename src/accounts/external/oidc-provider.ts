import { readFileSync } from "node:fs";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import type * as oauth from "oauth4webapi";
import { cleanEmail, cleanText } from "../username.ts";
import type { Admission, Person } from "./person.ts";

/** An OpenID Connect provider, and the users who may sign in. */
export interface OidcOptions extends Admission {
  issuer: string;
  clientId: string;
  /** Client secret; empty for a public client. */
  clientSecret: string;
  scopes: string;
  /** File of trusted certificate authorities; empty for the system's. */
  caFile: string;
  /** Claims; that of groups may be nested, `realm_access.roles`. */
  username: string;
  fullName: string;
  email: string;
  groups: string;
  /** Hours after which a session must be renewed at the provider. */
  sessionHours: number;
}

/** A sign-in under way, kept until the browser returns. */
export interface PendingAuthorization {
  state: string;
  nonce: string;
  /** PKCE code verifier (RFC 7636). */
  verifier: string;
  redirectUri: string;
}

/** An authenticated person and their session at the provider. */
export interface OidcIdentity {
  person: Person;
  /** Identifies the session when signing out. */
  idToken: string;
  /** The provider's session id, if it has one. */
  session: string | null;
  /** Time of the authentication: milliseconds since 1970-01-01 UTC, 0 if unknown. */
  confirmed: number;
}

/** A back-channel logout: of a session, of all sessions of a subject, or both. */
export interface LogoutToken {
  jti: string;
  /** End of the time in which a copy of the token would be accepted: milliseconds since 1970-01-01 UTC. */
  until: number;
  subject?: string;
  session?: string;
}

/** `away`: the provider is not reachable; `refused`: it denies the sign-in; `invalid`: its response is not valid. */
export class OidcError extends Error {
  constructor(
    readonly reason: "away" | "refused" | "invalid",
    message: string,
  ) {
    super(message);
  }
}

/** Milliseconds for which the provider's configuration is cached, for callbacks and for new sign-ins. */
const CACHE_CALLBACK = 3_600_000;
const CACHE_START = 1000;
/** Milliseconds for one response, and its bytes. */
const TIMEOUT = 10_000;
const MAX_RESPONSE = 1_048_576;
/** Seconds that the provider's clock may differ. */
const CLOCK_TOLERANCE = 30;
/** Seconds after which a logout token is too old. */
const MAX_TOKEN_AGE = 600;
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** Signature algorithms with a private key of the provider. */
const ASYMMETRIC = /^(RS|PS|ES)\d{3}$|^EdDSA$|^Ed25519$/;

type Library = typeof oauth;
type Claims = Record<string, oauth.JsonValue | undefined>;
type RequestOptions = oauth.DiscoveryRequestOptions &
  oauth.TokenEndpointRequestOptions &
  oauth.ValidateSignatureOptions;

/** Loaded on demand: few installations have a provider. */
const load = (): Promise<Library> => import("oauth4webapi");

/** An OpenID Connect provider: the code flow with PKCE, state and nonce (OpenID Connect Core 1.0, RFC 9700). */
export class OidcProvider {
  private configuration: { server: oauth.AuthorizationServer; at: number } | undefined;
  private keys: { url: string; get: JWTVerifyGetKey } | undefined;

  constructor(
    private readonly options: OidcOptions,
    private readonly now: () => number,
  ) {}

  /** The authorization URL. @param again whether the provider must authenticate the person again @throws OidcError */
  async begin(redirectUri: string, again = false): Promise<{ url: URL; pending: PendingAuthorization }> {
    const library = await load();
    const server = await this.discover(CACHE_START);
    const pending = {
      state: library.generateRandomState(),
      nonce: library.generateRandomNonce(),
      verifier: library.generateRandomCodeVerifier(),
      redirectUri,
    };
    const url = this.endpoint(server.authorization_endpoint, {
      client_id: this.options.clientId,
      response_type: "code",
      scope: this.options.scopes,
      redirect_uri: redirectUri,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: "S256",
      ...(again ? { prompt: "login", max_age: "0" } : {}),
    });
    return { url, pending };
  }

  /** Completes a sign-in with the parameters of the callback. @throws OidcError */
  async finish(parameters: URLSearchParams, pending: PendingAuthorization): Promise<OidcIdentity> {
    const library = await load();
    const server = await this.discover();
    try {
      return await this.exchange(library, server, parameters, pending);
    } catch (error) {
      if (error instanceof OidcError) throw error;
      if (error instanceof library.AuthorizationResponseError) throw new OidcError("refused", error.error);
      const code = error instanceof library.ResponseBodyError ? `: ${error.error}` : "";
      throw new OidcError("invalid", `${(error as Error).message}${code}`);
    }
  }

  /**
   * The URL to sign out at the provider (RP-Initiated Logout 1.0); undefined if the provider has no such URL or does
   * not answer.
   */
  async signOutUrl(returnTo: string, idToken: string | undefined): Promise<URL | undefined> {
    try {
      const { end_session_endpoint: endpoint } = await this.discover(CACHE_START);
      if (endpoint === undefined) return undefined;
      return this.endpoint(endpoint, {
        client_id: this.options.clientId,
        post_logout_redirect_uri: returnTo,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      });
    } catch {
      return undefined;
    }
  }

  /** Verifies a logout token (Back-Channel Logout 1.0, section 2.6), except that it is new. @throws OidcError */
  async verifyLogoutToken(token: string): Promise<LogoutToken> {
    const library = await load();
    const { createRemoteJWKSet, customFetch, jwtVerify } = await import("jose");
    const server = await this.discover();
    const { clientId } = this.options;
    const url = this.endpoint(server.jwks_uri).href;
    if (this.keys?.url !== url) {
      const fetchKeys = this.requestOptions(library)[library.customFetch] as never;
      this.keys = { url, get: createRemoteJWKSet(new URL(url), { [customFetch]: fetchKeys }) };
    }
    const announced = server.id_token_signing_alg_values_supported ?? ["RS256"];
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keys.get, {
        issuer: server.issuer,
        audience: clientId,
        algorithms: announced.filter((name) => ASYMMETRIC.test(name)),
        clockTolerance: CLOCK_TOLERANCE,
        maxTokenAge: MAX_TOKEN_AGE,
        requiredClaims: ["iss", "aud", "iat", "exp", "jti", "events"],
        currentDate: new Date(this.now()),
      });
      return readLogoutClaims(payload, protectedHeader.typ, clientId);
    } catch (error) {
      throw error instanceof OidcError ? error : new OidcError("invalid", (error as Error).message);
    }
  }

  /** The provider's configuration. @param maxAge milliseconds for which a cached one will do @throws OidcError */
  async discover(maxAge = CACHE_CALLBACK): Promise<oauth.AuthorizationServer> {
    if (this.configuration && this.now() - this.configuration.at < maxAge) return this.configuration.server;
    const library = await load();
    const issuer = new URL(this.options.issuer);
    try {
      const options = { ...this.requestOptions(library), algorithm: "oidc" } as const;
      const server = await library.processDiscoveryResponse(
        issuer,
        await library.discoveryRequest(issuer, options),
      );
      for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const)
        if (server[name] === undefined) throw new Error(`its configuration has no ${name}`);
      this.configuration = { server, at: this.now() };
      return server;
    } catch (error) {
      if (error instanceof OidcError) throw error;
      throw new OidcError("away", `${this.options.issuer}: ${(error as Error).message}`);
    }
  }

  private async exchange(
    library: Library,
    server: oauth.AuthorizationServer,
    callback: URLSearchParams,
    pending: PendingAuthorization,
  ): Promise<OidcIdentity> {
    const client = { client_id: this.options.clientId, [library.clockTolerance]: CLOCK_TOLERANCE };
    const options = this.requestOptions(library);
    const response = await library.authorizationCodeGrantRequest(
      server,
      client,
      this.clientAuth(library, server),
      library.validateAuthResponse(server, client, callback, pending.state),
      pending.redirectUri,
      pending.verifier,
      options,
    );
    const tokens = await library.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: pending.nonce,
      requireIdToken: true,
    });
    await this.checkSignature(library, server, response);
    const claims: Claims = { ...library.getValidatedIdTokenClaims(tokens)! };
    const { sub, sid, auth_time: at } = claims;
    const subject = String(sub);
    const { username, fullName, email, groups } = this.options;
    const isIncomplete = [username, fullName, email, groups].some(
      (name) => readClaim(claims, name) === undefined,
    );
    if (isIncomplete && server.userinfo_endpoint !== undefined) {
      const info = await library.userInfoRequest(server, client, tokens.access_token, options);
      const more = await library.processUserInfoResponse(server, client, subject, info);
      // The signed claims take precedence.
      for (const [name, value] of Object.entries(more)) claims[name] ??= value as Claims[string];
    }
    return {
      person: this.person(subject, claims),
      idToken: tokens.id_token!,
      session: typeof sid === "string" && sid !== "" ? sid : null,
      confirmed: typeof at === "number" && at > 0 ? at * 1000 : 0,
    };
  }

  /** Checks the signature; an unknown key may be newer than the cached configuration. */
  private async checkSignature(
    library: Library,
    server: oauth.AuthorizationServer,
    response: Response,
  ): Promise<void> {
    const options = this.requestOptions(library);
    try {
      await library.validateApplicationLevelSignature(server, response, options);
    } catch (error) {
      if ((error as { code?: string }).code !== library.KEY_SELECTION) throw error;
      await library.validateApplicationLevelSignature(await this.discover(0), response, options);
    }
  }

  private clientAuth(library: Library, server: oauth.AuthorizationServer): oauth.ClientAuth {
    const { clientSecret } = this.options;
    if (clientSecret === "") return library.None();
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const isPost = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
    return isPost ? library.ClientSecretPost(clientSecret) : library.ClientSecretBasic(clientSecret);
  }

  private person(subject: string, claims: Claims): Person {
    const { issuer, groups } = this.options;
    const text = (name: string): string => {
      const value = readClaim(claims, name);
      return typeof value === "string" ? value.trim() : "";
    };
    const username = text(this.options.username);
    return {
      provider: "oidc",
      issuer,
      subject,
      label: cleanText(`${username || subject} at ${issuer}`, 500),
      username,
      fullName: cleanText(text(this.options.fullName)),
      email: cleanEmail(text(this.options.email)),
      // OpenID Connect Core 1.0, section 5.1; some providers send a text.
      isEmailVerified: String(claims.email_verified) !== "false",
      groups: [readClaim(claims, groups)].flat().filter((name) => typeof name === "string"),
    };
  }

  /** An endpoint with parameters; https unless the provider is on this machine. */
  private endpoint(address: string | undefined, parameters: Record<string, string> = {}): URL {
    const url = new URL(address ?? "");
    const isLocal = url.protocol === "http:" && this.options.issuer.startsWith("http:");
    if (url.protocol !== "https:" && !isLocal)
      throw new OidcError("away", `${this.options.issuer}: ${url.origin} is not https`);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  /** Limits of time and size, and trusted authorities, for all requests to the provider. */
  private requestOptions(library: Library): RequestOptions {
    const { caFile, issuer } = this.options;
    const tls = caFile === "" ? {} : { tls: { ca: readFileSync(caFile, "utf8") } };
    return {
      [library.allowInsecureRequests]: issuer.startsWith("http:"),
      [library.customFetch]: async (url: string, init: object): Promise<Response> => {
        try {
          const response = await fetch(url, { ...init, ...tls, signal: AbortSignal.timeout(TIMEOUT) });
          const body = await readLimited(response);
          if (response.status >= 500) throw new Error(`it returned status ${response.status}`);
          return new Response(body, { status: response.status, headers: response.headers });
        } catch (error) {
          throw new OidcError("away", `${new URL(url).origin}: ${(error as Error).message}`);
        }
      },
    };
  }
}

/** A claim by its name, or by its path in nested objects. */
function readClaim(claims: Claims, name: string): oauth.JsonValue | undefined {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split("."))
    value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value as oauth.JsonValue | undefined;
}

async function readLimited(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null || [204, 205, 304].includes(response.status)) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MAX_RESPONSE) throw new Error(`its response is larger than ${MAX_RESPONSE} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The claims of a logout token. @throws OidcError */
function readLogoutClaims(payload: JWTPayload, typ: string | undefined, clientId: string): LogoutToken {
  const { jti = "", sub, sid, events, azp, exp = 0, iat = 0 } = payload;
  const type = typ?.toLowerCase().replace(/^application\//, "") ?? "jwt";
  const isText = (claim: unknown): boolean =>
    claim === undefined || (typeof claim === "string" && claim !== "");
  // An ID token is told apart by its claims (section 4).
  const rules: [boolean, string][] = [
    [type === "jwt" || type === "logout+jwt", "it is of another type"],
    [azp === undefined || azp === clientId, "it is for another client (azp)"],
    [jti !== "" && isText(jti), "it has no jti"],
    [isObject(events) && isObject(events[LOGOUT_EVENT]), "it is of another event"],
    [!("nonce" in payload), "it has a nonce"],
    [isText(sub) && isText(sid), "sub or sid is not a text"],
    [sub !== undefined || sid !== undefined, "it has neither sub nor sid"],
  ];
  const broken = rules.find(([holds]) => !holds);
  if (broken) throw new OidcError("invalid", broken[1]);
  return {
    jti,
    until: (Math.max(exp, iat + MAX_TOKEN_AGE) + 2 * CLOCK_TOLERANCE) * 1000,
    ...(sub === undefined ? {} : { subject: sub }),
    ...(sid === undefined ? {} : { session: sid as string }),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
