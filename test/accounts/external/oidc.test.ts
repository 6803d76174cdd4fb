import { LOGIN_FAILURES_ADDRESS } from "../../../src/accounts/throttle.ts";
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIRECT } from "../../../src/platform/origin.ts";
import { FakeProvider, NO_CHANGES } from "./fake-provider.ts";
import { CALLBACK, LAB, open, openWith, withFakeProvider } from "./identity-lab.ts";
import { certify } from "../../executable/certificate.ts";
import { browse, Jar, openProvider, passProvider } from "./provider.ts";

/** Signing in by a provider, in an installation as the program composes it. */

const signInPage = (refused: string, next = "/inventory") =>
  `${LAB}/sign-in?${new URLSearchParams({ refused, next })}`;

test("signs in through the pages of a real provider and reads its groups", async () => {
  const people = {
    kim: {
      preferred_username: "Kim",
      name: "Kim Kuhn",
      email: "kim@lab.example",
      groups: ["genomics", "it"],
    },
    max: { preferred_username: "max" },
  };
  await using provider = await openProvider([CALLBACK], people);
  const lab = await open({
    oidc_issuer: provider.issuer,
    oidc_scopes: "openid profile email groups",
    groups_allowed: "genomics",
    groups_admin: "it",
    group_map: "genomics=Genomics",
  });
  const start = `${LAB}/api/oidc/sign-in?next=${encodeURIComponent("/inventory/locations?page=2")}`;
  const jar = new Jar();
  const arrived = await passProvider(start, "kim", jar, lab.visit);
  expect(arrived).toBe(`${LAB}/inventory/locations?page=2`);
  expect(lab.whoIs(jar)).toBe("kim");
  const { body } = await lab.ask("GET", "users/kim/?response_format=flat", { as: "admin" });
  expect(body.results).toMatchObject({
    full_name: "Kim Kuhn",
    email: "kim@lab.example",
    is_superuser: true,
    groups: [{ name: "Genomics" }],
  });
  expect(lab.accounts.audit.log.latest({ action: "sign_in" }, 1)[0].detail).toEqual({
    by: "oidc",
    issuer: provider.issuer,
    method: "session",
    username: "kim",
  });
  // The cookie of the way there is gone, and the session asks for no second factor of ours.
  expect(jar.of(LAB)).not.toContain("labd_oidc");
  const request = new Request(LAB, { headers: { cookie: jar.of(LAB) } });
  expect(lab.accounts.sessions.find(request)).toMatchObject({ external: true });
  expect(await passProvider(start, "max", new Jar(), lab.visit)).toBe(
    signInPage("not_allowed", "/inventory/locations?page=2"),
  );

  // Groups are taken back at the next sign-in, and nobody's name opens a local account.
  people.kim.groups = ["genomics"];
  expect(await passProvider(start, "kim", new Jar(), lab.visit)).toBe(arrived);
  expect(lab.accounts.list().find(({ username }) => username === "kim")?.is_superuser).toBe(0);

  const open2 = await open({
    oidc_issuer: provider.issuer,
    oidc_client_id: "public",
    oidc_client_secret: "",
  });
  const other = new Jar();
  await passProvider(start, "max", other, open2.visit);
  expect(open2.whoIs(other)).toBe("max");

  // A person who declines at the provider is told so here.
  expect(await passProvider(start, null, new Jar(), lab.visit)).toBe(
    signInPage("refused", "/inventory/locations?page=2"),
  );

  await provider.pause();
  const away = await open({ oidc_issuer: provider.issuer });
  expect(await away.pass()).toBe("away");
  expect(away.problems.join()).toContain(provider.issuer);
  await provider.resume();
  expect((await browse(start, new Jar(), away.visit)).url).toStartWith(`${provider.issuer}/interaction/`);
});

test("rejects invalid ID tokens", () =>
  withFakeProvider(async (provider) => {
    const { pass, accounts, problems } = await openWith(provider);
    expect(await pass()).toBe("kim /inventory");
    const now = Math.floor(Date.now() / 1000);
    const lies: [string, Partial<typeof NO_CHANGES>][] = [
      ["another issuer", { claims: { iss: "http://127.0.0.1:1" } }],
      ["for another service", { claims: { aud: "other" } }],
      ["for two services, issued to the other", { claims: { aud: ["labd", "other"], azp: "other" } }],
      ["over", { claims: { iat: now - 600, exp: now - 300 } }],
      ["another nonce", { claims: { nonce: "another" } }],
      ["no nonce", { claims: { nonce: undefined } }],
      ["no subject", { claims: { sub: undefined } }],
      [
        "a signature of something else",
        { token: (jwt) => jwt.replace(/\.[^.]+\./, `.${jwt.split(".")[1].slice(0, -4)}AAAA.`) },
      ],
      ["a wrong signature", { token: (jwt) => `${jwt.slice(0, -8)}AAAAAAAA` }],
      [
        "no signature",
        { token: (jwt) => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${jwt.split(".")[1]}.` },
      ],
      [
        "signed with what is public",
        {
          token: (jwt) =>
            `${Buffer.from('{"alg":"HS256","kid":"1"}').toString("base64url")}.${jwt.split(".").slice(1).join(".")}`,
        },
      ],
      ["no token", { token: () => "" }],
    ];
    for (const [what, lie] of lies) {
      Object.assign(provider.changes, NO_CHANGES, lie);
      expect([what, await pass()]).toEqual([what, "invalid"]);
    }
    Object.assign(provider.changes, NO_CHANGES);
    // Signed with a key that the provider does not name, then with one that it names from now on.
    await provider.rotate(false);
    expect(await pass()).toBe("invalid");
    await provider.rotate(true);
    expect(await pass()).toBe("kim /inventory");
    expect(accounts.list().filter(({ username }) => username === "kim").length).toBe(1);
    // Nothing of what was said is in the log.
    expect(problems.length).toBeGreaterThan(lies.length);
    expect(problems.join()).not.toMatch(/eyJ|access_token|kim@lab/);
    expect(provider.grants.every((grant) => grant.get("code_verifier")!.length >= 43)).toBe(true);
  }));

test("treats addresses as verified unless the provider denies it, and cleans texts", () =>
  withFakeProvider(async (provider) => {
    const { pass, database } = await openWith(provider);
    const known = () =>
      database
        .query("SELECT full_name, email, verified_email FROM user_account WHERE username = 'kim'")
        .values();
    Object.assign(provider.changes, NO_CHANGES, { claims: { email_verified: false } });
    expect(await pass()).toBe("kim /inventory");
    expect(known()).toEqual([["Kim Kuhn", "kim@lab.example", ""]]);
    Object.assign(provider.changes, NO_CHANGES, {
      claims: { email: "k@lab.example", name: "Kim\r\n\u202eKuhn" },
    });
    await pass();
    expect(known()).toEqual([["Kim Kuhn", "k@lab.example", "k@lab.example"]]);
    Object.assign(provider.changes, NO_CHANGES, {
      claims: { email: "k2@lab.example>", email_verified: "false" },
    });
    await pass();
    expect(known()).toEqual([["Kim Kuhn", "k@lab.example", "k@lab.example"]]);
  }));

test("accepts state, cookie and code once, and only from the browser that started the sign-in", () =>
  withFakeProvider(async (provider) => {
    const { visit, pass, whoIs, answer, clock } = await openWith(provider);
    const begin = async (jar: Jar, next = "/inventory") =>
      (
        await browse(`${LAB}/api/oidc/sign-in?next=${encodeURIComponent(next)}`, jar, visit, {
          stop: (url) => url.startsWith(CALLBACK),
        })
      ).url;
    const mine = new Jar();
    const back = await begin(mine);
    // Another browser, to which somebody sends the address on.
    expect((await browse(back, new Jar(), visit)).url).toBe(`${LAB}/sign-in?refused=expired`);
    // Another state than that of the cookie.
    expect((await browse(back.replace(/state=.{5}/, "state=wrong"), mine, visit)).url).toContain(
      "refused=expired",
    );
    // Two windows of one browser.
    const second = await begin(mine, "/score");
    expect((await browse(second, mine, visit)).url).toBe(`${LAB}/score`);
    expect((await browse(back, mine, visit)).url).toBe(`${LAB}/inventory`);
    expect(whoIs(mine)).toBe("kim");
    // The callback cannot be repeated.
    expect((await browse(back, mine, visit)).url).toContain("refused=expired");
    // A code that was used already, in a sign-in of its own.
    const other = new Jar();
    const third = new URL(await begin(other));
    third.searchParams.set("code", new URL(back).searchParams.get("code")!);
    expect((await browse(third.href, other, visit)).url).toContain("refused=invalid");
    // Too late.
    const late = new Jar();
    const fourth = await begin(late);
    clock.set(clock.now() + 16 * 60_000);
    expect((await browse(fourth, late, visit)).url).toContain("refused=expired");
    clock.set(Date.now());
    // Only pages of ours come after.
    for (const next of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example",
      "javascript:alert(1)",
      "/a\nb",
      "",
    ])
      expect(await pass(next)).toBe("kim /");
    expect((await answer(new Request(CALLBACK, { method: "POST" }))).status).toBe(405);
  }));

test("links accounts by subject, never by name", () =>
  withFakeProvider(async (provider) => {
    const strict = await openWith(provider, { new_accounts: "off" });
    expect(await strict.pass()).toBe("no_account");
    const kim = await strict.accounts.addUser({ username: "kim", password: "a local password" });
    expect(await strict.pass()).toBe("name_taken");
    strict.identities.link(kim, { provider: "oidc", issuer: provider.issuer, subject: "1", label: "kim" });
    expect(await strict.pass()).toBe("kim /inventory");
    // The name may change; the subject says who it is.
    provider.changes.claims = { preferred_username: "admin", name: "Kim Other" };
    expect(await strict.pass()).toBe("kim /inventory");
    expect(strict.accounts.list().find(({ username }) => username === "kim")?.full_name).toBe("Kim Other");
    provider.changes.claims = { sub: "2", preferred_username: "Admin" };
    expect(await strict.pass()).toBe("name_taken");
    provider.changes.claims = { sub: "3", preferred_username: "a b" };
    const open3 = await openWith(provider);
    expect(await open3.pass()).toBe("name_unusable");
    Object.assign(provider.changes, NO_CHANGES);
    strict.accounts.setActive(kim, false);
    expect(await strict.pass()).toBe("disabled");
    expect(strict.accounts.audit.log.latest({ action: "sign_in" }, 1)[0]).toMatchObject({
      outcome: "refused",
      detail: { by: "oidc", reason: "disabled" },
    });
  }));

test("reads nested claims and claims of the userinfo endpoint", () =>
  withFakeProvider(async (provider) => {
    const { pass, accounts } = await openWith(provider, {
      oidc_claims: "groups=realm_access.roles",
      groups_allowed: "staff",
    });
    expect(await pass()).toBe("not_allowed");
    provider.changes.userinfo = { realm_access: { roles: ["staff"] }, name: "Somebody else" };
    expect(await pass()).toBe("kim /inventory");
    expect(provider.requests["/me"]).toBe(2);
    // Only signed data count.
    expect(accounts.list().find(({ username }) => username === "kim")?.full_name).toBe("Kim Kuhn");
    provider.changes.userinfo = { sub: "another", realm_access: { roles: ["staff"] } };
    expect(await pass()).toBe("invalid");
  }));

test("rejects an invalid configuration, and throttles failures by address", () =>
  withFakeProvider(async (provider) => {
    for (const change of [
      { issuer: "http://127.0.0.1:1" },
      { authorization_endpoint: "javascript:alert(1)" },
      { token_endpoint: undefined },
    ]) {
      provider.changes.configuration = change;
      expect(await (await openWith(provider)).pass()).toBe("away");
    }
    Object.assign(provider.changes, NO_CHANGES, { claims: { aud: "other" } });
    const { pass } = await openWith(provider);
    for (let i = 0; i < LOGIN_FAILURES_ADDRESS; i++) expect(await pass()).toBe("invalid");
    const requests = provider.requests["/token"];
    expect(await pass()).toBe("throttled");
    expect(provider.requests["/token"]).toBe(requests);
  }));

test("uses the public URL and the base path", () =>
  withFakeProvider(async (provider) => {
    const reach = { publicUrl: "https://lab.example", basePath: "/labd", trustProxy: false };
    const { answer } = await openWith(provider, {}, reach);
    const left = await answer(new Request(`${LAB}/api/oidc/sign-in`));
    const there = new URL(left.headers.get("location")!);
    expect(there.searchParams.get("redirect_uri")).toBe("https://lab.example/labd/api/oidc/callback");
    const [cookie] = left.headers.getSetCookie();
    expect(cookie).toMatch(
      /; Path=\/labd\/api\/oidc\/callback; Max-Age=900; HttpOnly; SameSite=Lax; Secure$/,
    );
    const at = await fetch(there, { redirect: "manual" });
    const back = new URL(at.headers.get("location")!);
    const arrived = await answer(
      new Request(`${LAB}/api/oidc/callback${back.search}`, { headers: { cookie: cookie.split(";")[0] } }),
    );
    expect(arrived.headers.get("location")).toBe("/labd/");
    expect(arrived.headers.getSetCookie()[0]).toStartWith("labd_session=");
    const lost = await answer(new Request(`${LAB}/api/oidc/callback?state=x&code=y`));
    expect(lost.headers.get("location")).toBe("/labd/sign-in?refused=expired");
  }));

test.skipIf(Bun.which("openssl") === null)("trusts the certificate authorities of ca_file only", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-oidc-"));
  using _ = { [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
  for (const name of ["own", "stranger"]) certify(directory, name);
  const at = (file: string): string => join(directory, file);
  const read = (file: string): string => readFileSync(at(file), "utf8");
  using provider = await FakeProvider.open({ cert: read("own-cert.pem"), key: read("own-key.pem") });
  // The stand-in for the browser trusts every certificate.
  const there = async (request: Request): Promise<Response> =>
    fetch(request, { tls: { rejectUnauthorized: false } } as RequestInit);
  for (const [authority, outcome] of [
    ["own-ca.pem", "kim /inventory"],
    ["stranger-ca.pem", "away"],
    [undefined, "away"],
  ] as const) {
    const file = authority === undefined ? {} : { ca_file: at(authority) };
    const { pass } = await openWith(provider, file, DIRECT, there);
    expect([authority, await pass()]).toEqual([authority, outcome]);
  }
});

test("redirects to the provider's sign-out page if it has one", () =>
  withFakeProvider(async (provider) => {
    const leads = async (settings = {}): Promise<string> => {
      const { answer } = await openWith(provider, { ...settings });
      const response = await answer(new Request(`${LAB}/api/oidc/sign-out`));
      return response.headers.get("location")!;
    };
    expect(await leads()).toBe(`${LAB}/`);
    provider.changes.configuration = { end_session_endpoint: `${provider.issuer}/end?a=b` };
    const query = new URLSearchParams({ a: "b", client_id: "labd", post_logout_redirect_uri: `${LAB}/` });
    expect(await leads()).toBe(`${provider.issuer}/end?${query}`);
  }));
