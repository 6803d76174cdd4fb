import { expect, setDefaultTimeout } from "bun:test";
import { BASE, ldapTest, openDirectory, READER_DN, SECRET } from "../accounts/external/slapd.ts";
import { labd, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

ldapTest("people of a directory sign in, and commands check, link and recheck them", async () => {
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
    expect.stringMatching(/password +correct\n(.*\n)*signs in +yes, as kim, which the first sign-in creates/),
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
  expect((await labd(["doctor", ...config])).stdout).toMatch(/^ok +ldap +ldap:.* responds in/m);

  await using server = await serve(place.directory, config);
  const signIn = async (username: string) => {
    const body = JSON.stringify({ username, password: `${username}'s password` });
    const headers = { "Content-Type": "application/json" };
    return (await fetch(`${server.url}/api/v2/token-auth/`, { method: "POST", headers, body })).status;
  };
  expect([await signIn("kim"), await signIn("lee"), await signIn("max")]).toEqual([200, 200, 401]);
  const again = await labd(["user", "recheck", ...config]);
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^kim +kept\nlee +kept$/m)]);
  await directory.kill();
  expect([await signIn("kim"), await signIn("local")]).toEqual([503, 200]);
  expect((await labd(["doctor", ...config])).stdout).toMatch(/^problem +ldap +/m);
  expect(server.log()).toContain("LDAP:");
  expect(server.log()).not.toContain(SECRET);
});
