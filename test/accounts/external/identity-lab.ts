import { resolveConfig } from "../../../src/config.ts";
import { openIdentity } from "../../../src/accounts/external/index.ts";
import { openMemberships } from "../../../src/inventory/index.ts";
import type { Log } from "../../../src/platform/log.ts";
import { DIRECT, type PublicUrlOptions } from "../../../src/platform/origin.ts";
import { openService } from "../../fixtures/service.ts";
import { openLab } from "../../inventory/harness.ts";
import { FakeProvider } from "./fake-provider.ts";
import { browse, CLIENT, Jar } from "./provider.ts";

/** An installation as the program composes it, with a provider to sign in by. */

export const LAB = "http://lab.example";
export const CALLBACK = `${LAB}/api/oidc/callback`;

/** The inventory with people from a directory or a provider. Problems are logged into a list. */
export async function openIdentityLab(flags: Record<string, string>) {
  const lab = await openLab();
  const { database, clock, accounts } = lab;
  const problems: string[] = [];
  const log: Log = {
    info() {},
    problem: (event, fields) => void problems.push(JSON.stringify([event, fields])),
  };
  const settings = resolveConfig({ flags, environment: {} }).config;
  const memberships = openMemberships(database, clock);
  const opened = openIdentity({ settings, database, clock, accounts, memberships, log });
  return { ...lab, ...opened, log, problems };
}

export async function open(
  settings: Record<string, string>,
  reach: PublicUrlOptions = DIRECT,
  network: (request: Request) => Promise<Response> = fetch,
) {
  const usual = { oidc_client_id: CLIENT.id, oidc_client_secret: CLIENT.secret, new_accounts: "oidc" };
  const lab = await openIdentityLab({ ...usual, ...settings });
  const { accounts, routes, log } = lab;
  // Tokens tell the time.
  lab.clock.set(Date.now());
  const { answer } = openService(accounts, [routes], { log, reach });
  /** Our own addresses go to the installation, all others to the network. */
  const visit = async (request: Request): Promise<Response> => {
    if (!request.url.startsWith(LAB)) return network(request);
    const { pathname } = new URL(request.url);
    return pathname.startsWith("/api/oidc/") ? answer(request) : new Response("a page");
  };
  const whoIs = (jar: Jar): string | null =>
    accounts.authenticate(new Request(`${LAB}/api/v2/`, { headers: { cookie: jar.of(LAB) } })).username;
  /** Signs in at a provider that asks nothing. @returns who is signed in, or the address of the page that says why not */
  const pass = async (next = "/inventory"): Promise<string> => {
    const jar = new Jar();
    const start = `${LAB}/api/oidc/sign-in?next=${encodeURIComponent(next)}`;
    const { url } = await browse(start, jar, visit);
    const query = new URL(url).searchParams;
    return query.get("refused") ?? `${whoIs(jar)} ${url.slice(LAB.length)}`;
  };
  /** The provider's notice about the person who signed out there. @returns status, and the error where there is one */
  const tell = async (token: string | readonly string[]): Promise<string> => {
    const body = new URLSearchParams([token].flat().map((one) => ["logout_token", one]));
    const response = await answer(
      new Request(`${LAB}/api/oidc/back-channel-logout`, { method: "POST", body }),
    );
    const said = await response.text();
    const kept = response.headers.get("cache-control");
    return `${response.status} ${kept}${said === "" ? "" : ` ${(JSON.parse(said) as { error: string }).error}`}`;
  };
  return { ...lab, tell, visit, answer, whoIs, pass };
}

/** An installation that uses a fake provider. */
export const openWith = (
  provider: FakeProvider,
  settings: Record<string, string> = {},
  ...more: Parameters<typeof open> extends [unknown, ...infer Rest] ? Rest : never
) => open({ oidc_issuer: provider.issuer, oidc_client_id: "labd", ...settings }, ...more);

export async function withFakeProvider(work: (provider: FakeProvider) => Promise<void>): Promise<void> {
  using provider = await FakeProvider.open();
  await work(provider);
}
