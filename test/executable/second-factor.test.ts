import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DATABASE } from "../../src/app/data-directory.ts";
import { shownCode } from "../fixtures/authenticator.ts";
import { labd, scratch, type Server, serve } from "./labd.ts";

/** A second factor as programs meet it: no way in by a password gets around it, and a backup does not hold it. */

// A busy machine takes its time.
setDefaultTimeout(300_000);

const PASSWORD = "a long password";
const KEY = "second-factor.key";

// As JSON comes.
// oxlint-disable-next-line no-explicit-any
type Parsed = Record<string, any>;

async function ask(
  server: Server,
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Parsed; headers: Headers }> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      "Content-Type": typeof body === "string" ? "application/x-www-form-urlencoded" : "application/json",
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    redirect: "manual",
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text.startsWith("{") ? JSON.parse(text) : {},
    headers: response.headers,
  };
}
const signIn = (server: Server, code?: string) =>
  ask(server, "POST", "/api/v2/token-auth/", { username: "ada", password: PASSWORD, code });

async function sessionOf(server: Server, code?: string): Promise<Record<string, string>> {
  const opened = await ask(server, "POST", "/api/v2/session/", { username: "ada", password: PASSWORD, code });
  expect(opened.status).toBe(200);
  const Cookie = opened.headers.get("set-cookie")!.split(";")[0];
  return { Cookie, "X-CSRFToken": opened.body.csrf_token };
}
async function enrol(server: Server, headers: Record<string, string>) {
  const { secret } = (await ask(server, "POST", "/api/account/second-factor", {}, headers)).body;
  const code = shownCode(secret);
  const { status, body } = await ask(server, "POST", "/api/account/second-factor/confirm", { code }, headers);
  expect(status).toBe(200);
  return { secret: String(secret), used: code, recovery: body.recovery_codes as string[] };
}
const wrongBy = (field: string, code: string, status = 401) => ({
  status,
  body: { code, field, message: expect.stringMatching(new RegExp(`^${field}: `)) },
});

test("every way in by a password asks for the code, and none of its secrets is anywhere but in its place", async () => {
  using place = scratch();
  const on = ["--data-dir", place.directory];
  await labd(["user", "add", "ada", "--admin", "--password-stdin", ...on], { stdin: PASSWORD });
  const token = (await labd(["token", "add", "ada", ...on])).stdout.trim();
  await using server = await serve(place.directory);
  expect(existsSync(join(place.directory, KEY))).toBe(false);
  const session = await sessionOf(server);
  const other = await sessionOf(server);
  // No program looks after it.
  const byToken = { Authorization: `Token ${token}` };
  expect((await ask(server, "POST", "/api/account/second-factor", {}, byToken)).status).toBe(403);
  const { secret, used, recovery } = await enrol(server, session);
  expect(statSync(join(place.directory, KEY)).mode & 0o777).toBe(0o600);
  expect((await ask(server, "GET", "/api/v2/users/", undefined, other)).status).toBe(401);
  expect((await ask(server, "GET", "/api/account/second-factor", undefined, session)).body).toMatchObject({
    on: true,
    recovery_codes: 10,
  });

  expect(await signIn(server)).toMatchObject(wrongBy("code", "second_factor_required"));
  expect(await signIn(server, "000000")).toMatchObject(wrongBy("code", "second_factor_wrong"));
  expect(await signIn(server, used)).toMatchObject(wrongBy("code", "second_factor_wrong"));
  const number = await ask(server, "POST", "/api/v2/token-auth/", {
    username: "ada",
    password: PASSWORD,
    code: 123456,
  });
  expect(number).toMatchObject(wrongBy("code", "invalid_request", 400));
  expect((await signIn(server, shownCode(secret, 1))).body.token).toStartWith("labd_");
  const form = (code: string) => `username=ada&password=${encodeURIComponent(PASSWORD)}&code=${code}`;
  expect((await ask(server, "POST", "/api/v2/session/", form(recovery[0]))).status).toBe(303);
  expect((await ask(server, "POST", "/api/v2/session/", form(recovery[0]))).status).toBe(401);
  const Authorization = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString("base64")}`;
  for (const [method, path] of [
    ["GET", "/api/v2/users/"],
    ["POST", "/api/v2/tokens/"],
    ["GET", "/api/admin/health"],
  ])
    expect(
      await ask(server, method, path, method === "POST" ? { name: "x" } : undefined, { Authorization }),
    ).toMatchObject({
      status: 401,
      body: { code: "second_factor_required", message: expect.stringContaining("use a token") },
    });
  expect((await ask(server, "GET", "/api/admin/health", undefined, byToken)).status).toBe(200);
  // A link that sets a password stands for the password alone.
  const { url } = (await ask(server, "POST", "/api/admin/users/ada/password-link", {}, byToken)).body;
  const key = new URL(url).searchParams.get("key");
  const set = await ask(server, "POST", "/api/account/password", { key, password: PASSWORD });
  expect([set.status, set.body.csrf_token, set.headers.get("set-cookie")]).toEqual([200, null, null]);

  const exported = (await labd(["audit", "export", ...on])).stdout;
  const listed = (await labd(["user", "list", "--json", ...on])).stdout;
  expect(JSON.parse(listed)[0]).toMatchObject({ username: "ada", second_factor: true });
  const files = readdirSync(place.directory)
    .filter((name) => name.startsWith("labd.sqlite"))
    .map((name) => readFileSync(join(place.directory, name), "latin1"));
  for (const text of [exported, listed, server.log(), ...files])
    for (const one of [secret, ...recovery, ...recovery.map((code) => code.replaceAll("-", ""))])
      expect(text.includes(one)).toBe(false);
});

test("after a restore elsewhere codes of apps are not taken, recovery codes are, and doctor and restore say so", async () => {
  using place = scratch();
  using elsewhere = scratch();
  const on = ["--data-dir", place.directory];
  await labd(["user", "add", "ada", "--admin", "--password-stdin", ...on], { stdin: PASSWORD });
  let made: Awaited<ReturnType<typeof enrol>>;
  {
    await using server = await serve(place.directory);
    made = await enrol(server, await sessionOf(server));
    // It survives what ends the process.
    await server.end("SIGKILL");
  }
  expect((await labd(["doctor", ...on])).stdout).toMatch(
    /^ok +second factor +1 accounts have one, and the key fits/m,
  );
  const hook = await labd(["webhook", "add", "https://lab.example/hook", "--user", "ada", ...on]);
  const [, id, secret] = /^webhook (\S+)\nsecret  whsec_(\S+)\n$/.exec(hook.stdout)!;
  const [path] = (await labd(["backup", ...on])).stdout.split("\n");
  for (const [dir, secrets] of [
    [place.directory, ""],
    [
      elsewhere.directory,
      `${KEY} is missing: deliveries of 1 of 1 webhooks cannot be signed and are not sent: ${id}`,
    ],
  ]) {
    const checked = await labd(["restore", "--check", path, "--data-dir", dir]);
    expect(checked.code).toBe(0);
    expect(checked.stdout).toContain("can be restored.\n");
    expect(checked.stdout.split("can be restored.\n")[1]).toContain(secrets);
    expect(checked.stdout.includes(KEY)).toBe(secrets !== "");
  }
  const packed = await Bun.file(path.replace(/\.json$/, ".sqlite.zst")).bytes();
  const copy = Buffer.from(await Bun.zstdDecompress(packed));
  expect(copy.includes(id)).toBeTrue();
  expect([copy.includes("whsec_"), copy.includes(secret)]).toEqual([false, false]);
  const there = ["--data-dir", elsewhere.directory];
  const restored = await labd(["restore", path, ...there]);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(`${KEY} is missing`) });
  expect((await labd(["doctor", ...there])).stdout).toMatch(/^problem +second factor +.*from ada\.$/m);
  expect((await labd(["doctor", ...there])).stdout).toMatch(
    /^problem +webhooks +.*deliveries of 1 of 1 webhooks cannot be signed/m,
  );
  await using server = await serve(elsewhere.directory);
  expect(await signIn(server, shownCode(made.secret, 1))).toMatchObject({
    status: 401,
    body: { code: "second_factor_wrong", message: expect.stringContaining(KEY) },
  });
  expect((await signIn(server, made.recovery[0])).status).toBe(200);
  expect((await labd(["user", "totp", "ada", ...there])).stdout).toContain("9 recovery codes are left");
  await server.end("SIGTERM");
  // With the file all is as before; it is read when it is first needed.
  await Bun.write(join(elsewhere.directory, KEY), Bun.file(join(place.directory, KEY)));
  await using again = await serve(elsewhere.directory);
  expect((await signIn(again, shownCode(made.secret, 1))).status).toBe(200);
  expect((await labd(["user", "totp", "ada", "--reset", ...there])).stdout).toStartWith(
    "Took the second factor",
  );
  expect((await signIn(again)).status).toBe(200);
  rmSync(join(elsewhere.directory, KEY));
});

test("a session from a while ago gives the password once more before what outlives it; a token does not", async () => {
  using place = scratch();
  const on = ["--data-dir", place.directory];
  await labd(["user", "add", "ada", "--admin", "--password-stdin", ...on], { stdin: PASSWORD });
  await labd(["user", "add", "kim", ...on]);
  await using server = await serve(place.directory);
  const session = await sessionOf(server);
  const program = { Authorization: `Token ${(await signIn(server)).body.token}` };
  /** Has the session be of somebody who showed long ago who it is. */
  const grow = (): void => {
    using database = new Database(join(place.directory, DATABASE));
    database.run("PRAGMA busy_timeout = 10000");
    database.run("UPDATE session SET confirmed = 1");
  };
  const token = { name: "a program" };
  expect((await ask(server, "POST", "/api/v2/tokens/", token, session)).status).toBe(201);
  const things: [string, string, object?][] = [
    ["POST", "/api/v2/tokens/", token],
    ["POST", "/api/account/second-factor", {}],
    ["POST", "/api/account/second-factor/confirm", { code: "123456" }],
    ["POST", "/api/admin/users/kim/password-link"],
    ["DELETE", "/api/admin/users/kim/second-factor"],
    ["PATCH", "/api/v2/users/ada/", { password: "another long password" }],
    ["PATCH", "/api/v2/users/kim/", { is_superuser: true }],
    ["POST", "/api/v2/users/", { username: "lee", password: PASSWORD }],
    ["POST", "/api/admin/users/kim/identities", { provider: "ldap", who: "kim" }],
  ];
  grow();
  for (const [method, path, body] of things)
    expect([path, await ask(server, method, path, body, session)]).toMatchObject([
      path,
      {
        status: 403,
        body: { code: "confirmation_required", field: "current_password", by: "password" },
      },
    ]);
  // With the request itself, which is no other where the password is wrong.
  const wrong = await ask(
    server,
    "POST",
    "/api/v2/tokens/",
    { ...token, current_password: "wrong" },
    session,
  );
  expect(wrong).toMatchObject({ status: 400, body: { current_password: [expect.any(String)] } });
  const right = { ...token, current_password: PASSWORD };
  expect((await ask(server, "POST", "/api/v2/tokens/", right, session)).status).toBe(201);
  grow();
  const confirm = (current_password: string, headers: Record<string, string>) =>
    ask(server, "POST", "/api/account/confirmation", { current_password }, headers);
  expect((await confirm("wrong", session)).status).toBe(400);
  expect((await confirm(PASSWORD, program)).status).toBe(403);
  // No other site has it done by the cookie.
  const foreign = { Cookie: session.Cookie, Origin: "https://evil.example" };
  expect((await confirm(PASSWORD, foreign)).status).toBe(403);
  // What opens nothing goes on without it.
  for (const [method, path, body] of [
    ["PATCH", "/api/v2/users/kim/", { full_name: "Kim" }],
    ["PATCH", "/api/v2/users/ada/", { is_superuser: true }],
    ["POST", "/api/v2/users/", { username: "max" }],
  ] as const)
    expect([path, (await ask(server, method, path, body, session)).status]).toEqual([
      path,
      method === "POST" ? 201 : 200,
    ]);
  expect((await confirm(PASSWORD, session)).status).toBe(204);
  expect((await ask(server, "POST", "/api/admin/users/kim/password-link", undefined, session)).status).toBe(
    200,
  );
  grow();
  expect((await ask(server, "POST", "/api/v2/tokens/", token, program)).status).toBe(201);
  expect((await ask(server, "POST", "/api/admin/users/kim/password-link", undefined, program)).status).toBe(
    200,
  );
});
