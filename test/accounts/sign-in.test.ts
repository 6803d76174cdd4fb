import { describe, expect, spyOn, test } from "bun:test";
import { asRequest } from "../fixtures/request.ts";
import { Passwords } from "../../src/accounts/password.ts";
import {
  attempt,
  basicHeader,
  identifyCaller,
  makeDirectory,
  MINUTE,
  openAccounts,
  PASSWORD,
  catchProblem,
  request,
} from "./stage.ts";

describe("throttling", () => {
  test("counts failures by address and by account, whether the account exists or not", async () => {
    const { accounts, clock } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    for (const username of ["kim", "nobody"]) {
      for (let i = 0; i < 10; i++)
        expect(await attempt(accounts, { username, password: "wrong horse" })).toBe("unauthenticated");
      clock.at += 10_000;
      const signIn = () => asRequest(request(), () => accounts.signIn({ username, password: PASSWORD }));
      expect(await catchProblem(signIn)).toMatchObject({
        code: "throttled",
        message: "Request was throttled. Expected available in 20 seconds.",
        headers: { "Retry-After": "20" },
      });
      clock.at -= 10_000;
    }
    clock.at += 300_000;
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe("ok");
  });

  test("a success or a clock set back resets throttling", async () => {
    const { accounts, clock } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    const fail = async (times: number) => {
      for (let i = 0; i < times; i++)
        expect(await attempt(accounts, { username: "kim", password: "wrong" })).toBe("unauthenticated");
    };
    await fail(9);
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe("ok");
    await fail(10);
    expect(await attempt(accounts, { username: "kim", password: PASSWORD })).toBe("throttled");
    clock.at -= 5 * 60 * MINUTE;
    await fail(1);
  });

  test("counts parallel attempts from one IPv6 network as one client", async () => {
    const { accounts } = openAccounts();
    const verify = spyOn(Bun.password, "verify").mockResolvedValue(false);
    const attempts = Array.from({ length: 110 }, (_, i) =>
      attempt(accounts, { username: `user${i}`, password: "wrong" }, `2001:db8:0:1::${i}`),
    );
    const codes = await Promise.all(attempts);
    verify.mockRestore();
    expect(codes.filter((code) => code === "unauthenticated")).toHaveLength(100);
    expect(codes.filter((code) => code === "throttled")).toHaveLength(10);
  });
});

describe("passwords", () => {
  test("wrong passwords, missing passwords and unknown accounts fail alike, after one hash", async () => {
    const { accounts, database } = openAccounts();
    await accounts.addUser({ username: "kim", password: PASSWORD });
    await accounts.addUser({ username: "lee" });
    const hashed = spyOn(Bun.password, "verify");
    for (const username of ["kim", "lee", "nobody"]) {
      const problem = await catchProblem(() => accounts.signIn({ username, password: "wrong horse" }));
      expect(problem.message).toBe("Unable to log in with provided credentials.");
    }
    const hashes = hashed.mock.calls.map(([, hash]) => String(hash));
    hashed.mockRestore();
    const stored = database
      .query("SELECT password_hash AS hash FROM user_account WHERE username = 'kim'")
      .get();
    expect(hashes[0]).toBe((stored as { hash: string }).hash);
    for (const hash of hashes)
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{43}\$[A-Za-z0-9+/]{43}$/);
  });

  test("passwords are hashed two at a time, with at most 200 waiting", async () => {
    const passwords = new Passwords(2);
    let running = 0;
    let most = 0;
    const watch = spyOn(Bun.password, "verify").mockImplementation(async (password) => {
      most = Math.max(most, ++running);
      await Bun.sleep(1);
      running--;
      return password === "right one";
    });
    const verify = (password: string) => passwords.verify(password, "$hash");
    const answers = await Promise.all(
      ["right one", "wrong one", "right one", "", "x".repeat(1025)].map(verify),
    );
    const crowd = await Promise.allSettled(Array.from({ length: 210 }, () => verify("x")));
    watch.mockRestore();
    expect([most, running, answers]).toEqual([2, 0, [true, false, true, false, false]]);
    const refused = crowd.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array<string>(8).fill("busy"));
  });
});

describe("a directory", () => {
  async function opened() {
    const { accounts, clock } = openAccounts();
    const kim = await accounts.addUser({ username: "kim" });
    await accounts.addUser({ username: "lee", password: PASSWORD });
    const directory = makeDirectory(kim, "kim");
    accounts.signIns.externalPasswords = directory;
    return { accounts, clock, directory };
  }

  test("checks passwords without a local hash with the directory, and names it in the audit log", async () => {
    const { accounts, directory } = await opened();
    expect(await attempt(accounts, { username: "lee", password: PASSWORD })).toBe("ok");
    expect(directory.asked).toEqual([]);
    // A local name takes as long to refuse as an unknown one.
    for (const username of ["lee", "nobody"])
      expect(await attempt(accounts, { username, password: "wrong" })).toBe("unauthenticated");
    expect(directory.asked).toEqual(["lee", "nobody"]);
    expect(await attempt(accounts, { username: "KIM", password: "theirs" })).toBe("ok");
    expect(await attempt(accounts, { username: "kim", password: "wrong" })).toBe("unauthenticated");
    const [refused, signedIn] = accounts.audit.log.latest({ action: "sign_in" }, 2);
    expect(signedIn.detail).toEqual({ by: "ldap", method: "token-auth", username: "kim" });
    expect(refused.outcome).toBe("refused");
  });

  test("an unavailable directory does not count as a failed attempt, and throttling ignores the case of names", async () => {
    const { accounts, directory } = await opened();
    directory.isAway = true;
    for (let i = 0; i < 12; i++)
      expect(await attempt(accounts, { username: "kim", password: "theirs" })).toBe("identity_unavailable");
    directory.isAway = false;
    for (let i = 0; i < 10; i++) {
      const username = ["kim", "Kim", "KIM"][i % 3];
      expect(await attempt(accounts, { username, password: "wrong" })).toBe("unauthenticated");
    }
    expect(await attempt(accounts, { username: "kIM", password: "theirs" })).toBe("throttled");
  });

  test("Basic authentication asks the directory again after five minutes, or when the account is unlinked", async () => {
    const { accounts, clock, directory } = await opened();
    const asked = async () => {
      expect(await identifyCaller(accounts, basicHeader("kim:theirs"))).toBe("kim");
      return directory.asked.length;
    };
    expect([await asked(), await asked()]).toEqual([1, 1]);
    directory.isLinked = false;
    expect(await asked()).toBe(2);
    directory.isLinked = true;
    clock.at += 5 * MINUTE;
    expect(await asked()).toBe(3);
  });

  test("changing the local password does not ask the directory", async () => {
    const { accounts, directory } = await opened();
    expect(await accounts.passwordError("kim", "theirs")).toContain("no local password");
    expect(await accounts.passwordError("lee", "theirs")).toBe("This is not the password of the account.");
    expect(await accounts.passwordError("lee", PASSWORD)).toBeUndefined();
    expect(directory.asked).toEqual([]);
  });
});
