import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { AddressInfo } from "node:net";
import type Provider from "oidc-provider";

/** A real provider of OpenID Connect (the npm package oidc-provider) on a free port, with a page to sign in. */

/** The provider's claims about people, by the name that they type there. */
export type People = Record<string, Record<string, unknown>>;

export interface RealProvider extends AsyncDisposable {
  issuer: string;
  people: People;
  /** Stops listening; and listens again, on the same port. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export const CLIENT = { id: "labd", secret: "a secret of the client" };

/**
 * @param places where clients may come back to, or what says so once the provider has an address; the second client,
 * `public`, has no secret
 */
export async function openProvider(
  places: string[] | ((issuer: string) => Promise<string[]>),
  people: People,
): Promise<RealProvider> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const server = createServer();
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const returnTo = typeof places === "function" ? await places(issuer) : places;
  const homes = returnTo.map((address) => new URL("/", address).href);
  const told = returnTo.map((address) => new URL("/api/oidc/back-channel-logout", address).href)[0];
  const client = {
    redirect_uris: returnTo,
    post_logout_redirect_uris: homes,
    response_types: ["code"],
    grant_types: ["authorization_code"],
    ...(told === undefined
      ? {}
      : { backchannel_logout_uri: told, backchannel_logout_session_required: true }),
  };
  // It warns of what is meant for tests only.
  const { info, warn } = console;
  Object.assign(console, { info() {}, warn() {} });
  const { default: OidcProvider } = await import("oidc-provider");
  const provider = new OidcProvider(issuer, {
    clients: [
      { ...client, client_id: CLIENT.id, client_secret: CLIENT.secret },
      { ...client, client_id: "public", token_endpoint_auth_method: "none" },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "test", use: "sig", alg: "RS256" }] },
    cookies: { keys: ["for tests"] },
    findAccount: (_: unknown, name: string) =>
      people[name] && { accountId: name, claims: () => ({ sub: name, ...people[name] }) },
    claims: {
      openid: ["sub"],
      profile: ["name", "preferred_username"],
      email: ["email"],
      groups: ["groups"],
    },
    pkce: { required: () => true },
    ttl: { Interaction: 600, Session: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
    renderError: (context: { body: unknown }, out: object) => void (context.body = JSON.stringify(out)),
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: { body: unknown }, form: string) =>
          void (context.body = `<!doctype html><title>Provider</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out there</button>`),
      },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  });
  Object.assign(console, { info, warn });
  const rest = provider.callback();
  server.on("request", (request, response) => {
    if (request.url?.startsWith("/interaction/")) void interact(provider, request, response);
    else rest(request, response);
  });
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { issuer, people, pause, resume: () => listen(port), [Symbol.asyncDispose]: pause };
}

/** Cookies by origin, name and path, as a browser keeps them. */
export class Jar {
  private readonly cookies = new Map<string, { origin: string; name: string; path: string; value: string }>();

  take(url: string, response: Response): void {
    const { origin } = new URL(url);
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = line.match(/^([^=]+)=([^;]*)/)!;
      const path = line.match(/;\s*path=([^;]+)/i)?.[1] ?? "/";
      const key = [origin, name, path].join(" ");
      if (/max-age=0\b|1970/i.test(line)) this.cookies.delete(key);
      else this.cookies.set(key, { origin, name, path, value });
    }
  }

  of(url: string): string {
    const { origin, pathname } = new URL(url);
    return [...this.cookies.values()]
      .filter((cookie) => cookie.origin === origin && `${pathname}/`.startsWith(cookie.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }
}

/** Asks as a browser, following redirects to the address that `stop` names, or to the first page. */
export async function browse(
  url: string,
  jar: Jar,
  ask: (request: Request) => Promise<Response>,
  { stop = () => false, form }: { stop?: (url: string) => boolean; form?: Record<string, string> } = {},
): Promise<{ url: string; response: Response | undefined }> {
  let [at, body] = [url, form];
  for (let i = 0; i < 20; i++) {
    if (stop(at)) return { url: at, response: undefined };
    const response = await ask(
      new Request(at, {
        headers: { cookie: jar.of(at) },
        redirect: "manual",
        ...(body ? { method: "POST", body: new URLSearchParams(body) } : {}),
      }),
    );
    jar.take(at, response);
    const location = response.headers.get("location");
    if (location === null) return { url: at, response };
    at = new URL(location, at).href;
    body = undefined;
  }
  throw new Error(`redirected too often, to ${at}`);
}

/** Signs in on the provider's page, or says no there (`name` is null). @returns where the browser is then */
export async function passProvider(
  start: string,
  name: string | null,
  jar: Jar,
  ask: (request: Request) => Promise<Response>,
): Promise<string> {
  const page = await browse(start, jar, ask);
  if (page.response?.headers.get("x-page") !== "sign-in") return page.url;
  return (await browse(page.url, jar, ask, { form: { name: name ?? "" } })).url;
}

/** The page of the provider: a name is enough. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === "GET") {
    response.setHeader("Content-Type", "text/html");
    response.setHeader("X-Page", "sign-in");
    response.end(
      '<!doctype html><title>Provider</title><form method="post"><input name="name"><button>Go</button></form>',
    );
    return;
  }
  const { params } = await provider.interactionDetails(request, response);
  const name = new URLSearchParams(await text(request)).get("name");
  if (!name) return provider.interactionFinished(request, response, { error: "access_denied" });
  const grant = new provider.Grant({ accountId: name, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { login: { accountId: name }, consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result);
}
