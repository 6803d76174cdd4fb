import { expect, setDefaultTimeout, test } from "bun:test";
import { ActiveDirectory, BASE, REALM, whyNoActiveDirectory } from "../accounts/external/active-directory.ts";
import { labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

// Creating a domain takes a while.
setDefaultTimeout(240_000);

/** The settings of docs/identity.md with a real domain controller (Samba). */

const why = await whyNoActiveDirectory();
if (why !== null) process.stderr.write(`The Active Directory test is skipped: ${why}.\n`);

const PASSWORD = "Passw0rd-1";
const READER_PASSWORD = "Read3r-Passw0rd";

/** The documented settings for Active Directory, with the values of this domain. */
async function documentedSettings(directory: ActiveDirectory): Promise<string> {
  const page = await Bun.file(`${import.meta.dir}/../../docs/identity.md`).text();
  const block = /Active Directory:\n\n```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(block).toContain("id=objectGUID");
  return block
    .replace(/^ldap_url = .*$/m, `ldap_url = "${directory.secure}"`)
    .replace(/^ca_file = "[^"]*"/m, `ca_file = "${directory.authority}"`)
    .replace(/^ldap_bind_password = "[^"]*"/m, `ldap_bind_password = "${READER_PASSWORD}"`);
}

/** A Windows file time: units of 100 ns since 1601-01-01. */
const windowsTime = (milliseconds: number): string => String((milliseconds + 11_644_473_600_000) * 10_000);

test.skipIf(why !== null)(
  `users of an Active Directory sign in with the documented settings${why === null ? "" : ` (SKIPPED: ${why})`}`,
  async () => {
    using place = scratch();
    await using directory = await ActiveDirectory.open();
    await directory.addPerson("svc-labd", READER_PASSWORD);
    // Active Directory Users and Computers creates names with a comma.
    const kim = await directory.addPerson("kim", PASSWORD, {
      cn: "Kuhn, Kim (x)",
      displayName: "Kim Kuhn",
      mail: "kim@lab.example",
    });
    const people: Record<string, string> = { kim };
    for (const name of ["lee", "mustchange", "locked", "max", "olga"])
      people[name] = await directory.addPerson(name, PASSWORD);
    people.disabled = await directory.addPerson("disabled", PASSWORD, { userAccountControl: "514" });
    people.over = await directory.addPerson("over", PASSWORD, {
      accountExpires: windowsTime(Date.parse("2020-01-01")),
    });
    await directory.set(people.mustchange, "pwdLastSet", "0");
    const others = Object.entries(people).flatMap(([name, dn]) =>
      name === "kim" || name === "max" ? [] : [dn],
    );
    const inner = await directory.addGroup("lab-genomics", [kim]);
    await directory.addGroup("lab-staff", [inner, ...others]);
    await directory.addGroup("lab-it", [people.lee]);

    const file = `${place.directory}/labd.toml`;
    const write = async (change: (settings: string) => string = (same) => same): Promise<void> => {
      await Bun.write(
        file,
        `data_dir = "${place.directory}"\n${change(await documentedSettings(directory))}`,
      );
    };
    await write();
    const config = ["--config", file];
    const check = async (name: string, password?: string): Promise<string> =>
      (
        await labd(
          ["check", "--ldap", name, ...(password === undefined ? [] : ["--password-stdin"]), ...config],
          {
            stdin: `${password ?? ""}\n`,
          },
        )
      ).stdout;

    await labd(["user", "add", "local", "--admin", "--password-stdin", ...config], { stdin: PASSWORD });
    expect((await labd(["doctor", ...config])).stdout).toMatch(/^ok +ldap +ldaps:.* responds in/m);
    // Nested groups count; users in none of the groups may not sign in.
    expect(await check("kim", PASSWORD)).toMatch(
      /person +CN=Kuhn\\, Kim \(x\),CN=Users,.*\nid +[0-9a-f]{32} \(objectGUID\)\nname +kim, Kim Kuhn, kim@lab\.example\ngroups +(lab-genomics, lab-staff|lab-staff, lab-genomics)\npassword +correct\n(.*\n)*signs in +yes, as kim, which the first sign-in creates/,
    );
    expect(await check("max", PASSWORD)).toMatch(/signs in +no: none of the groups/);
    // Administrators see why a user cannot sign in.
    expect(await check("kim", "wrong")).toMatch(/password +wrong/);
    expect(await check("disabled")).toMatch(/person +no single entry.*\nexcluded +CN=disabled,.*: disabled/);
    expect(await check("over", PASSWORD)).toMatch(
      /account +expired\npassword +refused: the account has expired\n(.*\n)*signs in +no: the directory has closed/,
    );
    expect(await check("mustchange", PASSWORD)).toMatch(
      /password +refused: the password must be changed first/,
    );

    {
      await using server = await serve(place.directory, config);
      const signIn = async (username: string, password = PASSWORD): Promise<string> => {
        const response = await fetch(`${server.url}/api/v2/session/`, {
          method: "POST",
          body: JSON.stringify({ username, password }),
          headers: { "Content-Type": "application/json" },
        });
        const body = (await response.json()) as {
          code?: string;
          message?: string;
          user: { username: string; is_superuser: boolean };
        };
        return response.ok
          ? `${body.user.username}${body.user.is_superuser ? ", administrator" : ""}`
          : `${body.code}: ${body.message}`;
      };
      // sAMAccountName and userPrincipalName in upper or lower case name the same account.
      for (const name of ["kim", "KIM", `kim@${REALM}`])
        expect([name, await signIn(name)]).toEqual([name, "kim"]);
      expect(await signIn("lee")).toBe("lee, administrator");
      expect(await signIn("olga")).toBe("olga");
      expect(await signIn("local")).toBe("local, administrator");
      expect(await signIn("max")).toStartWith("forbidden");
      // Users do not see why their sign-in failed.
      const wrong = await signIn("kim", "wrong");
      expect(wrong).toStartWith("unauthenticated");
      for (const name of ["disabled", "over", "mustchange", "nobody"])
        expect([name, await signIn(name)]).toEqual([name, wrong]);
      for (const _ of Array(3)) await signIn("locked", "wrong");
      expect(await signIn("locked")).toBe(wrong);
      const exported = await labd(["audit", "export", "--action", "sign_in", ...config]);
      for (const [name, reason] of [
        ["over", "account_expired"],
        ["mustchange", "must_change_password"],
        ["locked", "locked_out"],
      ])
        expect(exported.stdout).toMatch(
          new RegExp(
            `"reason":"${reason}","label":"CN=${name},|"label":"CN=${name},[^}]*"reason":"${reason}"`,
          ),
        );
      await waitFor(() => server.log().includes("the account is locked out after wrong passwords"));
      expect(server.log()).not.toContain(PASSWORD);
      expect(await check("locked")).toMatch(/account +locked out after wrong passwords/);

      // A user with a new name and DN keeps the account, found by objectGUID; the old name is free for others.
      await directory.rename(kim, `CN=Kim Kahn,CN=Users,${BASE}`);
      const renamed = `CN=Kim Kahn,CN=Users,${BASE}`;
      await directory.set(renamed, "sAMAccountName", "kahn");
      await directory.set(renamed, "userPrincipalName", `kahn@${REALM}`);
      const again = await labd(["user", "recheck", ...config]);
      expect(again.stdout).toMatch(/^kim +kept$/m);
      expect(await signIn("kahn")).toBe("kim");
      const other = await directory.addPerson("kim", PASSWORD);
      await directory.set(`CN=lab-it,CN=Users,${BASE}`, "member", people.lee, other);
      await directory.set(`CN=lab-staff,CN=Users,${BASE}`, "member", inner, ...others, other);
      expect(await signIn("kim")).toStartWith("forbidden");

      // A recheck disables accounts that are disabled, expired or deleted, and enables them again.
      await directory.set(people.olga, "accountExpires", windowsTime(Date.now() - 60_000));
      await directory.set(people.lee, "userAccountControl", "514");
      const recheck = async (): Promise<string> => (await labd(["user", "recheck", ...config])).stdout;
      const seen = await recheck();
      expect(seen).toMatch(/^kim +kept$/m);
      expect(seen).toMatch(/^lee +disabled +not in the directory, or excluded by ldap_user_filter$/m);
      expect(seen).toMatch(/^olga +disabled +disabled or expired in the directory$/m);
      await directory.set(people.olga, "accountExpires", "0");
      expect(await recheck()).toMatch(/^olga +enabled/m);
      await directory.remove(people.olga);
      expect(await recheck()).toMatch(/^olga +disabled +not in the directory/m);
    }

    // Without TLS a controller rejects passwords, and doctor names the setting to change.
    const plain = (settings: string): string => settings.replace(directory.secure, directory.plain);
    await write((settings) => `${plain(settings)}ldap_tls = "off"\n`);
    expect((await labd(["doctor", ...config])).stdout).toMatch(
      /^problem +ldap +.*requires TLS: use ldaps:\/\/ in ldap_url, or set ldap_tls to starttls/m,
    );
    await write((settings) => `${plain(settings)}ldap_tls = "starttls"\n`);
    expect(await check("kahn", PASSWORD)).toMatch(/password +correct\n(.*\n)*signs in +yes, as kim/);
    await write((settings) => settings.replace(READER_PASSWORD, "wrong"));
    expect((await labd(["doctor", ...config])).stdout).toMatch(
      /^problem +ldap +.*the name or the password is wrong/m,
    );
  },
);
