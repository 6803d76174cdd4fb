import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerOfRequest } from "../fixtures/request.ts";
import { MIGRATIONS } from "../../db/index.ts";
import type { AccountOptions } from "../../src/accounts/account-options.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { MAX_FAILURES, SECOND_FACTOR_KEY } from "../../src/accounts/second-factor.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";
import { bytesOf, shownCode } from "../fixtures/authenticator.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

const PASSWORD = "correct horse";
const START = 1_800_000_000_000;

async function opened(options: Partial<AccountOptions> = {}) {
  const clock = { at: START, now: () => clock.at, newId: () => crypto.randomUUID() };
  const database = openDatabase(":memory:", MIGRATIONS);
  const reopened = (changed: Partial<AccountOptions> = {}) =>
    new Accounts(database, clock, {
      loginFailures: 1000,
      loginFailuresAddress: 1000,
      ...options,
      ...changed,
    });
  const accounts = reopened();
  const ada = await accounts.addUser({ username: "ada", password: PASSWORD, superuser: true });
  await accounts.addUser({ username: "kim", password: PASSWORD });
  /** The code that an app shows, `steps` from now. */
  const shown = (secret: string, steps = 0) => shownCode(secret, steps, clock.at);
  const enrol = (user = ada) => {
    const { secret } = accounts.secondFactors.begin(user, "ada", "labd");
    const recovery = accounts.secondFactors.confirm(user, shown(secret)) as string[];
    clock.at += 30_000;
    return { secret, recovery };
  };
  const signIn = (code?: string, username = "ada", password = PASSWORD) =>
    accounts.signIn({ username, password, ...(code === undefined ? {} : { code }) });
  const audited = () =>
    accounts.audit.log
      .latest({}, 1000)
      .reverse()
      .map(({ action, outcome, detail }) => `${action} ${outcome} ${String(detail.second_factor ?? "-")}`);
  return { accounts, database, clock, ada, shown, enrol, signIn, audited, reopened };
}

const refusal = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
  throw new Error("nothing was refused");
};
const coded = (code: string) => expect.objectContaining({ code });
const basic = (pair: string) =>
  new Request("http://lab/", { headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } });

test("it counts from the code on that confirms it; then password and code sign in, each code once", async () => {
  const { accounts, ada, shown, signIn, clock } = await opened();
  const { secret, uri } = accounts.secondFactors.begin(ada, "ada", "labd");
  expect(uri).toContain(`secret=${secret}`);
  await signIn();
  expect(accounts.secondFactors.confirm(ada, "000000")).toBe("wrong");
  expect(accounts.secondFactors.isOn(ada)).toBe(false);
  const recovery = accounts.secondFactors.confirm(ada, shown(secret)) as string[];
  expect(new Set(recovery).size).toBe(10);
  expect(await refusal(() => signIn())).toEqual({
    code: "second_factor_required",
    message: expect.stringContaining("code: The account has a second factor"),
  });
  // The one that confirmed it is used up.
  expect(await refusal(() => signIn(shown(secret)))).toEqual(coded("second_factor_wrong"));
  await signIn(shown(secret, 1));
  expect(await refusal(() => signIn(shown(secret, 1)))).toEqual({
    code: "second_factor_wrong",
    message: expect.stringContaining("used already"),
  });
  // Neither does an earlier one sign in after a later one.
  clock.at += 30_000;
  expect(await refusal(() => signIn(shown(secret, -1)))).toEqual(coded("second_factor_wrong"));
  await signIn(` ${shown(secret, 1).slice(0, 3)} ${shown(secret, 1).slice(3)}`);
  // Without the password nobody learns that there is one, or whether a code is right.
  expect(await refusal(() => signIn(undefined, "ada", "wrong horse"))).toEqual(coded("unauthenticated"));
  expect(await refusal(() => signIn(shown(secret, 1), "ada", "wrong horse"))).toEqual(
    coded("unauthenticated"),
  );
  expect(() => accounts.secondFactors.begin(ada, "ada", "labd")).toThrow("has a second factor");
});

test("a clock that was a year ahead and is put right shuts nobody out; one that goes back a minute gives no code again", async () => {
  const { clock, enrol, shown, signIn } = await opened();
  const { secret } = enrol();
  const year = 365 * 86_400_000;
  clock.at += year;
  await signIn(shown(secret));
  clock.at -= year;
  const code = shown(secret);
  await signIn(code);
  expect(await refusal(() => signIn(code))).toEqual(coded("second_factor_wrong"));
  clock.at += 60_000;
  const later = shown(secret);
  await signIn(later);
  clock.at -= 60_000;
  for (const steps of [-1, 0, 1])
    expect(await refusal(() => signIn(shown(secret, steps)))).toEqual(coded("second_factor_wrong"));
});

test("one of many at once with the same code signs in", async () => {
  const { enrol, shown, signIn } = await opened();
  const { secret, recovery } = enrol();
  for (const code of [shown(secret), recovery[0]]) {
    const ends = await Promise.allSettled(Array.from({ length: 8 }, () => signIn(code)));
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  }
});

test("a recovery code signs in once, however it is typed; new ones replace them", async () => {
  const { accounts, ada, enrol, signIn } = await opened();
  const { recovery } = enrol();
  const [one, two] = recovery;
  expect(one).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  await signIn(one.toUpperCase().replaceAll("-", " "));
  expect(await refusal(() => signIn(one))).toEqual(coded("second_factor_wrong"));
  expect(accounts.secondFactors.of(ada)!.recovery_codes).toBe(9);
  const [renewed] = accounts.secondFactors.renewRecoveryCodes(ada);
  expect(await refusal(() => signIn(two))).toEqual(coded("second_factor_wrong"));
  await signIn(renewed);
});

test("Basic and a remembered password do not get around it; tokens from before go on", async () => {
  const { accounts, enrol } = await opened();
  const token = accounts.addToken("ada", "cron");
  const ask = async () => {
    return (await callerOfRequest(accounts, basic(`ada:${PASSWORD}`))).username;
  };
  expect(await ask()).toBe("ada");
  enrol();
  expect(await refusal(ask)).toEqual({
    code: "second_factor_required",
    message: expect.stringContaining("Use a token"),
  });
  const by = new Request("http://lab/", { headers: { authorization: `Token ${token}` } });
  expect(accounts.authenticate(by).username).toBe("ada");
});

test("after many wrong codes in a row only a recovery code is taken", async () => {
  const { accounts, ada, enrol, shown, signIn, clock } = await opened();
  const { secret, recovery } = enrol();
  // Not by signing in, which hashes the password each time.
  const wrong = shown(secret) === "000000" ? "111111" : "000000";
  for (let i = 0; i < MAX_FAILURES; i++) expect(accounts.secondFactors.use(ada, wrong)).toBe("wrong");
  clock.at += 3_600_000;
  expect(await refusal(() => signIn(shown(secret)))).toEqual({
    code: "second_factor_wrong",
    message: expect.stringContaining("Use a recovery code"),
  });
  await signIn(recovery[0]);
  await signIn(shown(secret));
  expect(accounts.secondFactors.list()).toHaveLength(1);
});

test("wrong codes and wrong passwords are throttled together; a missing code is no failed attempt", async () => {
  const { enrol, shown, signIn, clock } = await opened({ loginFailures: 3, loginWindow: 300 });
  const { secret } = enrol();
  for (let i = 0; i < 6; i++) expect(await refusal(() => signIn())).toEqual(coded("second_factor_required"));
  expect(await refusal(() => signIn(undefined, "ada", "wrong horse"))).toEqual(coded("unauthenticated"));
  for (let i = 0; i < 2; i++)
    expect(await refusal(() => signIn("nonsense"))).toEqual(coded("second_factor_wrong"));
  expect(await refusal(() => signIn(shown(secret)))).toEqual(coded("throttled"));
  clock.at += 301_000;
  await signIn(shown(secret));
});

test("it is asked for, too, where a directory knows the password", async () => {
  const { accounts, ada, enrol, shown, signIn } = await opened();
  const { secret } = enrol();
  accounts.signIns.externalPasswords = {
    name: "ldap",
    verify: async (_, password) => (password === "theirs" ? ada : undefined),
    checkPassword: async () => false,
    canSignIn: () => true,
  };
  expect(await refusal(() => signIn(undefined, "ADA", "theirs"))).toEqual(coded("second_factor_required"));
  expect(await refusal(() => signIn("000000", "ADA", "theirs"))).toEqual(coded("second_factor_wrong"));
  await signIn(shown(secret), "ADA", "theirs");
  expect(await refusal(() => callerOfRequest(accounts, basic("ada:theirs")))).toEqual(
    coded("second_factor_required"),
  );
});

test("who needs one and has none opens a session that can do nothing, and gets no token", async () => {
  const { accounts, ada, reopened, shown } = await opened();
  const strict = reopened({ requireTotp: "administrators" });
  const at = new Request("http://lab/");
  const { session, cookie } = await strict.openSession({ username: "ada", password: PASSWORD }, at);
  const asking = () => new Request("http://lab/", { headers: { cookie: cookie.split(";")[0] } });
  expect(strict.mustSetUpSecondFactor(session)).toBe(true);
  expect(await refusal(() => strict.authenticate(asking()))).toEqual(coded("second_factor_missing"));
  expect(strict.authenticate(asking(), { enrolling: true }).username).toBe("ada");
  expect(await refusal(() => strict.signIn({ username: "ada", password: PASSWORD }))).toEqual(
    coded("second_factor_missing"),
  );
  expect(await refusal(() => callerOfRequest(strict, basic(`ada:${PASSWORD}`)))).toEqual(
    coded("second_factor_missing"),
  );
  await strict.signIn({ username: "kim", password: PASSWORD });
  const { secret } = strict.secondFactors.begin(ada, "ada", "labd");
  strict.secondFactors.confirm(ada, shown(secret));
  expect(strict.authenticate(asking()).username).toBe("ada");
  // For all: kim, too. Whom another service vouches for needs none here.
  const all = reopened({ requireTotp: "all" });
  const kim = accounts.userId("kim");
  const opened2 = await all.openSession({ username: "kim", password: PASSWORD }, new Request("http://lab/"));
  expect(all.mustSetUpSecondFactor(opened2.session)).toBe(true);
  const vouched = all.sessions.open(kim, new Request("http://lab/"), {
    hours: 1,
    session: null,
    confirmed: 0,
  });
  const by = new Request("http://lab/", { headers: { cookie: vouched.cookie.split(";")[0] } });
  expect(all.authenticate(by).username).toBe("kim");
});

test("a reset ends the sessions, and the password alone signs in again", async () => {
  const { accounts, ada, enrol, shown, signIn } = await opened();
  const { secret } = enrol();
  const at = new Request("http://lab/");
  const { cookie } = await accounts.openSession(
    { username: "ada", password: PASSWORD, code: shown(secret) },
    at,
  );
  const asking = new Request("http://lab/", { headers: { cookie: cookie.split(";")[0] } });
  expect(accounts.authenticate(asking).username).toBe("ada");
  expect(accounts.resetSecondFactor(ada)).toBe(true);
  expect(accounts.resetSecondFactor(ada)).toBe(false);
  expect(accounts.authenticate(asking).username).toBeNull();
  await signIn();
});

test("neither secret nor code is in the database or the audit log, which tells all that was done", async () => {
  const { accounts, ada, database, enrol, shown, signIn, audited } = await opened();
  const { secret, recovery } = enrol();
  await signIn(shown(secret));
  await signIn(recovery[0]);
  // Without a code once: who tries again and again fills no disk.
  for (const code of [undefined, undefined, "000001", undefined, shown(secret)])
    await refusal(() => signIn(code));
  accounts.secondFactors.renewRecoveryCodes(ada);
  accounts.resetSecondFactor(ada);
  expect(audited().filter((line) => /factor|sign_in/.test(line))).toEqual([
    "second_factor.enable done -",
    "sign_in done code",
    "sign_in done recovery",
    "sign_in refused missing",
    "sign_in refused wrong",
    "sign_in refused used",
    "second_factor.recovery_codes done -",
    "second_factor.reset done -",
  ]);
  const again = enrol();
  const kept = Buffer.from(database.serialize()).toString("latin1");
  for (const secretText of [again.secret, secret, ...again.recovery, ...recovery])
    expect(kept.includes(secretText) || kept.includes(secretText.replaceAll("-", ""))).toBe(false);
  expect(kept.includes(Buffer.from(bytesOf(again.secret)).toString("latin1"))).toBe(false);
});

test("the key lies in a file of its owner alone; without it recovery codes go on", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-test-"));
  try {
    const keyFile = join(directory, SECOND_FACTOR_KEY);
    const { enrol, shown, reopened, ada } = await opened({ keyFile });
    const { secret, recovery } = enrol();
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(keyFile, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    const restarted = reopened();
    await restarted.signIn({ username: "ada", password: PASSWORD, code: shown(secret) });
    rmSync(keyFile);
    const elsewhere = reopened();
    const code = shown(secret, 1);
    expect(await refusal(() => elsewhere.signIn({ username: "ada", password: PASSWORD, code }))).toEqual({
      code: "second_factor_wrong",
      message: expect.stringContaining(SECOND_FACTOR_KEY),
    });
    await elsewhere.signIn({ username: "ada", password: PASSWORD, code: recovery[0] });
    elsewhere.secondFactors.remove(ada, "second_factor.disable");
    elsewhere.secondFactors.begin(ada, "ada", "labd");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
