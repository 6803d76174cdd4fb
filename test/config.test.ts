import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  flagOf,
  resolveConfig,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  shown,
  variableOf,
} from "../src/config.ts";
import { Problem } from "../src/problem.ts";
import { MESSAGE_LIMITS, type MessageLimits } from "../src/scoring/contract/limits.ts";

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

test("a flag beats the variable, the variable the file, the file the default", () => {
  withFile("port = 1003\nworkers = 3\nhost = '::1'\n", (file) => {
    const all = resolveConfig({
      flags: { port: "1001" },
      environment: { LABD_PORT: "1002", LABD_WORKERS: "2" },
      file,
    });
    expect(all.config).toMatchObject({ port: 1001, workers: 2, host: "::1", gzip_threshold: 1024 });
    expect(all.origin).toMatchObject({
      port: "flag --port",
      workers: "variable LABD_WORKERS",
      host: `file ${file}`,
      gzip_threshold: "default",
    });
  });
});

test("loopback only, unless told", () => {
  expect(resolveConfig({ flags: {}, environment: {} }).config.host).toBe("127.0.0.1");
});

/** For every setting a value that is not allowed, and one that is. */
const VALUES: Record<SettingName, [bad: string, good: string]> = {
  data_dir: ["", "/srv/labd"],
  host: ["a b", "0.0.0.0"],
  port: ["65536", "0"],
  listen: ["/run/labd.sock", "unix:/run/labd.sock"],
  tls_certificate: ["a\0b", "/etc/labd/lab.crt"],
  tls_key: ["a\0b", "/etc/labd/lab.key"],
  public_url: ["https://lab.example/", "https://lab.example"],
  base_path: ["labd/", "/lab/labd"],
  workers: ["0", "4"],
  job_timeout: ["1.5", "60"],
  max_queued: ["0", "1"],
  max_queued_per_client: ["many", "20"],
  job_retention_days: ["36501", "0"],
  worker_memory: ["1 GB", "1024"],
  max_query_length: ["-1", "100"],
  max_message_bytes: ["1 MB", "2000"],
  receive_timeout: ["0", "5"],
  max_message_depth: ["3", "4"],
  max_message_elements: ["", "100"],
  max_message_attributes: ["9", "10"],
  max_message_namespaces: ["x", "20"],
  max_attribute_length: ["255", "256"],
  max_text_length: ["-5", "1000"],
  soap_namespace: ["no uri", "urn:lab:scorer"],
  anonymous_read: ["maybe", "off"],
  admin_password: ["short", "long enough"],
  session_hours: ["0", "8"],
  session_idle_minutes: ["-5", "30"],
  confirm_minutes: ["0", "5"],
  require_totp: ["some", "administrators"],
  token_days: ["never", "0"],
  login_failures: ["0", "3"],
  login_failures_address: ["0", "30"],
  login_window: ["0", "60"],
  password_hashes: ["0", "2"],
  ldap_url: ["http://ldap.example", "ldaps://ldap1.example ldap://[::1]:389"],
  ldap_start_tls: ["x", "true"],
  ldap_plain: ["x", "true"],
  ldap_ca_file: ["a\0b", "/etc/labd/ca.pem"],
  ldap_bind_dn: ["a\0b", "cn=labd,dc=lab,dc=example"],
  ldap_bind_password: ["a\0b", "secret"],
  ldap_user_base: ["a\0b", "ou=people,dc=lab,dc=example"],
  ldap_user_filter: ["uid={username}", "(sAMAccountName={username})"],
  ldap_attribute_id: ["a b", "objectGUID"],
  ldap_attribute_username: ["", "sAMAccountName"],
  ldap_attribute_name: ["(cn)", "displayName"],
  ldap_attribute_email: ["1", "mail"],
  ldap_group_base: ["a\0b", "ou=groups,dc=lab,dc=example"],
  ldap_group_filter: ["member={dn}", "(member={dn})"],
  ldap_attribute_group: ["a=b", "cn"],
  ldap_groups_allowed: ["a\nb", "staff, students"],
  ldap_groups_admin: ["a\nb", "it"],
  ldap_group_map: ["genomics", "genomics=Genomics, imaging=Imaging"],
  ldap_new_accounts: ["x", "true"],
  ldap_timeout: ["0", "10"],
  ldap_recheck_hours: ["-1", "0"],
  oidc_issuer: ["http://idp.example", "https://idp.example/realms/lab"],
  oidc_client_id: ["\u00e9", "labd"],
  oidc_client_secret: ["\u00e9", "a secret"],
  oidc_name: ["", "the university"],
  oidc_scopes: ["profile email", "openid groups"],
  oidc_ca_file: ["a\0b", "/etc/labd/ca.pem"],
  oidc_claim_username: ["", "email"],
  oidc_claim_name: ["", "given_name"],
  oidc_claim_email: ["a b", "mail"],
  oidc_claim_groups: ["", "realm_access.roles"],
  oidc_groups_allowed: ["a\nb", "staff"],
  oidc_groups_admin: ["a\nb", "it"],
  oidc_group_map: ["genomics", "genomics=Genomics"],
  oidc_new_accounts: ["x", "true"],
  oidc_sign_out: ["x", "true"],
  oidc_session_hours: ["0", "8"],
  oidc_timeout: ["61", "5"],
  new_account_group: ["", "Newcomers"],
  trust_proxy: ["perhaps", "true"],
  backup_hours: ["-1", "0"],
  backup_dir: ["s3:lab", "s3://lab/backups"],
  backup_keep_days: ["x", "14"],
  backup_keep_weeks: ["1.5", "0"],
  backup_keep_months: ["ten", "24"],
  s3_endpoint: ["http://lab/path", "http://127.0.0.1:3900"],
  s3_region: ["eu central", "garage"],
  s3_access_key: ["a b", "GK31c2f218a2e44f485b94239e"],
  s3_secret_key: ["a b", "b892c0665f0ada8a"],
  s3_session_token: ["a b", "lent"],
  litestream: ["perhaps", "true"],
  gzip_threshold: ["1e3", "0"],
  queue: ["http://queue", "redis://:secret@queue.example:6379/0"],
  queue_ca: ["\0", "/etc/labd/queue.pem"],
  queue_local: ["sometimes", "always"],
  metrics: ["everybody", "all"],
  metrics_token: ["short", "0123456789abcdef"],
  webhook_allow: ["lab network", "10.1.0.0/16, fd00::/8"],
  webhook_http: ["sometimes", "true"],
  slow_query_ms: ["-1", "250"],
  log: ["verbose", "problems"],
};

test.each(SETTING_NAMES)(
  "%s: a wrong value names setting, value, origin and choices; a right one is taken",
  (name) => {
    const [bad, good] = VALUES[name];
    const text = refusal(() => resolveConfig({ flags: {}, environment: { [variableOf(name)]: bad } }));
    expect(text).toStartWith(`${name}: `);
    expect(text).toContain(variableOf(name));
    expect(text).toContain(SETTINGS[name].allowed);
    if (SETTINGS[name].secret) expect(text).not.toContain(bad);
    else expect(text).toContain(JSON.stringify(bad));
    const { config } = resolveConfig({ flags: { [name]: good }, environment: {} });
    expect(String(config[name])).toBe({ anonymous_read: "false" }[name as string] ?? good);
  },
);

test("unknown names are refused with the nearest", () => {
  expect(refusal(() => resolveConfig({ flags: {}, environment: { LABD_PROT: "1" } }))).toContain("LABD_PORT");
  withFile("prot = 1\n", (file) => {
    expect(refusal(() => resolveConfig({ flags: {}, environment: {}, file }))).toContain("did you mean port");
  });
  withFile("port = \n", (file) => {
    expect(refusal(() => resolveConfig({ flags: {}, environment: {}, file }))).toContain("is not TOML");
  });
  expect(
    refusal(() => resolveConfig({ flags: {}, environment: { LABD_CONFIG: "/nowhere/labd.toml" } })),
  ).toContain("no file");
});

test("secrets are masked whatever they hold", () => {
  const { config } = resolveConfig({ flags: {}, environment: { LABD_ADMIN_PASSWORD: "hunter2hunter2" } });
  expect(shown("admin_password", config)).toBe("********");
  expect(SETTING_NAMES.map((name) => shown(name, config)).join(" ")).not.toContain("hunter2");
});

test("flags, variables and keys are spelt from one name", () => {
  expect([flagOf("data_dir"), variableOf("data_dir")]).toEqual(["--data-dir", "LABD_DATA_DIR"]);
});

test("what a message may hold by default is what the SOAP service documents", () => {
  const { config } = resolveConfig({ flags: {}, environment: {} });
  expect<MessageLimits>({
    bytes: config.max_message_bytes,
    depth: config.max_message_depth,
    elements: config.max_message_elements,
    attributes: config.max_message_attributes,
    attributeLength: config.max_attribute_length,
    namespaces: config.max_message_namespaces,
    textLength: config.max_text_length,
  }).toEqual(MESSAGE_LIMITS);
});
