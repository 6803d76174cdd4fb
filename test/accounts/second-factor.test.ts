import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccountOptions } from "../../src/accounts/accounts.ts";
import { countSecondFactors, MAX_FAILURES, SECOND_FACTOR_KEY } from "../../src/accounts/second-factor.ts";
import { decodeBase32, shownCode } from "../fixtures/authenticator.ts";
import { callerOfRequest } from "../fixtures/request.ts";
import {
  attempt,
  basicHeader,
  identifyCaller,
  cookieHeader,
  makeDirectory,
  MINUTE,
  openAccounts,
  PASSWORD,
  catchProblem,
  request,
  tokenHeader,
} from "./stage.ts";

async function opened(options: Partial<AccountOptions> = {}) {
  const stage = openAccounts(options);
  const { accounts, clock } = stage;
  const ada = await accounts.addUser({ username: "ada", password: PASSWORD, superuser: true });
  const kim = await accounts.addUser({ username: "kim", password: PASSWORD });
  /** The code that an app shows, `steps` from now. */
  const shown = (secret: string, steps = 0) => shownCode(secret, steps, clock.at);
  const enrol = (user = ada) => {
    const { secret } = accounts.secondFactors.begin(user, "ada", "labd");
    const recovery = accounts.secondFactors.confirm(user, shown(secret)) as string[];
    clock.at += 30_000;
    return { secret, recovery };
  };
  const signIn = (code?: string, password = PASSWORD) =>
    attempt(accounts, { username: "ada", password, ...(code === undefined ? {} : { code }) });
  return { ...stage, ada, kim, shown, enrol, signIn };
}

describe("codes", () => {
  test("codes are valid once each and in order, after set-up is confirmed and with the password", async () => {
    const { accounts, ada, shown, signIn, clock } = await opened();
    const { secret, uri } = accounts.secondFactors.begin(ada, "ada", "labd");
    expect(uri).toContain(`secret=${secret}`);
    expect(await signIn()).toBe("ok");
    expect(accounts.secondFactors.confirm(ada, "000000")).toBe("wrong");
    expect(accounts.secondFactors.isOn(ada)).toBe(false);
    const recovery = accounts.secondFactors.confirm(ada, shown(secret)) as string[];
    expect(new Set(recovery).size).toBe(10);
    expect(await signIn()).toBe("second_factor_required");
    expect(await signIn(shown(secret))).toBe("second_factor_wrong");
    expect(await signIn(shown(secret, 1))).toBe("ok");
    expect(await signIn(shown(secret, 1))).toBe("second_factor_wrong");
    clock.at += 30_000;
    expect(await signIn(shown(secret, -1))).toBe("second_factor_wrong");
    expect(await signIn(` ${shown(secret, 1).slice(0, 3)} ${shown(secret, 1).slice(3)}`)).toBe("ok");
    expect(await signIn(undefined, "wrong horse")).toBe("unauthenticated");
    expect(await signIn(shown(secret, 1), "wrong horse")).toBe("unauthenticated");
    expect(() => accounts.secondFactors.begin(ada, "ada", "labd")).toThrow("already has a second factor");
  });

  test("accepts codes after the clock was a year ahead, and rejects used codes after it went back a minute", async () => {
    const { clock, enrol, shown, signIn } = await opened();
    const { secret } = enrol();
    const year = 365 * 86_400_000;
    clock.at += year;
    expect(await signIn(shown(secret))).toBe("ok");
    clock.at -= year;
    const code = shown(secret);
    expect([await signIn(code), await signIn(code)]).toEqual(["ok", "second_factor_wrong"]);
    clock.at += MINUTE;
    expect(await signIn(shown(secret))).toBe("ok");
    clock.at -= MINUTE;
    for (const steps of [-1, 0, 1]) expect(await signIn(shown(secret, steps))).toBe("second_factor_wrong");
  });

  test("a code signs in once even if it is sent several times simultaneously", async () => {
    const { enrol, shown, signIn } = await opened();
    const { secret, recovery } = enrol();
    for (const code of [shown(secret), recovery[0]]) {
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => signIn(code)));
      expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
    }
  });

  test("recovery codes work once, in any spelling, until they are replaced", async () => {
    const { accounts, ada, enrol, signIn } = await opened();
    const [one, two] = enrol().recovery;
    expect(one).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
    expect(await signIn(one.toUpperCase().replaceAll("-", " "))).toBe("ok");
    expect(await signIn(one)).toBe("second_factor_wrong");
    expect(accounts.secondFactors.of(ada)!.recovery_codes).toBe(9);
    const [renewed] = accounts.secondFactors.renewRecoveryCodes(ada);
    expect([await signIn(two), await signIn(renewed)]).toEqual(["second_factor_wrong", "ok"]);
  });

  test(`TOTP codes are rejected after ${MAX_FAILURES} wrong codes in a row; recovery codes still work`, async () => {
    const { accounts, ada, enrol, shown, signIn, clock } = await opened();
    const { secret, recovery } = enrol();
    const wrong = shown(secret) === "000000" ? "111111" : "000000";
    for (let i = 1; i < MAX_FAILURES; i++) expect(accounts.secondFactors.use(ada, wrong)).toBe("wrong");
    expect(await signIn(shown(secret))).toBe("ok");
    for (let i = 0; i < MAX_FAILURES; i++) expect(accounts.secondFactors.use(ada, wrong)).toBe("wrong");
    clock.at += 60 * MINUTE;
    expect(accounts.secondFactors.use(ada, shown(secret))).toBe("locked");
    expect([await signIn(recovery[0]), await signIn(shown(secret))]).toEqual(["ok", "ok"]);
  });

  test("wrong codes count as failed sign-ins, missing codes do not", async () => {
    const { enrol, shown, signIn, clock } = await opened();
    const { secret } = enrol();
    for (let i = 0; i < 12; i++) expect(await signIn()).toBe("second_factor_required");
    expect(await signIn(undefined, "wrong horse")).toBe("unauthenticated");
    for (let i = 0; i < 9; i++) expect(await signIn("nonsense")).toBe("second_factor_wrong");
    expect(await signIn(shown(secret))).toBe("throttled");
    clock.at += 5 * MINUTE;
    expect(await signIn(shown(secret))).toBe("ok");
  });
});

test("rejects Basic authentication of accounts with a second factor, and requires a code with directory passwords", async () => {
  const { accounts, ada, enrol, shown } = await opened();
  const token = accounts.addToken("ada", "cron");
  expect(await identifyCaller(accounts, basicHeader(`ada:${PASSWORD}`))).toBe("ada");
  const { secret } = enrol();
  expect(await identifyCaller(accounts, basicHeader(`ada:${PASSWORD}`))).toBe("second_factor_required");
  await expect(callerOfRequest(accounts, request(basicHeader(`ada:${PASSWORD}`)))).rejects.toThrow(
    "Use a token",
  );
  expect(await identifyCaller(accounts, tokenHeader(token))).toBe("ada");
  accounts.signIns.externalPasswords = makeDirectory(ada, "ada");
  const signIn = (code = "") => attempt(accounts, { username: "ADA", password: "theirs", code });
  expect(await signIn()).toBe("second_factor_required");
  expect(await signIn("000000")).toBe("second_factor_wrong");
  expect(await signIn(shown(secret))).toBe("ok");
  expect(await identifyCaller(accounts, basicHeader("ada:theirs"))).toBe("second_factor_required");
});

test.each([
  ["off", "ok", "ok"],
  ["administrators", "second_factor_missing", "ok"],
  ["all", "second_factor_missing", "second_factor_missing"],
] as const)(
  "require_totp = %s: an administrator gets %s, a user %s",
  async (requireTotp, administrator, user) => {
    const { accounts, ada, kim, shown } = await opened({ requireTotp });
    expect(await attempt(accounts, { username: "ada", password: PASSWORD })).toBe(administrator);
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe(user);
    const mustSetUp = administrator !== "ok";
    expect(await identifyCaller(accounts, basicHeader(`ada:${PASSWORD}`))).toBe(
      mustSetUp ? administrator : "ada",
    );
    // A session can do nothing but set it up.
    const opening = await accounts.openSession({ username: "ada", password: PASSWORD }, request());
    const cookie = cookieHeader(opening);
    expect(accounts.mustSetUpSecondFactor(opening.session)).toBe(mustSetUp);
    expect(await identifyCaller(accounts, cookie)).toBe(mustSetUp ? "second_factor_missing" : "ada");
    expect(accounts.authenticate(request(cookie), { enrolling: true }).username).toBe("ada");
    const { secret } = accounts.secondFactors.begin(ada, "ada", "labd");
    accounts.secondFactors.confirm(ada, shown(secret));
    expect(await identifyCaller(accounts, cookie)).toBe("ada");
    // A provider asks for its own factors.
    const external = accounts.sessions.open(kim, request(), { hours: 1, session: null, confirmed: 0 });
    expect(await identifyCaller(accounts, cookieHeader(external))).toBe("kim");
  },
);

test("a reset ends the sessions, after which the password alone signs in", async () => {
  const { accounts, ada, enrol, shown, signIn } = await opened();
  const code = shown(enrol().secret);
  const opening = await accounts.openSession({ username: "ada", password: PASSWORD, code }, request());
  expect([accounts.resetSecondFactor(ada), accounts.resetSecondFactor(ada)]).toEqual([true, false]);
  expect(await identifyCaller(accounts, cookieHeader(opening))).toBeNull();
  expect(await signIn()).toBe("ok");
});

test("the audit log records every step, and the database holds neither secrets nor codes", async () => {
  const { accounts, ada, database, enrol, shown, signIn } = await opened();
  const { secret, recovery } = enrol();
  for (const code of [shown(secret), recovery[0], undefined, undefined, "000001", undefined, shown(secret)])
    await signIn(code);
  accounts.secondFactors.renewRecoveryCodes(ada);
  accounts.resetSecondFactor(ada);
  const recorded = accounts.audit.log.latest({}, 100).reverse();
  const lines = recorded.map(
    ({ action, outcome, detail }) => `${action} ${outcome} ${String(detail.second_factor ?? "-")}`,
  );
  expect(lines.filter((line) => /factor|sign_in/.test(line))).toEqual([
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
  const stored = Buffer.from(database.serialize()).toString("latin1");
  for (const text of [again.secret, secret, ...again.recovery, ...recovery])
    expect(stored.includes(text) || stored.includes(text.replaceAll("-", ""))).toBe(false);
  expect(stored.includes(Buffer.from(decodeBase32(again.secret)).toString("latin1"))).toBe(false);
});

test("the key file is private to its owner; recovery codes work without it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-test-"));
  try {
    const keyFile = join(directory, SECOND_FACTOR_KEY);
    const { enrol, shown, reopen, ada, database } = await opened({ keyFile });
    const { secret, recovery } = enrol();
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(keyFile, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    const credentials = { username: "ada", password: PASSWORD };
    expect(await attempt(reopen(), { ...credentials, code: shown(secret) })).toBe("ok");
    expect(countSecondFactors(database, keyFile)).toEqual({ all: 1, unreadable: [] });
    rmSync(keyFile);
    expect(countSecondFactors(database, keyFile)).toEqual({ all: 1, unreadable: ["ada"] });
    const accounts = reopen();
    const problem = await catchProblem(() => accounts.signIn({ ...credentials, code: shown(secret, 1) }));
    expect([problem.code, problem.message]).toEqual([
      "second_factor_wrong",
      expect.stringContaining(SECOND_FACTOR_KEY),
    ]);
    expect(await attempt(accounts, { ...credentials, code: recovery[0] })).toBe("ok");
    accounts.secondFactors.remove(ada, "second_factor.disable");
    accounts.secondFactors.begin(ada, "ada", "labd");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
