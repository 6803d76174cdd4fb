import { describe, expect, test } from "bun:test";
import { attempt, openAccounts, catchProblem } from "./stage.ts";

describe("accounts", () => {
  test.each([
    [{ username: "a b" }, "username"],
    [{ username: "" }, "username"],
    [{ username: "-kim" }, "username"],
    [{ username: "k".repeat(151) }, "username"],
    [{ username: "kim", password: "x".repeat(7) }, "password"],
    [{ username: "kim", password: "x".repeat(1025) }, "password"],
    [{ username: "kim", password: "two\nlines of it" }, "password"],
    [{ username: "kim", fullName: "x".repeat(256) }, "full_name"],
    [{ username: "kim", fullName: "a\u0007" }, "full_name"],
    [{ username: "kim", fullName: "Kim\r\nBcc: a@b.example" }, "full_name"],
    [{ username: "kim", fullName: "Kim \u202egnp" }, "full_name"],
    [{ username: "kim", fullName: "Kim\u2028Kuhn" }, "full_name"],
    [{ username: "kim", email: "nonsense" }, "email"],
    [{ username: "kim", email: "a@b.org>" }, "email"],
    [{ username: "kim", email: "<a@b.org" }, "email"],
    [{ username: "kim", email: "a@b.org,c@d.org" }, "email"],
    [{ username: "kim", email: "a@-b.org" }, "email"],
    [{ username: "kim", email: "a..b@b.org" }, "email"],
    [{ username: "kim", email: "a@b.org\n" }, "email"],
    [{ username: "kim", email: `${"k".repeat(251)}@lab` }, "email"],
    [{ username: "kim", group: " " }, "group"],
    [{ username: "kim", group: "a,b" }, "group"],
    [{ username: "kim", group: "a\u202eb" }, "group"],
    [{ username: "kim", group: "x".repeat(151) }, "group"],
  ])("rejects %j with an error at %s", async (user, field) => {
    const problem = await catchProblem(() => openAccounts().accounts.addUser(user));
    expect([problem.code, Object.keys(problem.fields ?? {})]).toEqual(["invalid_request", [field]]);
  });

  test("accepts the longest names, and rejects a name in use", async () => {
    const { accounts } = openAccounts();
    const user = {
      username: "k".repeat(150),
      fullName: "x".repeat(255),
      email: `${"k".repeat(250)}@lab`,
      group: "g".repeat(150),
    };
    await accounts.addUser(user);
    expect((await catchProblem(() => accounts.addUser(user))).code).toBe("conflict");
    expect([accounts.exists(user.username), accounts.exists("kim")]).toEqual([true, false]);
  });

  test.each([
    { username: "mina", fullName: "\u0645\u06cc\u200c\u0646\u0627", email: "" },
    {
      username: "jens",
      fullName: "Jens M\u00fcller-O\u2019Neill \ud83e\uddec",
      email: "j.m+lab@m\u00fcnchen.example",
    },
  ])("accepts %j", async (user) => {
    expect(await openAccounts().accounts.addUser(user)).toBeGreaterThan(1);
  });

  test("keeps one active administrator, and the system account without a password", async () => {
    const { accounts } = openAccounts();
    expect(accounts.hasAdministrator()).toBe(false);
    const root = await accounts.addUser({ username: "root", superuser: true });
    const kim = await accounts.addUser({ username: "kim" });
    expect(() => accounts.setActive(root, false)).toThrow("only active administrator");
    accounts.setActive(kim, false);
    const second = await accounts.addUser({ username: "second", superuser: true });
    accounts.setActive(root, false);
    expect(() => accounts.setActive(second, false)).toThrow("only active administrator");
    expect(() => accounts.setActive(1, true)).toThrow("system");
    await expect(accounts.setPassword(1, "long enough")).rejects.toThrow("system");
    expect(() => accounts.addToken("system", "x")).toThrow("no active user");
    expect(await attempt(accounts, { username: "system", password: "" })).toBe("unauthenticated");
    expect(() => accounts.userId("third")).toThrow("There is no user third");
  });
});
