import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve } from "./labd.ts";

/** Checks an exported log by the documented rule alone. @returns its head */
function recompute(lines: string): { seq: number; hash: string } {
  let last = { seq: 0, hash: "0".repeat(64) };
  for (const line of lines.trim().split("\n")) {
    const hash = /"hash":"([0-9a-f]{64})",/.exec(line)![1];
    // Names are in order in the line already.
    const rest = line.replace(`"hash":"${hash}",`, "");
    expect(new Bun.CryptoHasher("sha256").update(last.hash + rest).digest("hex")).toBe(hash);
    last = { seq: last.seq + 1, hash };
    expect(JSON.parse(line).seq).toBe(last.seq);
  }
  return last;
}

test("the audit log survives SIGKILL, follows the documented format, and reveals changes", async () => {
  using place = scratch();
  const { directory } = place;
  const on = ["--data-dir", directory];
  await labd(["user", "add", "ada", "--admin", "--password-stdin", ...on], { stdin: "PASSWORD-of-ada" });
  const server = await serve(directory, ["--admin-password", "PASSWORD-of-admin"]);
  const ask = (path: string, init: RequestInit = {}, token = ""): Promise<Response> =>
    fetch(`${server.url}/api/${path}`, {
      ...init,
      headers: {
        "Content-Type": "application/json",
        ...(token === "" ? {} : { Authorization: `Token ${token}` }),
        ...(init.headers as Record<string, string>),
      },
    });
  const post = (path: string, body: object, token = ""): Promise<Response> =>
    ask(path, { method: "POST", body: JSON.stringify(body) }, token);
  const signIn = (username: string, password: string) => post("v2/token-auth/", { username, password });

  const { token } = (await (await signIn("ada", "PASSWORD-of-ada")).json()) as { token: string };
  expect((await signIn("ada", "PASSWORD-wrong")).status).toBe(401);
  expect((await signIn("PASSWORD-as-name", "x")).status).toBe(401);
  await post("v2/users/", { username: "kim", password: "PASSWORD-of-kim" }, token);
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, i) => post("v2/projects/", { name: `p${i}` }, token)),
  );
  const ids = await Promise.all(made.map(async (one) => ((await one.json()) as { id: string }).id));
  // Together with refused ones, in one commit.
  await Promise.all([...ids, ...ids].map((id) => ask(`v2/projects/${id}/`, { method: "DELETE" }, token)));
  await labd(["token", "add", "kim", ...on]);
  await labd(["backup", ...on]);
  const ofKim = ((await (await signIn("kim", "PASSWORD-of-kim")).json()) as { token: string }).token;
  expect((await ask("admin/audit/", {}, ofKim)).status).toBe(403);
  expect((await ask("admin/audit/")).status).toBe(401);
  await server.end("SIGKILL");

  const exported = (await labd(["audit", "export", ...on])).stdout;
  const head = recompute(exported);
  const entries = exported
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { action: string });
  const of = (action: string) => entries.filter((entry) => entry.action === action);
  expect(of("sign_in").map(({ outcome }) => outcome)).toEqual(["done", "refused", "refused", "done"]);
  const deletes = of("record.delete");
  // Each deleted once, however often it was asked for; each on behalf of its own request.
  expect(deletes).toHaveLength(ids.length);
  expect(new Set(deletes.map(({ request }) => request)).size).toBe(deletes.length);
  for (const action of ["account.create", "token.create", "service.start", "backup.make"])
    expect(of(action).length).toBeGreaterThan(0);
  expect(of("token.use")).toHaveLength(2);
  for (const secret of ["PASSWORD", token, ofKim]) expect(exported).not.toContain(secret);
  const backups = join(directory, "backups");
  const manifest = readdirSync(backups).find((name) => name.endsWith(".json"))!;
  const noted = JSON.parse(readFileSync(join(backups, manifest), "utf8")).database.audit;

  const verify = (...heads: string[]) =>
    labd(["audit", "verify", ...on, ...heads.flatMap((one) => ["--head", one])]);
  const whole = await verify(`${noted.seq}:${noted.hash}`);
  expect(whole).toMatchObject({ code: 0 });
  expect(whole.stdout).toContain(`head ${head.seq}:${head.hash}`);

  const database = new Database(join(directory, "labd.sqlite"));
  for (const write of [
    "UPDATE audit SET actor = 'kim' WHERE seq = 3",
    "DELETE FROM audit WHERE seq = 3",
    "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE seq = 3",
  ])
    expect(() => database.run(write)).toThrow("only grows");
  database.run("DROP TRIGGER audit_no_update");
  database.run("DROP TRIGGER audit_no_delete");
  database.run("UPDATE audit SET actor = 'kim' WHERE seq = 4");
  expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining("broken at entry 4:") });
  // A missing end is found only with a head that was noted.
  database.run("DELETE FROM audit WHERE seq >= 4");
  expect((await verify()).code).toBe(0);
  expect(await verify(`${head.seq}:${head.hash}`)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`broken at entry ${head.seq}: it was recorded, but the log ends`),
  });
  database.close();
}, 300_000);

test("processes that write simultaneously extend one hash chain", async () => {
  using place = scratch();
  const on = ["--data-dir", place.directory];
  await using _server = await serve(place.directory);
  await labd(["user", "add", "kim", ...on]);
  const made = await Promise.all(Array.from({ length: 6 }, () => labd(["token", "add", "kim", ...on])));
  const { stdout } = await labd(["audit", "export", "--action", "token.create", ...on]);
  expect(stdout.trim().split("\n")).toHaveLength(made.filter(({ code }) => code === 0).length);
  expect((await labd(["audit", "verify", ...on])).code).toBe(0);
}, 300_000);
