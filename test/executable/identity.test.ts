import { expect, setDefaultTimeout } from "bun:test";
import { BASE, ldapTest, openDirectory, READER_DN, SECRET } from "../accounts/external/slapd.ts";
import { shownCode } from "../fixtures/authenticator.ts";
import { labd, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

ldapTest(
  "people of a directory sign in, with a second factor, and not while it is away; verbs tell of it",
  async () => {
    using place = scratch();
    await using directory = await openDirectory();
    const settings = {
      ldap_url: directory.plain,
      ldap_tls: "starttls",
      ca_file: directory.authority,
      ldap_bind_dn: READER_DN,
      ldap_user_base: `ou=people,${BASE}`,
      ldap_group_base: `ou=groups,${BASE}`,
      groups_allowed: "labd-users",
      groups_admin: "labd-admins",
    };
    const file = `${place.directory}/labd.toml`;
    const lines = Object.entries({ ...settings, ldap_bind_password: SECRET, data_dir: place.directory });
    await Bun.write(file, lines.map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`).join(""));
    const config = ["--config", file];
    await labd(["user", "add", "local", "--password-stdin", ...config], { stdin: "local's password" });
    await labd(["user", "add", "max", ...config]);

    const kim = await labd(["check", "--ldap", "kim", "--password-stdin", ...config], {
      stdin: "kim's password\n",
    });
    expect([kim.code, kim.stdout]).toEqual([
      0,
      expect.stringMatching(/password +fits\n(.*\n)*signs in +yes, as kim, which is made then/),
    ]);
    const max = await labd(["check", "--ldap", "max", "--groups-allowed", "", ...config]);
    expect([max.code, max.stdout]).toEqual([1, expect.stringContaining("labd user link max --ldap max")]);
    expect(
      (await labd(["user", "link", "max", "--ldap", `uid=max,ou=people,${BASE}`, ...config])).stdout,
    ).toStartWith("Linked max");
    expect((await labd(["user", "list", ...config])).stdout).toMatch(/^max .* active, ldap /m);
    expect((await labd(["user", "unlink", "max", "--from", "ldap", ...config])).stdout).toStartWith(
      "Unlinked max",
    );
    expect((await labd(["doctor", ...config])).stdout).toMatch(/^ok +ldap +ldap:.* answers in/m);

    await using server = await serve(place.directory, config);
    const post = async (path: string, body: object, headers = {}) => {
      const init = {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json", ...headers },
      };
      const response = await fetch(server.url + path, init);
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Record<string, string>,
      };
    };
    const signIn = (username: string, more = {}) =>
      post("/api/v2/token-auth/", { username, password: `${username}'s password`, ...more });
    expect((await signIn("kim")).status).toBe(200);
    expect((await signIn("max")).status).toBe(401);
    // lee is an administrator by the directory, and sets up a second factor.
    const session = await post("/api/v2/session/", { username: "lee", password: "lee's password" });
    expect(session.body.user).toMatchObject({ username: "lee", is_superuser: true });
    const cookie = {
      Cookie: session.headers.get("set-cookie")!.split(";")[0],
      "X-CSRFToken": session.body.csrf_token,
    };
    // What the page People does.
    const links = "/api/admin/users/max/identities";
    const linked = await post(links, { provider: "ldap", who: "max" }, cookie);
    expect(linked).toMatchObject({ status: 200, body: { label: `uid=max,ou=people,${BASE}` } });
    expect(await post(links, { provider: "ldap", who: "nobody" }, cookie)).toMatchObject({ status: 404 });
    expect(await post(links, { provider: "x", who: "max" }, cookie)).toMatchObject({ status: 400 });
    expect((await post(links, { provider: "ldap", who: "max" })).status).toBe(401);
    const list = await fetch(`${server.url}/api/admin/identities`, { headers: cookie });
    expect(await list.json()).toMatchObject({
      total: 3,
      providers: ["ldap"],
      results: expect.arrayContaining([expect.objectContaining({ username: "max", last_used: null })]),
    });
    const unlink = () => fetch(`${server.url}${links}/ldap`, { method: "DELETE", headers: cookie });
    expect([(await unlink()).status, (await unlink()).status]).toEqual([204, 404]);
    const begun = await post("/api/account/second-factor", {}, cookie);
    const code = shownCode(begun.body.secret);
    expect((await post("/api/account/second-factor/confirm", { code }, cookie)).status).toBe(200);
    expect(await signIn("lee")).toMatchObject({ status: 401, body: { code: "second_factor_required" } });

    const again = await labd(["user", "recheck", ...config]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^kim +kept\nlee +kept$/m)]);
    await directory.kill();
    const away = await signIn("kim");
    expect(away).toMatchObject({ status: 503, body: { code: "identity_unavailable" } });
    expect((await signIn("local")).status).toBe(200);
    expect((await labd(["doctor", ...config])).stdout).toMatch(/^problem +ldap +/m);
    expect(server.log()).toContain("LDAP:");
    expect(server.log()).not.toContain(SECRET);
  },
);
