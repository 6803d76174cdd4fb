import { describe, expect, test } from "bun:test";
import { resolveConfig } from "../../../src/config.ts";
import {
  accountState,
  describeRejection,
  parseRejection,
} from "../../../src/accounts/external/active-directory.ts";
import { readLdapOptions, readOidcOptions } from "../../../src/accounts/external/index.ts";
import { fillFilter } from "../../../src/accounts/external/ldap.ts";
import { normalizeUsername, isAllowed, mapMemberships } from "../../../src/accounts/external/person.ts";
import { cleanEmail, cleanText } from "../../../src/accounts/username.ts";
import { catchCode } from "../../fixtures/service.ts";

test.each([
  ["(&(a=b)(uid={username}))", { username: "*)(uid=*" }, "(&(a=b)(uid=\\2a\\29\\28uid=\\2a))"],
  ["({dn}{username}{other})", { dn: "a\\,b\0", username: "{dn}" }, "(a\\5c,b\\00{dn}{other})"],
  ["(cn={username})", { username: "Jürgen" }, "(cn=Jürgen)"],
])("fills the filter %s with escaped values", (filter, values, filled) => {
  expect(fillFilter(filter, values)).toBe(filled);
});

test("normalizes usernames, and cleans names and e-mail addresses", () => {
  expect([" Kim ", "ju\u0308rgen", "\uff4b\uff49\uff4d"].map(normalizeUsername)).toEqual([
    "kim",
    "j\u00fcrgen",
    "kim",
  ]);
  expect(cleanText(" Kim\u0000\u202e\nKuhn ")).toBe("Kim Kuhn");
  expect(cleanText("x".repeat(300))).toHaveLength(255);
  const longest = `${"k".repeat(250)}@lab`;
  const addresses = ["kim@lab.example", longest, `k${longest}`, "kim", "k im@lab", "a@b@c", "a@b.org>"];
  expect(addresses.map(cleanEmail)).toEqual(["kim@lab.example", longest, "", "", "", "", ""]);
});

const LDAP = { ldap_url: "ldaps://a ldapi://%2Frun", ldap_user_base: "ou=people" };
const OIDC = { oidc_issuer: "https://id.example/", oidc_client_id: "labd" };
const config = (flags: Record<string, string>) => resolveConfig({ flags, environment: {} }).config;

describe("settings", () => {
  test.each([
    [{ ldap_user_base: "" }, "ldap_user_base"],
    [{ ldap_url: "ldap://ldap.example" }, "ldap_url"],
    [{ ldap_url: "ldap://127.0.0.1.example" }, "ldap_url"],
    [{ ldap_user_filter: "(uid=kim)" }, "ldap_user_filter"],
    [{ ldap_bind_dn: "cn=reader" }, "ldap_bind_dn"],
    [{ ldap_bind_password: "secret" }, "ldap_bind_dn"],
    [{ ca_file: "/nowhere" }, "ca_file"],
    [{ groups_allowed: "a" }, "ldap_group_base"],
    [{ groups_admin: "a" }, "ldap_group_base"],
    [{ group_map: "a=b" }, "ldap_group_base"],
  ])("rejects the directory settings %j", async (flags, setting) => {
    const read = () => readLdapOptions(config({ ...LDAP, ...flags }));
    expect(await catchCode(read)).toBe("invalid_setting");
    expect(read).toThrow(setting);
  });

  test.each([
    {},
    { ldap_url: "ldap://localhost:389 ldap://[::1] ldap://127.0.0.1/" },
    { ldap_url: "ldap://ldap.example", ldap_tls: "starttls" },
    { ldap_url: "ldap://ldap.example", ldap_tls: "off" },
    { groups_allowed: "a", ldap_group_base: "ou=groups" },
    { ldap_bind_dn: "cn=reader", ldap_bind_password: "secret" },
  ])("accepts the directory settings %j", (flags) => {
    expect(readLdapOptions(config({ ...LDAP, ...flags }))?.userBase).toBe("ou=people");
  });

  test("validates the settings of the provider", async () => {
    expect(readOidcOptions(config(OIDC))?.issuer).toBe("https://id.example");
    expect(await catchCode(() => readOidcOptions(config({ oidc_issuer: OIDC.oidc_issuer })))).toBe(
      "invalid_setting",
    );
    expect(() => readOidcOptions(config({ ...OIDC, ca_file: "/nowhere" }))).toThrow("ca_file");
    expect([readLdapOptions(config({})), readOidcOptions(config({}))]).toEqual([undefined, undefined]);
  });

  test("settings name the groups that may sign in, that administer, and that map to local groups", () => {
    const flags = {
      groups_allowed: " a, b c ,,",
      group_map: "genomics=Genomics, Sequencing = Genomics,imaging=Imaging",
    };
    const options = readOidcOptions(config({ ...OIDC, ...flags }))!;
    expect(options.allowed).toEqual(["a", "b c"]);
    expect([["B C"], ["x"], []].map((groups) => isAllowed(options, groups))).toEqual([true, false, false]);
    expect(isAllowed({ ...options, allowed: [] }, [])).toBe(true);
    expect(mapMemberships(options.map, ["genomics"]).get("Genomics")).toBe(true);
    expect([...mapMemberships(options.map, ["SEQUENCING", "other"])]).toEqual([
      ["Genomics", true],
      ["Imaging", false],
    ]);
  });
});

describe("Active Directory", () => {
  const NOW = Date.UTC(2026, 0, 1);
  const windows = (at: number) => String((at + 11_644_473_600_000) * 10_000);

  test.each([
    [{}, false, []],
    [{ useraccountcontrol: "512" }, false, []],
    [{ useraccountcontrol: "514" }, true, ["disabled"]],
    [{ accountexpires: windows(NOW) }, true, ["expired"]],
    [{ accountexpires: windows(NOW + 1) }, false, []],
    [{ accountexpires: "0" }, false, []],
    [{ accountexpires: "9223372036854775807" }, false, []],
    [{ "msds-user-account-control-computed": "16" }, false, ["locked out after wrong passwords"]],
    [
      { "msds-user-account-control-computed": String(0x80_0000) },
      false,
      ["the password has expired, or must be changed"],
    ],
  ])("account state %j: disabled is %p", (values, closed, words) => {
    const entry = new Map(Object.entries(values).map(([name, value]) => [name, [value]]));
    expect(accountState(entry, NOW)).toEqual({ closed, words });
  });

  test.each([
    ["data 532, v4563", "password_expired", "the password has expired"],
    ["data 52e, v4563", undefined, "the name or the password is wrong"],
    ["data 525, v4563", undefined, "the name or the password is wrong"],
    ["data 775", "locked_out", "the account is locked out after wrong passwords"],
    ["Invalid Credentials", undefined, ""],
  ])("reads the identifier %s as %s", (text, reason, words) => {
    const error = new Error(`80090308: LdapErr: DSID-0C090439, AcceptSecurityContext error, ${text}`);
    expect(parseRejection(error)?.reason).toBe(reason as string);
    expect(describeRejection(error)).toBe(words);
  });
});
