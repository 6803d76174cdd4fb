import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { E7, labd, post, runJobMessage, scratch, type Server, serve } from "./labd.ts";

/** First set-up, own accounts and the administration, as programs call them. */

const PASSWORD = "a long password";
const directory = scratch();
let server: Server;
let key = "";
beforeAll(async () => {
  server = await serve(directory.directory, ["--backup-hours", "0"]);
  while (!server.log().includes("/setup?key=")) await Bun.sleep(10);
  key = server.log().match(/\/setup\?key=(\S+)/)![1];
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

interface Answered {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- of many forms
  body: any;
  cookie: string;
}

async function ask(
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answered> {
  const isText = typeof body === "string";
  const response = await fetch(server.url + path, {
    method,
    headers: { ...(isText || body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text.startsWith("{") ? JSON.parse(text) : text,
    cookie: (response.headers.get("set-cookie") ?? "").split(";")[0],
  };
}

/** The headers of a session that begins now. */
async function signIn(username: string, password = PASSWORD): Promise<Record<string, string>> {
  const { status, body, cookie } = await ask("POST", "/api/v2/session/", { body: { username, password } });
  expect([username, status]).toEqual([username, 200]);
  return { Cookie: cookie, "X-CSRFToken": body.csrf_token };
}

/** Waits for the end of a task that an answer names. */
async function ended({ status, body }: Answered, headers: Record<string, string>): Promise<Answered["body"]> {
  expect([status, body.state]).toEqual([202, "running"]);
  for (;;) {
    const { body: task } = await ask("GET", `/api/admin/tasks/${body.id}`, { headers });
    if (task.state !== "running") return task;
    await Bun.sleep(30);
  }
}

const page = async (path: string): Promise<number> => (await fetch(server.url + path)).status;

test("the first administrator is made by the link in the log, once", async () => {
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(await page("/setup")).toBe(404);
  expect(await page(`/setup?key=${key.replace(/./, "~")}`)).toBe(404);
  expect(await page(`/setup?key=${key}`)).toBe(200);
  const wanted = {
    key,
    username: "ada",
    password: PASSWORD,
    full_name: "Ada Lovelace",
    email: "ada@lab.example",
  };
  const short = await ask("POST", "/api/setup", { body: { ...wanted, password: "short" } });
  expect([short.status, short.body.password]).toEqual([400, ["Expected at least 8 characters."]]);
  const foreign = await ask("POST", "/api/setup", {
    body: wanted,
    headers: { Origin: "http://evil.example" },
  });
  expect(foreign.status).toBe(403);
  // Two at once: one of them is.
  const both = await Promise.all(
    ["ada", "eve"].map((username) => ask("POST", "/api/setup", { body: { ...wanted, username } })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
  const made = both.find(({ status }) => status === 200)!;
  expect(made.cookie).toStartWith("labd_session=");
  expect(await page(`/setup?key=${key}`)).toBe(404);
  expect((await ask("POST", "/api/setup", { body: { ...wanted, username: "eve" } })).status).toBe(404);
  const { stdout } = await labd(["user", "list", "--json", "--data-dir", directory.directory]);
  const users = JSON.parse(stdout) as { username: string; is_superuser: boolean }[];
  expect(users.filter(({ is_superuser }) => is_superuser)).toHaveLength(1);
  // Whichever was first, the tests go on as ada.
  if (made.body.username !== "ada")
    await labd(["user", "add", "ada", "--admin", "--password-stdin", "--data-dir", directory.directory], {
      stdin: PASSWORD,
    });
  // The log shows the link and never that it was used, nor with what.
  expect(server.log()).not.toContain(PASSWORD);
  expect(server.log().split(key)).toHaveLength(2);
});

test("who is no administrator is refused at every address of the administration, with who could", async () => {
  const admin = await signIn("ada");
  await ask("POST", "/api/v2/users/", { headers: admin, body: { username: "bob", password: PASSWORD } });
  const bob = await signIn("bob");
  const { body: described } = await ask("GET", "/docs/json");
  const operations = Object.entries(described.paths as Record<string, object>)
    .filter(([path]) => path.startsWith("/api/admin/"))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path]));
  expect(operations.length).toBeGreaterThan(18);
  for (const [method, template] of operations) {
    const path = template.replace(/\{\w+\}/g, "ada");
    expect([method, path, (await ask(method, path)).status]).toEqual([method, path, 401]);
    const refused = await ask(method, path, { headers: bob });
    expect([method, path, refused.status, refused.body.message]).toEqual([
      method,
      path,
      403,
      expect.stringMatching(/^This is for administrators, and bob is none\. Ask .*\bada\b/),
    ]);
    if (method === "GET") continue;
    const { Cookie } = admin;
    const withoutProof = await ask(method, path, { headers: { Cookie } });
    expect([method, path, withoutProof.status]).toEqual([method, path, 403]);
  }
});

test("a password is changed by the present one, and other sessions end", async () => {
  const [here, there] = [await signIn("bob"), await signIn("bob")];
  const listed = await ask("GET", "/api/account/sessions", { headers: here });
  expect(listed.body.results.filter((one: { current: boolean }) => one.current)).toHaveLength(1);
  const body = { current_password: "not the password", password: "another long password" };
  const wrong = await ask("POST", "/api/account/password", { headers: here, body });
  expect([wrong.status, Object.keys(wrong.body)]).toEqual([
    400,
    expect.arrayContaining(["current_password"]),
  ]);
  expect((await ask("GET", "/api/v2/session/", { headers: there })).status).toBe(200);
  const changed = await ask("POST", "/api/account/password", {
    headers: here,
    body: { ...body, current_password: PASSWORD },
  });
  expect(changed.status).toBe(200);
  expect((await ask("GET", "/api/v2/session/", { headers: there })).status).toBe(401);
  expect((await ask("GET", "/api/v2/session/", { headers: here })).status).toBe(401);
  const now = { Cookie: changed.cookie, "X-CSRFToken": changed.body.csrf_token };
  await signIn("bob", "another long password");
  const sessions = (await ask("GET", "/api/account/sessions", { headers: now })).body.results;
  expect(sessions).toHaveLength(2);
  const other = sessions.find((one: { current: boolean }) => !one.current);
  // Nobody ends another's.
  const admin = await signIn("ada");
  expect((await ask("DELETE", `/api/account/sessions/${other.id}`, { headers: admin })).status).toBe(404);
  expect((await ask("DELETE", `/api/account/sessions/${other.id}`, { headers: now })).status).toBe(204);
  expect((await ask("DELETE", "/api/account/sessions", { headers: now })).body).toEqual({ ended: 0 });
});

test("an administrator gives a link by which a password is set, once, and revokes anybody's token", async () => {
  const admin = await signIn("ada");
  const give = () => ask("POST", "/api/admin/users/bob/password-link", { headers: admin });
  const [first, second] = [await give(), await give()];
  const keyOf = ({ body }: Answered): string => new URL(body.url).searchParams.get("key")!;
  const body = { key: keyOf(first), password: "chosen by bob" };
  // The second took the place of the first.
  expect((await ask("POST", "/api/account/password", { body })).status).toBe(404);
  // It makes no administrator.
  expect(await page(`/setup?key=${keyOf(second)}`)).toBe(404);
  expect(await page(`/set-password?key=${keyOf(second)}`)).toBe(200);
  const set = await ask("POST", "/api/account/password", { body: { ...body, key: keyOf(second) } });
  expect([set.status, set.body.username]).toEqual([200, "bob"]);
  expect((await ask("POST", "/api/account/password", { body: { ...body, key: keyOf(second) } })).status).toBe(
    404,
  );
  const bob = await signIn("bob", "chosen by bob");
  await ask("POST", "/api/v2/tokens/", { headers: bob, body: { name: "scanner" } });
  const { body: tokens } = await ask("GET", "/api/admin/tokens", { headers: admin });
  const token = tokens.results.find((one: { name: string }) => one.name === "scanner");
  expect(token).toMatchObject({ username: "bob", revoked: null });
  expect((await ask("DELETE", `/api/admin/tokens/${token.id}`, { headers: admin })).status).toBe(204);
  expect((await ask("GET", "/api/v2/tokens/", { headers: bob })).body.total).toBe(0);
  // A link does not outlive that its account is shut out.
  const third = await give();
  await ask("DELETE", "/api/v2/users/bob/", { headers: admin });
  expect(await page(`/set-password?key=${keyOf(third)}`)).toBe(404);
});

const fasta = (name: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `>${name}${i}\n${E7.slice(i % 20)}\n`).join("");

test("a corpus is added from a body larger than others may be, used, verified and removed", async () => {
  const headers = await signIn("ada");
  const add = (name: string, body: string) =>
    ask("POST", `/api/admin/corpora?name=${name}`, { headers, body });
  // The second has more than max_message_bytes.
  expect(await ended(await add("small", fasta("A", 20)), headers)).toMatchObject({
    state: "done",
    said: "20 proteins were added.",
  });
  const large = fasta("B", 200_000);
  expect(large.length).toBeGreaterThan(16_777_216);
  expect(await ended(await add("large", large), headers)).toMatchObject({
    state: "done",
    said: "200,000 proteins were added.",
    by: "ada",
  });
  const bad = await ended(await add("bad", ">A\nAC!DE\n"), headers);
  expect([bad.state, bad.said]).toEqual(["failed", expect.stringContaining("line 2")]);
  const uploads = join(directory.directory, "uploads");
  expect(existsSync(uploads) && readdirSync(uploads)).toEqual([]);
  const nameless = await ask("POST", "/api/admin/corpora", { headers, body: ">A\nACDE\n" });
  expect([nameless.status, Object.keys(nameless.body)]).toEqual([400, expect.arrayContaining(["name"])]);
  const state = async () =>
    (await ask("GET", "/api/admin/corpora", { headers })).body.results.map(
      (one: { name: string; active: boolean }) => [one.name, one.active],
    );
  expect(await state()).toEqual([
    ["small", true],
    ["large", false],
  ]);
  expect((await ask("DELETE", "/api/admin/corpora/small", { headers })).status).toBe(409);
  expect((await ask("POST", "/api/admin/corpora/large/use", { headers })).body.active).toBeTrue();
  const verified = await ended(await ask("POST", "/api/admin/corpora/large/verify", { headers }), headers);
  expect(verified).toMatchObject({ state: "done", said: "large is whole: every byte is as it was written." });
  expect((await ask("DELETE", "/api/admin/corpora/small", { headers })).status).toBe(204);
  expect(await state()).toEqual([["large", true]]);
}, 300_000);

test("an upload whose connection breaks leaves nothing, and can be called off", async () => {
  const headers = await signIn("ada");
  const stop = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode(fasta("C", 100)));
      await Bun.sleep(20);
    },
  });
  const sent = fetch(`${server.url}/api/admin/corpora?name=broken`, {
    method: "POST",
    headers,
    body,
    signal: stop.signal,
  }).catch(() => null);
  const find = async () =>
    (await ask("GET", "/api/admin/tasks", { headers })).body.results.find(
      (task: { subject: string }) => task.subject === "broken",
    );
  while (!(await find())?.said.startsWith("Receiving")) await Bun.sleep(20);
  const second = await ask("POST", "/api/admin/corpora?name=other", { headers, body: ">A\nACDE\n" });
  expect([second.status, second.body.message]).toEqual([409, expect.stringContaining("ada has begun")]);
  const off = await ask("DELETE", `/api/admin/tasks/${(await find()).id}`, { headers });
  expect([off.status, off.body.state]).toEqual([200, "cancelled"]);
  stop.abort();
  await sent;
  expect(readdirSync(join(directory.directory, "uploads"))).toEqual([]);
});

test("a table of motif classes is judged row by row, imported whole, and given up", async () => {
  const headers = await signIn("ada");
  const path = "/api/admin/motif-classes";
  const before = (await ask("GET", path, { headers })).body.classes;
  const table = "ELMIdentifier\tRegex\nNEW_ONE\tP..P\nBROKEN\t((\n";
  const { body: judged } = await ask("PUT", `${path}?dry_run=1`, { headers, body: table });
  expect(judged.rows.map((row: { line: number; verdict: string }) => [row.line, row.verdict])).toEqual([
    [2, "new"],
    [3, "wrong"],
  ]);
  expect((await ask("PUT", path, { headers, body: table })).status).toBe(400);
  expect((await ask("GET", path, { headers })).body).toEqual({ classes: before, imported: null });
  const good = table.replace("BROKEN\t((\n", "");
  const { body: taken } = await ask("PUT", `${path}?name=elm.tsv`, { headers, body: good });
  expect(taken).toMatchObject({ classes: before + 1, imported: { name: "elm.tsv", size: 1 } });
  expect((await ask("DELETE", path, { headers })).body).toEqual({ classes: before, imported: null });
  expect((await ask("DELETE", path, { headers })).status).toBe(404);
});

test("jobs are told of with who asked, and called off", async () => {
  const headers = await signIn("ada");
  expect((await post(server.url, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }))).status).toBe(200);
  const { body } = await ask("GET", "/api/admin/jobs", { headers });
  expect(body.results[0]).toMatchObject({ name: "test", residues: E7.length, client: "127.0.0.1" });
  expect(body.workers.length).toBeGreaterThan(0);
  expect(body.memory.bytes).toBeLessThan(body.memory.limit);
  const path = `/api/admin/jobs/${body.results[0].id}`;
  const { status } = await ask("DELETE", path, { headers });
  const [job] = (await ask("GET", "/api/admin/jobs", { headers })).body.results;
  // It may have been quicker.
  expect([
    [204, "cancelled"],
    [409, "finished"],
  ]).toContainEqual([status, job.state]);
  expect((await ask("DELETE", path.slice(0, -1), { headers })).status).toBe(404);
  expect((await ask("GET", "/api/admin/jobs?state=asleep", { headers })).status).toBe(400);
});

test("a backup is made and verified, and the examination says what labd doctor says", async () => {
  const headers = await signIn("ada");
  const made = await ended(await ask("POST", "/api/admin/backups", { headers }), headers);
  expect(made.state).toBe("done");
  const { body: backups } = await ask("GET", "/api/admin/backups", { headers });
  expect(backups).toMatchObject({ hours: 0, directory: join(directory.directory, "backups") });
  const [{ name }] = backups.results;
  const verify = (which: string) =>
    ask("POST", `/api/admin/backups/${encodeURIComponent(which)}/verify`, { headers });
  expect((await ended(await verify(name), headers)).said).toBe(`${name} is whole and can be restored.`);
  expect((await verify("../labd.sqlite")).status).toBe(404);
  const looked = await ended(await ask("POST", "/api/admin/health/examination", { headers }), headers);
  const about = looked.result.map((finding: { about: string }) => finding.about);
  expect(about).toEqual(expect.arrayContaining(["disk", "clock", "database", "corpus", "backup"]));
  expect(looked.result.find((finding: { about: string }) => finding.about === "database").state).toBe("ok");
  const { body: health } = await ask("GET", "/api/admin/health", { headers });
  expect(health.disk.free).toBeGreaterThan(0);
  expect(health.version).toMatch(/^\d+\.\d+\.\d+(\+|$)/);
}, 300_000);

test("labd user add --admin ends the set-up link, and there is none where an administrator is", async () => {
  using directory = scratch();
  await using server = await serve(directory.directory);
  while (!server.log().includes("/setup?key=")) await Bun.sleep(10);
  const link = server.log().match(/http\S+\/setup\?key=\S+/)![0];
  expect((await fetch(link)).status).toBe(200);
  const added = await labd(["user", "add", "ada", "--admin", "--data-dir", directory.directory]);
  expect(added.code).toBe(0);
  expect((await fetch(link)).status).toBe(404);
  await server.end("SIGTERM");
  await using again = await serve(directory.directory);
  expect((await fetch(`${again.url}/healthz`)).status).toBe(200);
  expect(again.log()).not.toContain("/setup");
});
