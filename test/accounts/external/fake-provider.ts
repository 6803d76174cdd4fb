/** An OIDC provider whose responses are valid except for the changes of a test. */

type Claims = Record<string, unknown>;

/** Changes to the claims of ID tokens, to encoded ID tokens, and to the other documents. */
export interface Changes {
  claims: Claims;
  token: (jwt: string) => string;
  configuration: Claims;
  userinfo: Claims;
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
export const NO_CHANGES: Changes = { claims: {}, token: (jwt) => jwt, configuration: {}, userinfo: {} };

/** Signs tokens with the newest of its keys. */
class Signer {
  /** Keys of the JWKS document. */
  published: object[] = [];
  #key: CryptoKeyPair | undefined;
  #kid = 0;

  /** Creates a new key, and publishes it if `publish`. */
  async rotate(publish: boolean): Promise<void> {
    this.#key = (await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])) as CryptoKeyPair;
    this.#kid++;
    if (!publish) return;
    const jwk = await crypto.subtle.exportKey("jwk", this.#key.publicKey);
    this.published = [{ ...jwk, kid: String(this.#kid), use: "sig", alg: "ES256" }];
  }

  async sign(claims: object, header: object = {}): Promise<string> {
    const signed = `${base64({ alg: "ES256", kid: String(this.#kid), ...header })}.${base64(claims)}`;
    const signature = await crypto.subtle.sign(ALGORITHM, this.#key!.privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString("base64url")}`;
  }
}

export class FakeProvider implements Disposable {
  readonly changes: Changes = { ...NO_CHANGES };
  /** Number of requests by path. */
  readonly requests: Record<string, number> = {};
  /** Bodies of token requests. */
  readonly grants: URLSearchParams[] = [];
  readonly issuer: string;
  readonly #signer = new Signer();
  readonly #codes = new Map<string, { nonce: string; challenge: string }>();
  readonly #server: Bun.Server<undefined>;

  private constructor(tls?: { cert: string; key: string }) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      ...(tls ? { tls } : {}),
      fetch: (request) => this.#respond(request),
    });
    this.issuer = `${tls ? "https://localhost" : "http://127.0.0.1"}:${this.#server.port}`;
  }

  /** @param tls certificate and key for https://localhost; without them the provider uses http://127.0.0.1 */
  static async open(tls?: { cert: string; key: string }): Promise<FakeProvider> {
    const provider = new FakeProvider(tls);
    await provider.rotate(true);
    return provider;
  }

  /** Signs with a new key from now on, which is published or not. */
  rotate(publish: boolean): Promise<void> {
    return this.#signer.rotate(publish);
  }

  /** A logout token with some claims and header fields changed. */
  logoutToken(claims: Claims = {}, header: Claims = { typ: "logout+jwt" }): Promise<string> {
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    return this.#signer.sign({ ...this.#usualClaims(), jti: crypto.randomUUID(), events, ...claims }, header);
  }

  #usualClaims(): Claims {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.issuer, sub: "1", aud: "labd", iat: now, exp: now + 60 };
  }

  async #respond(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    this.requests[pathname] = (this.requests[pathname] ?? 0) + 1;
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return Response.json(this.#configuration());
      case "/jwks":
        return Response.json({ keys: this.#signer.published });
      case "/me":
        return Response.json({ sub: "1", ...this.changes.userinfo });
      case "/auth":
        return this.#authorize(searchParams);
      default:
        return this.#exchange(new URLSearchParams(await request.text()));
    }
  }

  #configuration(): Claims {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/me`,
      id_token_signing_alg_values_supported: ["ES256"],
      code_challenge_methods_supported: ["S256"],
      ...this.changes.configuration,
    };
  }

  #authorize(query: URLSearchParams): Response {
    const code = crypto.randomUUID();
    this.#codes.set(code, { nonce: query.get("nonce")!, challenge: query.get("code_challenge")! });
    const callback = new URL(query.get("redirect_uri")!);
    callback.search = String(new URLSearchParams({ code, state: query.get("state")! }));
    return Response.redirect(callback.href, 303);
  }

  async #exchange(grant: URLSearchParams): Promise<Response> {
    this.grants.push(grant);
    const code = this.#codes.get(grant.get("code") ?? "");
    this.#codes.delete(grant.get("code") ?? "");
    const hash = new Bun.CryptoHasher("sha256").update(grant.get("code_verifier") ?? "").digest("base64url");
    if (code?.challenge !== hash) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const idToken = await this.#idToken(code.nonce);
    return Response.json({ access_token: "access", token_type: "Bearer", id_token: idToken });
  }

  async #idToken(nonce: string): Promise<string> {
    const kim = {
      preferred_username: "kim",
      name: "Kim Kuhn",
      email: "kim@lab.example",
      groups: ["genomics"],
    };
    const claims = { ...this.#usualClaims(), nonce, ...kim, ...this.changes.claims };
    return this.changes.token(await this.#signer.sign(claims));
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}
