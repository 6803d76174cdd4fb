import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab, PASSWORD, START } from "./harness.ts";

/** Changes of people that somebody at an unlocked computer could use to stay need a session that was confirmed recently. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ passwords: true });
  await lab.accounts.setPassword(lab.accounts.userId("admin"), PASSWORD);
  await lab.accounts.addUser({ username: "dora" });
  lab.accounts.setActive(await lab.accounts.addUser({ username: "carol" }), false);
});
afterAll(() => lab.database.close());

const LATER = START + 11 * 60_000;

/** Headers of a browser whose session is older than a confirmation counts. */
function staleBrowser(username: string): Record<string, string> {
  lab.clock.set(START);
  const { cookie } = lab.accounts.sessions.open(lab.accounts.userId(username), new Request("http://lab/"));
  lab.clock.set(LATER);
  return { Cookie: cookie.split(";")[0], Origin: "http://lab" };
}

test.each([
  ["alice", "PATCH", "users/alice/", { email: "else@lab.example" }, true],
  ["admin", "PATCH", "users/alice/", { email: "third@lab.example" }, true],
  ["admin", "PATCH", "users/bob/", { groups: ["Imaging", "Genomics"] }, true],
  ["admin", "PATCH", "users/bob/", { primary_group: "SYSTEM_GROUP" }, true],
  ["admin", "PATCH", "users/carol/", { is_active: true }, true],
  ["admin", "POST", "groups/Genomics/members/", ["dora"], true],
  ["admin", "PUT", "groups/Genomics/members/", ["alice", "dora"], true],
  ["admin", "PUT", "groups/Genomics/members/dora/", undefined, true],
  ["admin", "PATCH", "groups/Genomics/", { members: ["alice", "dora"] }, true],
  ["alice", "PATCH", "users/alice/", { full_name: "Alice B. Archer" }, false],
  ["admin", "PATCH", "users/carol/", { is_active: false }, false],
  ["admin", "POST", "groups/Genomics/members/", ["alice"], false],
] as const)("%s: %s %s with %j needs a confirmed session: %p", async (as, method, path, body, needed) => {
  const headers = staleBrowser(as);
  const ask = (more: object = {}) =>
    lab.ask(method, path, {
      headers,
      unconfirmed: true,
      ...(body === undefined ? {} : { body: Array.isArray(body) ? body : { ...body, ...more } }),
    });
  const before = await ask();
  expect(before.text.includes("confirmation_required")).toBe(needed);
  if (!needed) return expect(before.status).toBeLessThan(300);
  if (path.startsWith("users/")) {
    expect((await ask({ current_password: "wrong word" })).body).toMatchObject({
      current_password: ["This is not the password of the account."],
    });
    expect((await ask({ current_password: PASSWORD })).status).toBe(200);
  }
});

test.each([
  [{ full_name: "Ana\r\nBcc: everybody@lab.example" }, "full_name"],
  [{ full_name: "Ana \u202egnp.exe" }, "full_name"],
  [{ full_name: "Ana \u2066Petrova" }, "full_name"],
  [{ email: "a@b.org>" }, "email"],
  [{ email: "Ana <a@b.org>" }, "email"],
  [{ email: "a@b.org\u202e" }, "email"],
])("rejects %j of a person", async (body, field) => {
  expect(await lab.send("alice", "PATCH", "users/alice/", body)).toMatchObject({
    status: 400,
    body: { [field]: [expect.stringMatching(/^Expected /)] },
  });
});

test("rejects a group with a name in two lines", async () => {
  const { status, body } = await lab.send("admin", "POST", "groups/", { name: "Genomics\u2028Admin" });
  expect([status, body.name]).toEqual([400, ["Expected 1 to 150 printable characters without commas."]]);
});
