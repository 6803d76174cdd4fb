import { expect, test } from "bun:test";
import { NO_CHANGES } from "./fake-provider.ts";
import { LAB, openWith, withFakeProvider } from "./identity-lab.ts";
import { browse, Jar } from "./provider.ts";

const ENDED = "200 no-store";
const REFUSED = "400 no-store invalid_request";

const HOUR = 3_600_000;
const EVENT = "http://schemas.openid.net/event/backchannel-logout";

test("back-channel logout ends only the sessions that the provider names", () =>
  withFakeProvider(async (provider) => {
    const lab = await openWith(provider);
    const signIn = async (sid?: string, sub = "1"): Promise<Jar> => {
      provider.changes.claims = { sub, preferred_username: `kim${sub}`, ...(sid ? { sid } : {}) };
      const jar = new Jar();
      await browse(`${LAB}/api/oidc/sign-in`, jar, lab.visit);
      expect(lab.whoIs(jar)).toBe(`kim${sub}`);
      return jar;
    };
    const [one, two, bare, other] = [
      await signIn("s1"),
      await signIn("s2"),
      await signIn(),
      await signIn("s1", "2"),
    ];
    const kim = lab.accounts.userId("kim1");
    const own = lab.accounts.sessions.open(kim, new Request(LAB)).cookie.split(";")[0];
    const isOwn = (): boolean =>
      lab.accounts.sessions.find(new Request(LAB, { headers: { cookie: own } })) !== undefined;
    const left = (): string => [one, two, bare, other].map((jar) => lab.whoIs(jar) ?? "out").join(" ");
    // Of somebody who is not known here, and of a session that is not.
    expect(await lab.tell(await provider.logoutToken({ sub: "9" }))).toBe(ENDED);
    expect(await lab.tell(await provider.logoutToken({ sid: "s9" }))).toBe(ENDED);
    expect(left()).toBe("kim1 kim1 kim1 kim2");
    // A session and whose: only both together.
    expect(await lab.tell(await provider.logoutToken({ sid: "s1" }))).toBe(ENDED);
    expect(left()).toBe("out kim1 kim1 kim2");
    expect(await lab.tell(await provider.logoutToken({ sub: undefined, sid: "s1" }))).toBe(ENDED);
    expect(left()).toBe("out kim1 kim1 out");
    expect(await lab.tell(await provider.logoutToken())).toBe(ENDED);
    expect(left()).toBe("out out out out");
    // Sessions that did not come from the provider continue.
    expect(isOwn()).toBe(true);
    expect(
      lab.accounts.audit.log.latest({ action: "session.end" }, 9).map(({ detail }) => detail),
    ).toContainEqual({ username: "kim1", count: 2, by: "oidc", reason: "signed_out_there" });
    Object.assign(provider.changes, NO_CHANGES);
  }));

test("rejects invalid and repeated logout tokens", () =>
  withFakeProvider(async (provider) => {
    const lab = await openWith(provider);
    const jar = new Jar();
    await browse(`${LAB}/api/oidc/sign-in`, jar, lab.visit);
    const now = Math.floor(Date.now() / 1000);
    const good = await provider.logoutToken({ sub: "9" });
    const [head, body, signature] = good.split(".");
    const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims: [string, Record<string, unknown>][] = [
      ["another issuer", { iss: "http://127.0.0.1:1" }],
      ["another client", { aud: "other" }],
      ["another authorized party", { aud: ["labd", "other"], azp: "other" }],
      ["expired", { iat: now - 300, exp: now - 200 }],
      ["too old", { iat: now - 7200, exp: now + 7200 }],
      ["of the future", { iat: now + 600, exp: now + 900 }],
      ["without exp", { exp: undefined }],
      ["without iat", { iat: undefined }],
      ["without jti", { jti: undefined }],
      ["an empty jti", { jti: "" }],
      ["without events", { events: undefined }],
      ["another event", { events: { other: {} } }],
      ["an event that is not an object", { events: { [EVENT]: true } }],
      ["with a nonce", { nonce: "1" }],
      ["without sub and sid", { sub: undefined }],
      ["a sub that is not a string", { sub: 1 }],
      ["a sid that is not a string", { sid: {} }],
      ["an empty sid", { sid: "" }],
    ];
    const lies: [string, string | readonly string[]][] = [
      ...(await Promise.all(
        claims.map(async ([what, one]) => [what, await provider.logoutToken(one)] as [string, string]),
      )),
      ["another type", await provider.logoutToken({}, { typ: "at+jwt" })],
      ["an unknown critical header", await provider.logoutToken({}, { crit: ["x"], x: 1 })],
      ["an unknown key", await provider.logoutToken({}, { kid: "7" })],
      ["a wrong signature", `${head}.${body}.${signature.slice(0, -8)}AAAAAAAA`],
      ["another body", `${head}.${encoded({ sub: "1" })}.${signature}`],
      ["no signature", `${encoded({ alg: "none" })}.${body}.`],
      ["a public key as secret", `${encoded({ alg: "HS256", kid: "1" })}.${body}.${signature}`],
      ["nothing", []],
      ["two tokens", [good, good]],
      ["not a token", "x"],
    ];
    for (const [what, token] of lies) expect([what, await lab.tell(token)]).toEqual([what, REFUSED]);
    expect(lab.whoIs(jar)).toBe("kim");
    expect(await lab.tell(good)).toBe(ENDED);
    expect(await lab.tell(good)).toBe(REFUSED);
    // Nor after a start: what was taken is in the database, until it is refused for its age.
    expect(lab.database.query("SELECT count(*) AS n FROM logout_token").get()).toEqual({ n: 1 });
    lab.clock.set(Date.now() + HOUR);
    expect(await lab.tell(good)).toBe(REFUSED);
    lab.clock.set(Date.now());
    // Without a type, as providers send that are older than it, and with that of any.
    expect(await lab.tell(await provider.logoutToken({ sub: "9" }, {}))).toBe(ENDED);
    expect(await lab.tell(await provider.logoutToken({}, { typ: "JWT" }))).toBe(ENDED);
    expect(lab.whoIs(jar)).toBeNull();
    // Nothing of a token is in the log, which nobody fills: 20, and one an hour later.
    expect(lab.problems.length).toBe(21);
    expect(lab.problems.join()).not.toContain("eyJ");
    const requests = provider.requests["/jwks"];
    expect(requests).toBeLessThan(4);
    expect((await lab.answer(new Request(`${LAB}/api/oidc/back-channel-logout`))).status).toBe(405);
  }));

test("ends sessions of the provider after 24 hours", () =>
  withFakeProvider(async (provider) => {
    const lab = await openWith(provider);
    const jar = new Jar();
    await browse(`${LAB}/api/oidc/sign-in`, jar, lab.visit);
    const began = lab.clock.now();
    lab.clock.set(began + 24 * HOUR - 1000);
    expect(lab.whoIs(jar)).toBe("kim");
    lab.clock.set(began + 24 * HOUR);
    expect(lab.whoIs(jar)).toBeNull();
  }));

test("sends the ID token to the provider when a user signs out", () =>
  withFakeProvider(async (provider) => {
    provider.changes.configuration = { end_session_endpoint: `${provider.issuer}/end` };
    const lab = await openWith(provider);
    const jar = new Jar();
    await browse(`${LAB}/api/oidc/sign-in`, jar, lab.visit);
    const address = `${LAB}/api/oidc/sign-out`;
    // Browsers send it there alone, and for no other page.
    expect(jar.of(`${LAB}/`)).not.toContain("labd_oidc_hint");
    const headers = { cookie: jar.of(address) };
    const response = await lab.answer(new Request(address, { headers }));
    const there = new URL(response.headers.get("location")!).searchParams;
    expect(there.get("client_id")).toBe("labd");
    const [, claims] = there.get("id_token_hint")!.split(".");
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      iss: provider.issuer,
      sub: "1",
    });
    expect(response.headers.getSetCookie()[0]).toMatch(
      /^labd_oidc_hint=; Path=\/api\/oidc\/sign-out; Max-Age=0; HttpOnly; SameSite=Strict$/,
    );
    for (const cookie of ["labd_oidc_hint=", "labd_oidc_hint=AAAA", `labd_oidc_hint=${"A".repeat(400)}`]) {
      const lost = await lab.answer(new Request(address, { headers: { cookie } }));
      expect(lost.headers.get("location")).not.toContain("id_token_hint");
    }
    // One that no cookie holds is left out.
    provider.changes.claims = { groups: Array.from({ length: 500 }, (_, i) => `group ${i}`) };
    const large = new Jar();
    await browse(`${LAB}/api/oidc/sign-in`, large, lab.visit);
    expect(lab.whoIs(large)).toBe("kim");
    expect(large.of(address)).not.toContain("labd_oidc_hint");
    Object.assign(provider.changes, NO_CHANGES);
  }));
