import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch } from "./labd.ts";

/** Settings that fit only together, or name what is not there, by the start of the message. */
const REFUSED: [Record<string, string>, string][] = [
  [{ tls_certificate: "/nowhere.crt" }, "tls_certificate and tls_key: set both or neither."],
  [{ tls_key: "/nowhere.key" }, "tls_certificate and tls_key: set both or neither."],
  [{ tls_certificate: "/nowhere.crt", tls_key: "/nowhere.key" }, "tls_certificate: cannot read /nowhere.crt"],
  [
    { host: "unix:/nowhere.sock", tls_certificate: "/a", tls_key: "/b" },
    "tls_certificate: a Unix socket (setting host) does not support TLS.",
  ],
  [{ host: "unix:/etc/passwd" }, "host: cannot listen on /etc/passwd: a file"],
  [{ data_dir: "/etc/passwd" }, "data_dir: /etc/passwd is a file."],
  [{ public_url: "https://lab.example:99999" }, "public_url: https://lab.example:99999 is not a valid URL."],
  [{ ldap_url: "ldaps://ldap.example" }, "ldap_user_base: required with ldap_url"],
  [{ oidc_issuer: "https://idp.example" }, "oidc_client_id: required with oidc_issuer"],
  [{ queue: "redis://queue.example/99999" }, "queue: the address is invalid"],
  [{ queue: "redis://:100%@queue.example/0" }, "queue: the address is invalid"],
  [{ webhook_allow: "10.1.1.1" }, 'webhook_allow: "10.1.1.1" is not a network.'],
  [{ admin_password: "a".repeat(5000) }, "admin_password: Expected at most"],
];

for (const [settings, start] of REFUSED)
  test(`check and serve reject ${Object.keys(settings).join(", ")}: ${start}`, async () => {
    using place = scratch();
    const env = {
      LABD_DATA_DIR: join(place.directory, "data"),
      ...Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [`LABD_${name.toUpperCase()}`, value]),
      ),
    };
    const [checked, served] = await Promise.all([labd(["check"], { env }), labd(["serve"], { env })]);
    expect(checked).toMatchObject({ code: 78, stdout: "" });
    expect(checked.stderr).toStartWith(`labd: ${start}`);
    expect(served).toEqual(checked);
    // Nothing was created before.
    expect(existsSync(join(place.directory, "data"))).toBeFalse();
  });

test("check reports every mistake at once, by section", async () => {
  using place = scratch();
  const settings = join(place.directory, "labd.toml");
  writeFileSync(
    settings,
    'prot = 1\n[server]\nport = 70000\ntls_key = "/nowhere.key"\nworkers = 2\n[ldap]\nldap_url = "ldaps://ldap.example"\nldap_bind_dn = "cn=labd"\n',
  );
  const { code, stdout, stderr } = await labd(["check", "--config", settings, "--log", "loud"], {
    env: { LABD_LISTEN: "here" },
  });
  expect([code, stdout]).toEqual([78, ""]);
  expect(stderr.split("\n").map((line) => line.replace(/(:| in ).*$/, ""))).toEqual([
    "labd",
    "[server]",
    "  port",
    "  log",
    "  tls_certificate and tls_key",
    "[scoring]",
    "  workers",
    "[ldap]",
    "  ldap_user_base",
    "  ldap_bind_dn and ldap_bind_password",
    "[other]",
    "  prot",
    "  LABD_LISTEN",
    "",
  ]);
  expect(stderr).toStartWith("labd: 8 settings are invalid.\n");
});

test("check rejects an address that this machine does not have", async () => {
  const { code, stderr } = await labd(["check", "--host", "203.0.113.1"]);
  expect([code, stderr]).toEqual([
    78,
    expect.stringContaining("host: cannot listen on 203.0.113.1: this machine has no such address"),
  ]);
});

test("check --changed prints only settings that differ from their defaults", async () => {
  const env = { LABD_PORT: "8480", LABD_ADMIN_PASSWORD: "hunter2hunter2" };
  const { stdout } = await labd(["check", "--changed", "--backup-hours", "6"], { env });
  expect(stdout).toMatch(
    /^\[accounts\]\nadmin_password = \*{8} +# variable LABD_ADMIN_PASSWORD\n\[backup\]\nbackup_hours = 6 +# flag --backup-hours\n$/,
  );
  expect((await labd(["check", "--changed"])).stdout).toBe("All settings have their defaults.\n");
});
