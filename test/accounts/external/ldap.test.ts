import { afterAll, beforeAll, expect, spyOn } from "bun:test";
import type { Accounts } from "../../../src/accounts/accounts.ts";
import {
  checkDirectory,
  lookUp,
  readLdapOptions,
  recheckDirectory,
} from "../../../src/accounts/external/index.ts";
import { resolveConfig } from "../../../src/config.ts";
import type { Json } from "../../../src/inventory/model/field.ts";
import { RequestContext, runInRequest } from "../../../src/platform/request-context.ts";
import { Problem } from "../../../src/problem.ts";
import { callerOfRequest } from "../../fixtures/request.ts";
import { basicHeader, catchProblem, request, tokenHeader } from "../stage.ts";
import { LAB, openIdentityLab } from "./identity-lab.ts";
import {
  BASE,
  type Directory,
  toDn,
  hasSlapd,
  ldapTest,
  openDirectory,
  person,
  READER_DN,
  SECRET,
} from "./slapd.ts";

/** Signing in by a real directory, in an installation as the program composes it. */

let directory: Directory;
beforeAll(async () => {
  if (hasSlapd) directory = await openDirectory();
});
afterAll(() => directory?.[Symbol.asyncDispose]());

const usual = (): Record<string, string> => ({
  ldap_url: directory.plain,
  ldap_bind_dn: READER_DN,
  ldap_bind_password: SECRET,
  ldap_user_base: `ou=people,${BASE}`,
  ldap_group_base: `ou=groups,${BASE}`,
});

async function open(settings: Record<string, string> = {}) {
  const lab = await openIdentityLab({ ...usual(), ...settings });
  const { accounts } = lab;
  await accounts.addUser({ username: "local", password: "local's password" });
  /** The username that somebody signs in as, or the code of the problem and its reason. */
  const signIn = async (username: string, password = `${username}'s password`): Promise<string> => {
    try {
      return callerByToken(accounts, await accounts.signIn({ username, password }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return [error.code, error.more.reason].filter(Boolean).join(" ");
    }
  };
  const fetchUser = async (name: string) =>
    (await lab.ask("GET", `users/${name}/?response_format=flat`, { as: "admin" })).body.results as Record<
      string,
      Json
    >;
  const fetchGroups = async (name: string): Promise<string[]> =>
    ((await fetchUser(name)).groups as { name: string }[]).map(({ name }) => name).sort();
  return { ...lab, signIn, fetchUser, fetchGroups };
}

const callerByToken = (accounts: Accounts, token: string): string =>
  accounts.authenticate(new Request(LAB, { headers: { authorization: `Token ${token}` } })).username!;
const callerByBasic = (accounts: Accounts, username: string) =>
  callerOfRequest(accounts, request(basicHeader(`${username}:${username}'s password`)));
const makeOptions = (settings: Record<string, string> = {}) =>
  readLdapOptions(resolveConfig({ flags: { ...usual(), ...settings }, environment: {} }).config)!;

const members = (group: string, ...uids: string[]): Promise<void> =>
  directory.modify(
    `dn: cn=${group},ou=groups,${BASE}\nchangetype: modify\nreplace: member\n${uids.map((uid) => `member: ${toDn(uid)}\n`).join("")}`,
  );

ldapTest("signs in by every method, creates accounts, and leaves local accounts unchanged", async () => {
  const { signIn, fetchUser, accounts, database } = await open();
  expect(await signIn("kim")).toBe("kim");
  expect(await fetchUser("kim")).toMatchObject({
    full_name: "Kim Kuhn",
    email: "kim@lab.example",
    is_superuser: false,
  });
  const { verified } = database
    .query("SELECT verified_email AS verified FROM user_account WHERE username = 'kim'")
    .get() as { verified: string };
  expect(verified).toBe("kim@lab.example");
  expect(await signIn("KIM", "kim's password")).toBe("kim");
  expect(await signIn("local")).toBe("local");
  expect(await signIn("müller")).toBe("müller");
  expect(await callerByBasic(accounts, "kim")).toMatchObject({ username: "kim", via: "basic" });
  const credentials = { username: "lee", password: "lee's password" };
  const { session } = await accounts.openSession(credentials, new Request(LAB));
  expect(accounts.readActor(session.user).username).toBe("lee");
  const hashes = database.query("SELECT username FROM user_account WHERE password_hash IS NOT NULL").values();
  for (const name of ["kim", "lee"]) expect(hashes.flat()).not.toContain(name);
  const linked = accounts.audit.log.latest({ action: "account.link" }, 9).map(({ detail }) => detail);
  expect(linked).toContainEqual({ username: "kim", provider: "ldap", label: toDn("kim") });
});

ldapTest("rejects wrong passwords, unknown names, and names with filter syntax", async () => {
  const { signIn, accounts, ask } = await open();
  for (const [name, password] of [
    ["kim", "wrong"],
    ["kim", ""],
    ["nobody", "kim's password"],
    ["*)(uid=*", "kim's password"],
    ["*", "kim's password"],
    ["k*", "kim's password"],
    ["kim)(|(uid=*", "kim's password"],
    ["kim\0", "kim's password"],
    ["", "kim's password"],
    ["\\6bim", "kim's password"],
    ["o'brien(x)*", "wrong"],
    [toDn("kim"), "kim's password"],
  ])
    expect([name, await signIn(name, password)]).toEqual([name, "unauthenticated"]);
  // The entry is found, but no account may have parentheses in its name.
  expect(await signIn("o'brien(x)*")).toBe("forbidden name_unusable");
  for (const name of ["o'brien(x)*", "smith, j"])
    expect((await lookUp(makeOptions(), name))?.person.groups).toEqual(["genomics"]);
  expect(accounts.list().map(({ username }) => username)).not.toContain("kim");
  const empty = await ask("POST", "token-auth/", { body: { username: "kim", password: "" } });
  expect(empty.status).toBe(400);
});

ldapTest("signs in to a local account of the same name only once it is linked", async () => {
  const { signIn, accounts, identities, ask } = await open();
  const kim = await accounts.addUser({ username: "Kim", password: "quite another password" });
  expect(await signIn("kim")).toBe("unauthenticated");
  expect(await signIn("Kim", "kim's password")).toBe("unauthenticated");
  expect(await signIn("Kim", "quite another password")).toBe("Kim");
  await accounts.addUser({ username: "lee" });
  expect(await signIn("lee")).toBe("unauthenticated");

  const found = (await lookUp(makeOptions(), "kim"))!;
  identities.link(kim, found.person);
  expect(() => identities.link(kim, { ...found.person, subject: "other" })).toThrow("Unlink it first");
  expect(() => identities.link(accounts.userId("lee"), found.person)).toThrow("already linked to Kim");
  expect(await signIn("kim")).toBe("Kim");
  expect(await signIn("Kim", "quite another password")).toBe("Kim");
  // The password of the directory sets none here.
  const set = { password: "a new password", current_password: "kim's password" };
  const headers = tokenHeader(accounts.addToken("Kim", "test"));
  expect((await ask("PATCH", "users/Kim/", { body: set, headers })).status).toBe(400);
  identities.unlink(kim, "ldap");
  expect(await signIn("kim")).toBe("unauthenticated");
});

ldapTest("derives access, administrators and memberships from groups", async () => {
  const { signIn, fetchGroups, fetchUser, ask, accounts } = await open({
    groups_allowed: "LABD-users",
    groups_admin: "labd-admins",
    group_map: "genomics=Genomics, labd-admins=Keepers",
  });
  expect(await signIn("max")).toBe("forbidden not_allowed");
  expect(await signIn("kim")).toBe("kim");
  expect(await signIn("lee")).toBe("lee");
  expect(await fetchGroups("kim")).toEqual(["Genomics"]);
  expect(await fetchUser("kim")).toMatchObject({ primary_group: { name: "Genomics" }, is_superuser: false });
  expect(await fetchGroups("lee")).toEqual(["Keepers"]);
  const joined = await ask("GET", "groups/Genomics/members/kim/history/", { as: "admin" });
  expect(joined.body.results).toMatchObject([{ op: "create", version: 1 }]);
  expect(await fetchUser("lee")).toMatchObject({ is_superuser: true });
  // The directory does not manage this membership.
  await ask("PUT", "groups/Imaging/members/kim/", { as: "admin" });
  try {
    await members("genomics", "lee");
    await members("labd-admins", "kim");
    expect(await signIn("kim")).toBe("kim");
    expect(await signIn("lee")).toBe("lee");
    expect(await fetchGroups("kim")).toEqual(["Imaging", "Keepers"]);
    expect(await fetchUser("kim")).toMatchObject({ primary_group: { name: "Keepers" }, is_superuser: true });
    expect(await fetchGroups("lee")).toEqual(["Genomics"]);
    expect(await fetchUser("lee")).toMatchObject({
      primary_group: { name: "Genomics" },
      is_superuser: false,
    });
    const history = await ask("GET", "groups/Genomics/members/kim/history/", { as: "admin" });
    expect((history.body.results as { op: string }[]).map(({ op }) => op).sort()).toEqual([
      "create",
      "delete",
    ]);
    expect(accounts.audit.log.latest({ action: "membership" }, 1)[0].detail).toMatchObject({ count: 2 });
    await members("labd-admins", "max");
    expect(await signIn("kim")).toBe("kim");
    expect(await fetchGroups("kim")).toEqual(["Imaging", "SYSTEM_GROUP"]);
    await members("labd-users", "lee");
    expect(await signIn("kim")).toBe("forbidden not_allowed");
    const [refused] = accounts.audit.log.latest({ action: "sign_in" }, 1);
    expect(refused).toMatchObject({
      outcome: "refused",
      detail: { by: "ldap", reason: "not_allowed", label: toDn("kim") },
    });
  } finally {
    await members("genomics", "kim", "o'brien(x)*", "smith, j");
    await members("labd-admins", "lee");
    await members("labd-users", "kim", "lee");
  }
});

ldapTest("rejects disabled accounts, and unlinked ones without new_accounts", async () => {
  const first = await open();
  expect(await first.signIn("kim")).toBe("kim");
  expect(await callerByBasic(first.accounts, "kim")).toMatchObject({ username: "kim" });
  first.accounts.setActive(first.accounts.userId("kim"), false);
  expect(await first.signIn("kim")).toBe("forbidden disabled");
  await expect(callerByBasic(first.accounts, "kim")).rejects.toMatchObject({ code: "forbidden" });
  const second = await open({ new_accounts: "off" });
  expect(await second.signIn("kim")).toBe("forbidden no_account");
});

ldapTest("throttles by name and by entry, for each address apart", async () => {
  const { signIn, accounts } = await open();
  const from = (address: string, ...credentials: Parameters<typeof signIn>) => {
    const context = new RequestContext(request(), "r", { address: () => address, origin: () => "" });
    return runInRequest(context, () => signIn(...credentials));
  };
  expect(await signIn("kim")).toBe("kim");
  for (let i = 0; i < 10; i++) expect(await from("192.0.2.1", "kim", "wrong")).toBe("unauthenticated");
  expect(await from("192.0.2.1", "kim")).toBe("throttled");
  // Directories ignore spaces around a name.
  expect(await from("192.0.2.1", " kim", "kim's password")).toBe("throttled");
  expect(accounts.audit.log.latest({ action: "sign_in" }, 1)[0].outcome).toBe("throttled");
  expect(await from("192.0.2.2", "kim")).toBe("kim");
  expect(await from("192.0.2.2", " kim", "kim's password")).toBe("kim");
  expect(await from("192.0.2.1", "kim")).toBe("throttled");
});

ldapTest("uses ldaps, StartTLS and ldapi with trusted certificates only", async () => {
  const trusted = { ca_file: directory.authority };
  const port = new URL(directory.plain).port;
  for (const [settings, outcome] of [
    [{ ldap_url: directory.secure, ...trusted }, "kim"],
    [{ ldap_tls: "starttls", ...trusted }, "kim"],
    [{ ldap_url: directory.socket }, "kim"],
    [{ ldap_url: directory.secure }, "identity_unavailable"],
    [{ ldap_url: directory.secure, ca_file: directory.stranger }, "identity_unavailable"],
    [{ ldap_tls: "starttls", ca_file: directory.stranger }, "identity_unavailable"],
    // Another name than that of the certificate.
    [{ ldap_url: `ldap://127.0.0.2:${port}`, ldap_tls: "starttls", ...trusted }, "identity_unavailable"],
    // The first does not answer.
    [{ ldap_url: `ldap://127.0.0.1:1 ${directory.plain}` }, "kim"],
  ] as const)
    expect([settings, await (await open(settings)).signIn("kim")]).toEqual([settings, outcome]);
});

ldapTest("reports an unavailable directory, and signs in local accounts meanwhile", async () => {
  const { signIn } = await open();
  await signIn("kim");
  await directory.freeze();
  const { setTimeout } = globalThis;
  const timers = spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, delay: number) =>
    setTimeout(run, delay / 20)) as typeof setTimeout);
  try {
    expect(await signIn("kim")).toBe("identity_unavailable");
    expect(await signIn("local")).toBe("local");
  } finally {
    timers.mockRestore();
    directory.thaw();
  }
  expect(await signIn("kim")).toBe("kim");
  await directory.kill();
  try {
    // An unavailable directory is no failed attempt.
    for (let i = 0; i < 12; i++) expect(await signIn("kim")).toBe("identity_unavailable");
    expect(await signIn("local")).toBe("local");
    expect(await signIn("local", "wrong")).toBe("unauthenticated");
  } finally {
    await directory.start();
  }
  expect(await signIn("kim")).toBe("kim");
  const wrong = await open({ ldap_bind_password: "not the reader's" });
  expect(await wrong.signIn("kim")).toBe("identity_unavailable");
  const credentials = { username: "kim", password: "kim's password" };
  const problem = await catchProblem(() => wrong.accounts.signIn(credentials));
  expect(String(problem.cause)).toContain(`bind as ${READER_DN}`);
  expect(JSON.stringify([problem, String(problem.cause)])).not.toContain("not the reader's");
});

ldapTest("disables people who left when it rechecks the directory, and enables them again", async () => {
  const settings = { groups_allowed: "labd-users", group_map: "genomics=Genomics" };
  const { signIn, identities, database, accounts, fetchGroups } = await open(settings);
  const recheck = async () => {
    const all = await recheckDirectory({ options: makeOptions(settings), identities, accounts, database });
    return Object.fromEntries(all.map(({ username, outcome }) => [username, outcome]));
  };
  await signIn("kim");
  await signIn("lee");
  const token = accounts.addToken("kim", "test");
  const byToken = (): string => callerByToken(accounts, token);
  expect(await recheck()).toEqual({ kim: "kept", lee: "kept" });
  try {
    await members("labd-users", "lee");
    await members("genomics", "lee");
    expect(await recheck()).toEqual({ kim: "disabled", lee: "kept" });
    expect(byToken).toThrow("Invalid token");
    expect(await fetchGroups("lee")).toContain("Genomics");
    expect(await signIn("kim")).toBe("forbidden not_allowed");
    const [disabled] = accounts.audit.log.latest({ action: "account.disable" }, 1);
    expect(disabled.detail).toEqual({ by: "ldap", reason: "not_allowed", username: "kim" });
    // A recheck or a sign-in enables the account again.
    await members("labd-users", "kim", "lee");
    expect(await recheck()).toEqual({ kim: "enabled", lee: "kept" });
    expect(byToken()).toBe("kim");
    await members("labd-users", "lee");
    await recheck();
    await members("labd-users", "kim", "lee");
    expect(await signIn("kim")).toBe("kim");
    // An account that an administrator disabled stays disabled.
    await members("labd-users", "lee");
    await recheck();
    accounts.setActive(accounts.userId("kim"), false);
    await members("labd-users", "kim", "lee");
    expect(await recheck()).toEqual({ lee: "kept" });
    expect(await signIn("kim")).toBe("forbidden disabled");
    accounts.setActive(accounts.userId("kim"), true);
    // Another name is the same person; another entry of the same name is not.
    const renamed = (from: string, to: string) =>
      directory.modify(`dn: ${toDn(from)}\nchangetype: modrdn\nnewrdn: uid=${to}\ndeleteoldrdn: 1\n`);
    await renamed("kim", "kira");
    await members("labd-users", "kira", "lee");
    expect(await recheck()).toEqual({ kim: "kept", lee: "kept" });
    await renamed("max", "kim");
    await members("labd-users", "kim", "lee");
    expect(await recheck()).toEqual({ kim: "disabled", lee: "kept" });
    expect(await signIn("kim", "max's password")).toBe("forbidden name_taken");
    await renamed("kim", "max");
    await renamed("kira", "kim");
    await members("labd-users", "kim", "lee");
    expect(await recheck()).toEqual({ kim: "enabled", lee: "kept" });
    // Nothing happens if most accounts would be disabled.
    const all = Array.from({ length: 5 }, (_, i) => `u${i}`);
    for (const uid of all)
      await directory.modify(person(uid, uid, "").replace("objectClass", "changetype: add\nobjectClass"));
    await members("labd-users", "kim", "lee", ...all);
    for (const uid of all) await signIn(uid);
    await members("labd-users", "kim", "lee", "u0");
    await expect(recheck()).rejects.toThrow("4 of 7 accounts are missing");
  } finally {
    await members("labd-users", "kim", "lee");
    await members("genomics", "kim", "o'brien(x)*", "smith, j");
  }
});

ldapTest("a recheck says why accounts are disabled, and keeps the only administrator", async () => {
  const settings = { groups_allowed: "labd-users" };
  const { signIn, identities, database, accounts } = await open(settings);
  const recheck = async () => {
    const all = await recheckDirectory({ options: makeOptions(settings), identities, accounts, database });
    return Object.fromEntries(all.map(({ username, ...found }) => [username, found]));
  };
  const gone = "gone1";
  await directory.modify(person(gone, gone, "").replace("objectClass", "changetype: add\nobjectClass"));
  try {
    await members("labd-users", "kim", "lee", gone);
    for (const name of ["kim", "lee", gone]) await signIn(name);
    database.run("UPDATE user_account SET is_superuser = 1 WHERE username = 'kim'");
    accounts.setActive(accounts.userId("admin"), false);
    await members("labd-users", "lee", gone);
    const kept = { outcome: "kept" as const };
    const why = expect.stringMatching(/^in no allowed group; but .*only active administrator/);
    expect(await recheck()).toEqual({ kim: { outcome: "unchanged", why }, lee: kept, [gone]: kept });
    await members("labd-users", "kim", "lee");
    await directory.modify(`dn: ${toDn(gone)}\nchangetype: delete\n`);
    const missing = "not in the directory, or excluded by ldap_user_filter";
    expect(await recheck()).toEqual({
      kim: kept,
      lee: kept,
      [gone]: { outcome: "disabled", why: missing },
    });
  } finally {
    await members("labd-users", "kim", "lee");
  }
});

ldapTest("doctor checks the searches of a sign-in", async () => {
  for (const [changed, state, said] of [
    [{}, "ok", `can be searched as ${READER_DN}`],
    [{ ldap_bind_password: "another" }, "problem", `bind as ${READER_DN}`],
    [{ ldap_user_base: `ou=nowhere,${BASE}` }, "problem", `search below ou=nowhere,${BASE}`],
    [{ ldap_user_filter: "(uid={username})(x)" }, "problem", "search below"],
    [{ ldap_url: "ldap://127.0.0.1:1" }, "problem", "ldap://127.0.0.1:1"],
  ] as const) {
    const [found, more] = await checkDirectory(makeOptions(changed));
    expect({ changed, ...found }).toMatchObject({ changed, state, found: expect.stringContaining(said) });
    expect(more.found).toContain("Every user that ldap_user_filter finds");
  }
});
