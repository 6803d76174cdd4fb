import { expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { shownCode } from "../fixtures/authenticator.ts";
import { labd, scratch, type Server, serve } from "./labd.ts";

setDefaultTimeout(300_000);

const PASSWORD = "a long password";
const KEY = "second-factor.key";

async function post(server: Server, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const signIn = (server: Server, code?: string) =>
  post(server, "/api/v2/token-auth/", { username: "ada", password: PASSWORD, code });

async function enrol(server: Server): Promise<{ secret: string; recovery: string[] }> {
  const opened = await post(server, "/api/v2/session/", { username: "ada", password: PASSWORD });
  const headers = {
    Cookie: opened.headers.get("set-cookie")!.split(";")[0],
    "X-CSRFToken": opened.body.csrf_token,
  };
  const { secret } = (await post(server, "/api/account/second-factor", {}, headers)).body;
  const code = shownCode(secret);
  const { body } = await post(server, "/api/account/second-factor/confirm", { code }, headers);
  return { secret, recovery: body.recovery_codes };
}

test("a restore without the key file keeps only recovery codes, and doctor and restore report it", async () => {
  using place = scratch();
  using elsewhere = scratch();
  const on = ["--data-dir", place.directory];
  await labd(["user", "add", "ada", "--admin", "--password-stdin", ...on], { stdin: PASSWORD });
  let made: Awaited<ReturnType<typeof enrol>>;
  {
    await using server = await serve(place.directory);
    made = await enrol(server);
    // It survives what ends the process.
    await server.end("SIGKILL");
  }
  expect((await labd(["doctor", ...on])).stdout).toMatch(
    /^ok +second factor +1 accounts have one, and the key matches/m,
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
    expect(checked.stdout.includes(`${KEY} is missing`)).toBe(secrets !== "");
  }
  const packed = await Bun.file(path.replace(/\.json$/, ".sqlite.zst")).bytes();
  const copy = Buffer.from(await Bun.zstdDecompress(packed));
  expect(copy.includes(id)).toBeTrue();
  expect([copy.includes("whsec_"), copy.includes(secret)]).toEqual([false, false]);
  const there = ["--data-dir", elsewhere.directory];
  const restored = await labd(["restore", path, ...there]);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(`${KEY} is missing`) });
  expect((await labd(["doctor", ...there])).stdout).toMatch(/^problem +second factor +.*for ada\.$/m);
  expect((await labd(["doctor", ...there])).stdout).toMatch(
    /^problem +webhooks +.*deliveries of 1 of 1 webhooks cannot be signed/m,
  );
  await using server = await serve(elsewhere.directory);
  expect(await signIn(server, shownCode(made.secret, 1))).toMatchObject({
    status: 401,
    body: { code: "second_factor_wrong", message: expect.stringContaining(KEY) },
  });
  expect((await signIn(server, made.recovery[0])).status).toBe(200);
  expect((await labd(["user", "totp", "ada", ...there])).stdout).toContain("9 recovery codes remain");
  await server.end("SIGTERM");
  // With the file all is as before; it is read when it is first needed.
  await Bun.write(join(elsewhere.directory, KEY), Bun.file(join(place.directory, KEY)));
  await using again = await serve(elsewhere.directory);
  expect((await signIn(again, shownCode(made.secret, 1))).status).toBe(200);
  expect((await labd(["user", "totp", "ada", "--reset", ...there])).stdout).toStartWith(
    "Removed the second factor",
  );
  expect((await signIn(again)).status).toBe(200);
  rmSync(join(elsewhere.directory, KEY));
});
