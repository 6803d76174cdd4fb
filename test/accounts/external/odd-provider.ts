/** A provider whose answers are valid except for what a test changes. */

type Claims = Record<string, unknown>;

/** Changes of ID tokens, of their encoded form, and of the other documents. */
export interface Odd {
  claims: Claims;
  token: (jwt: string) => string;
  configuration: Claims;
  userinfo: Claims;
}

export interface OddProvider extends Disposable {
  issuer: string;
  odd: Odd;
  /** Signs with another key from now on; `publish`: and says so. */
  rotate(publish: boolean): Promise<void>;
  /** A logout token with some claims and header fields changed. */
  logoutToken(claims?: Claims, header?: Claims): Promise<string>;
  /** Requests by path. */
  asked: Record<string, number>;
  /** Bodies of requests for tokens. */
  grants: URLSearchParams[];
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
export const USUAL: Odd = { claims: {}, token: (jwt) => jwt, configuration: {}, userinfo: {} };

/** @param tls certificate and key for localhost; without them by http on 127.0.0.1 */
export async function openOddProvider(tls?: { cert: string; key: string }): Promise<OddProvider> {
  const odd: Odd = { ...USUAL };
  const asked: Record<string, number> = {};
  const grants: URLSearchParams[] = [];
  const published: object[] = [];
  let key: CryptoKeyPair;
  let kid = 0;
  const rotate = async (publish: boolean): Promise<void> => {
    key = (await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])) as CryptoKeyPair;
    kid++;
    if (!publish) return;
    const jwk = await crypto.subtle.exportKey("jwk", key.publicKey);
    published.splice(0, published.length, { ...jwk, kid: String(kid), use: "sig", alg: "ES256" });
  };
  await rotate(true);
  const codes = new Map<string, { nonce: string; challenge: string }>();
  const sign = async (claims: object, header: object = {}): Promise<string> => {
    const signed = `${base64({ alg: "ES256", kid: String(kid), ...header })}.${base64(claims)}`;
    const signature = await crypto.subtle.sign(ALGORITHM, key.privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString("base64url")}`;
  };
  const usualClaims = () => {
    const now = Math.floor(Date.now() / 1000);
    return { iss: issuer, sub: "1", aud: "labd", iat: now, exp: now + 60 };
  };
  const logoutToken: OddProvider["logoutToken"] = (claims = {}, header = { typ: "logout+jwt" }) => {
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    return sign({ ...usualClaims(), jti: crypto.randomUUID(), events, ...claims }, header);
  };
  const idToken = async (nonce: string): Promise<string> => {
    const kim = {
      preferred_username: "kim",
      name: "Kim Kuhn",
      email: "kim@lab.example",
      groups: ["genomics"],
    };
    return odd.token(await sign({ ...usualClaims(), nonce, ...kim, ...odd.claims }));
  };
  let issuer = "";
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls ? { tls } : {}),
    async fetch(request): Promise<Response> {
      const { pathname, searchParams } = new URL(request.url);
      asked[pathname] = (asked[pathname] ?? 0) + 1;
      if (pathname === "/.well-known/openid-configuration")
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/me`,
          id_token_signing_alg_values_supported: ["ES256"],
          code_challenge_methods_supported: ["S256"],
          ...odd.configuration,
        });
      if (pathname === "/jwks") return Response.json({ keys: published });
      if (pathname === "/me") return Response.json({ sub: "1", ...odd.userinfo });
      if (pathname === "/auth") {
        const code = crypto.randomUUID();
        codes.set(code, {
          nonce: searchParams.get("nonce")!,
          challenge: searchParams.get("code_challenge")!,
        });
        const back = new URL(searchParams.get("redirect_uri")!);
        back.search = String(new URLSearchParams({ code, state: searchParams.get("state")! }));
        return Response.redirect(back.href, 303);
      }
      const grant = new URLSearchParams(await request.text());
      grants.push(grant);
      const code = codes.get(grant.get("code") ?? "");
      const hash = new Bun.CryptoHasher("sha256")
        .update(grant.get("code_verifier") ?? "")
        .digest("base64url");
      codes.delete(grant.get("code") ?? "");
      if (code?.challenge !== hash) return Response.json({ error: "invalid_grant" }, { status: 400 });
      return Response.json({
        access_token: "access",
        token_type: "Bearer",
        id_token: await idToken(code.nonce),
      });
    },
  });
  issuer = `${tls ? "https://localhost" : "http://127.0.0.1"}:${server.port}`;
  return { issuer, odd, asked, grants, rotate, logoutToken, [Symbol.dispose]: () => void server.stop(true) };
}
