import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  flagName,
  resolveConfig,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  shown,
  variableName,
} from "../src/config.ts";
import * as namespaces from "../src/scoring/contract/namespaces.ts";
import { Problem } from "../src/problem.ts";
import { REMOVED_SETTINGS } from "../src/removed-settings.ts";

function withFile<T>(toml: string, use: (path: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "labd-config-"));
  const path = join(directory, "labd.toml");
  writeFileSync(path, toml);
  try {
    return use(path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_setting") return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

test("a flag overrides the variable, the variable the file, and the file the default", () => {
  withFile("port = 1003\nworkers = 3\nhost = '::1'\n", (file) => {
    const all = resolveConfig({
      flags: { port: "1001" },
      environment: { LABD_PORT: "1002", LABD_WORKERS: "2" },
      file,
    });
    expect(all.config).toMatchObject({ port: 1001, workers: 2, host: "::1", job_retention_days: 90 });
    expect(all.origin).toMatchObject({
      port: "flag --port",
      workers: "variable LABD_WORKERS",
      host: `file ${file}`,
      job_retention_days: "default",
    });
  });
});

test("listens on loopback only by default", () => {
  expect(resolveConfig({ flags: {}, environment: {} }).config.host).toBe("127.0.0.1");
});

/** For every setting a value that is not allowed, and one that is. */
const VALUES: Record<SettingName, [bad: string, good: string]> = {
  data_dir: ["", "/srv/labd"],
  host: ["a b", "unix:/run/labd/labd.sock"],
  port: ["65536", "0"],
  tls_certificate: ["a\0b", "/etc/labd/lab.crt"],
  tls_key: ["a\0b", "/etc/labd/lab.key"],
  public_url: ["https://lab.example/", "https://lab.example/lab/labd"],
  workers: ["0", "4"],
  max_queued: ["1", "2"],
  job_retention_days: ["36501", "0"],
  max_message_bytes: ["1 MB", "2000"],
  soap_namespace: ["no uri", "urn:lab:scorer"],
  anonymous_read: ["maybe", "off"],
  assistants: ["on", "link"],
  admin_password: ["short", "long enough"],
  session_idle_minutes: ["-5", "30"],
  require_totp: ["some", "administrators"],
  ldap_url: ["http://ldap.example", "ldaps://ldap1.example ldap://[::1]:389"],
  ldap_bind_dn: ["a\0b", "cn=labd,dc=lab,dc=example"],
  ldap_bind_password: ["a\0b", "secret"],
  ldap_user_base: ["a\0b", "ou=people,dc=lab,dc=example"],
  ldap_user_filter: ["uid={username}", "(sAMAccountName={username})"],
  ldap_group_base: ["a\0b", "ou=groups,dc=lab,dc=example"],
  ldap_group_filter: ["member={dn}", "(member={dn})"],
  oidc_issuer: ["http://idp.example", "https://idp.example/realms/lab"],
  oidc_client_id: ["\u00e9", "labd"],
  oidc_client_secret: ["\u00e9", "a secret"],
  oidc_scopes: ["profile email", "openid groups"],
  allowed_hosts: ["lab example", "lab.example, labd.example"],
  cors_origins: ["*", "https://eln.example, http://localhost:3000"],
  trust_proxy: ["perhaps", "true"],
  backup_hours: ["-1", "0"],
  backup_dir: ["s3:lab", "s3://lab/backups"],
  s3_endpoint: ["http://lab/path", "http://127.0.0.1:3900"],
  s3_access_key: ["a b", "GK31c2f218a2e44f485b94239e"],
  s3_secret_key: ["a b", "b892c0665f0ada8a"],
  litestream: ["perhaps", "true"],
  smtp_url: ["http://user:hidden@mail", "smtps://labd:secret@mail.example?from=labd@lab.example"],
  queue: ["http://queue", "redis://:secret@queue.example:6379/0"],
  queue_local: ["sometimes", "always"],
  metrics_token: ["short", "0123456789abcdef"],
  otlp_endpoint: ["127.0.0.1:4318", "http://127.0.0.1:4318"],
  webhook_allow: ["lab network", "10.1.0.0/16, fd00::/8"],
  log: ["verbose", "problems"],
  ca_file: ["a\0b", "/etc/labd/ca.pem"],
  new_accounts: ["true", "all"],
  groups_allowed: ["a\nb", "staff, students"],
  groups_admin: ["a\nb", "it"],
  group_map: ["genomics", "genomics=Genomics, imaging=Imaging"],
  ldap_tls: ["true", "starttls"],
  ldap_attributes: ["uid", "id=objectGUID, username=sAMAccountName"],
  oidc_claims: ["sub=sub", "groups=realm_access.roles, username=email"],
  backup_keep: ["weekly", "14 days, 12 months"],
};

test.each(SETTING_NAMES)(
  "%s: an invalid value names setting, value, origin and choices; a valid one is accepted",
  (name) => {
    const [bad, good] = VALUES[name];
    const text = refusal(() => resolveConfig({ flags: {}, environment: { [variableName(name)]: bad } }));
    expect(text).toStartWith(`${name}: `);
    expect(text).toContain(variableName(name));
    expect(text).toContain(SETTINGS[name].allowed);
    if (SETTINGS[name].secret) expect(text).not.toContain(bad);
    else expect(text).toContain(JSON.stringify(bad));
    const { config } = resolveConfig({ flags: { [name]: good }, environment: {} });
    expect(String(config[name])).toBe({ anonymous_read: "false" }[name as string] ?? good);
  },
);

const NOT_NAMESPACES =
  'http://www.w3.org/XML/1998/namespace http://schemas.xmlsoap.org/wsdl/soap12/ lab.example/scorer urn:ä urn:" urn:< urn:{a} urn: 1a:b http://lab.example/100%';

test.each([
  ...Object.values(namespaces).filter((one) => one !== namespaces.DEFAULT_SERVICE_NAMESPACE),
  ...NOT_NAMESPACES.split(" "),
  "urn:a b",
])("rejects the namespace %s, which is reserved or not an absolute URI", (namespace) => {
  const settings = { flags: { soap_namespace: namespace }, environment: {} };
  expect(refusal(() => resolveConfig(settings))).toStartWith("soap_namespace: ");
});

test.each([
  "urn:lab:scorer",
  "http://lab.example/scorer/",
  "tag:lab.example,2026:a'b",
  "https://lab.example/a?b=1&c=%20#d",
  "http://www.w3.org.lab.example/",
])("accepts the namespace %s", (namespace) => {
  const settings = { flags: { soap_namespace: namespace }, environment: {} };
  expect(resolveConfig(settings).config.soap_namespace).toBe(namespace);
});

test("rejects unknown names and suggests the nearest", () => {
  expect(refusal(() => resolveConfig({ flags: {}, environment: { LABD_PROT: "1" } }))).toContain("LABD_PORT");
  withFile("prot = 1\n", (file) => {
    expect(refusal(() => resolveConfig({ flags: {}, environment: {}, file }))).toContain("Did you mean port");
  });
  withFile("port = \n", (file) => {
    expect(refusal(() => resolveConfig({ flags: {}, environment: {}, file }))).toContain("is not TOML");
  });
  expect(
    refusal(() => resolveConfig({ flags: {}, environment: { LABD_CONFIG: "/nowhere/labd.toml" } })),
  ).toContain("no file");
});

test("masks secrets with any characters", () => {
  const { config } = resolveConfig({ flags: {}, environment: { LABD_ADMIN_PASSWORD: "hunter2hunter2" } });
  expect(shown("admin_password", config)).toBe("********");
  expect(SETTING_NAMES.map((name) => shown(name, config)).join(" ")).not.toContain("hunter2");
});

test("derives the spelling of flag, variable and key from one name", () => {
  expect([flagName("data_dir"), variableName("data_dir")]).toEqual(["--data-dir", "LABD_DATA_DIR"]);
});

test("reads settings from their sections, and names the right section for a misplaced one", () => {
  withFile("[server]\nport = 1003\n[scoring]\nworkers = 3\n", (file) => {
    expect(resolveConfig({ flags: {}, environment: {}, file }).config).toMatchObject({
      port: 1003,
      workers: 3,
    });
  });
  withFile("[server]\nworkers = 3\n", (file) => {
    expect(refusal(() => resolveConfig({ flags: {}, environment: {}, file }))).toStartWith(
      `workers in [server] in ${file} is not a setting.`,
    );
  });
});

test("rejects a removed setting and names the replacement", () => {
  for (const [name, instead] of Object.entries(REMOVED_SETTINGS)) {
    expect(SETTING_NAMES).not.toContain(name as SettingName);
    const environment = { [`LABD_${name.toUpperCase()}`]: "1" };
    expect(refusal(() => resolveConfig({ flags: {}, environment }))).toEndWith(
      `is no longer a setting. ${instead}`,
    );
  }
  withFile("[server]\nlisten = 'unix:/a'\n", (file) => {
    expect(refusal(() => resolveConfig({ flags: {}, environment: {}, file }))).toContain("Set host to unix:");
  });
});

test("there are at most 52 settings", () => {
  expect(SETTING_NAMES.length).toBeLessThanOrEqual(52);
});
