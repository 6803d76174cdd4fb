import { expect, setDefaultTimeout, test } from "bun:test";
import { type Ended, LABD, labd, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

const INVALID = 65;
const NOT_FOUND = 66;
const USAGE = 64;
const CONFLICT = 75;

async function session(work: (verb: (words: string[], stdin?: string) => Promise<Ended>) => Promise<void>) {
  using place = scratch();
  await work((words, stdin = "") => labd([...words, "--data-dir", place.directory], { stdin }));
}

test("labd user and labd token name the wrong field or operand", () =>
  session(async (verb) => {
    const add = (...more: string[]) => ["user", "add", "kim", ...more];
    for (const [words, stdin, code, said] of [
      [add("--password-stdin"), "short", INVALID, "password: Expected at least 8 characters."],
      [add("--password-stdin"), "two lines\nof words", INVALID, "password: Expected one line"],
      [add("--email", "nonsense"), "", INVALID, "email: Expected an e-mail address."],
      [["user", "add", "a b"], "", INVALID, "username: expected 1 to 150 letters"],
      [["user", "add", "system"], "", CONFLICT, "there is already a user system"],
      [["user", "add"], "", USAGE, "needs NAME"],
      [["user", "ad", "kim"], "", USAGE, "Did you mean add?"],
      [["user", "disable", "system"], "", CONFLICT, "The system account cannot sign in."],
      [["user", "totp", "kim"], "", NOT_FOUND, "There is no user kim."],
      [["token", "add", "kim"], "", NOT_FOUND, "There is no active user kim."],
      [["token", "revoke", "labd_x"], "", NOT_FOUND, "no valid token"],
      [["token", "revoke"], "", USAGE, "needs an ID"],
    ] as const)
      expect({ words, ...(await verb([...words], stdin)) }).toMatchObject({
        words: [...words],
        code,
        stderr: expect.stringContaining(said),
      });
    const { stdout } = await verb(["user", "list", "--json"]);
    expect((JSON.parse(stdout) as { username: string }[]).map(({ username }) => username)).toEqual([
      "system",
    ]);
  }));

test("a password must be UTF-8", async () => {
  using place = scratch();
  const words = ["user", "add", "kim", "--password-stdin", "--data-dir", place.directory];
  const run = Bun.spawn([LABD, ...words], {
    stdin: new Blob([Uint8Array.from([0xff, 0xfe, ...Buffer.from("long enough")])]),
    stderr: "pipe",
    env: { PATH: "" },
  });
  expect(await new Response(run.stderr).text()).toContain("is not UTF-8");
  expect(await run.exited).toBe(INVALID);
});

test("labd user and labd token manage accounts while the server runs", async () => {
  using place = scratch();
  await using server = await serve(place.directory);
  const verb = async (words: string[], stdin = ""): Promise<string> => {
    const { code, stdout, stderr } = await labd([...words, "--data-dir", place.directory], { stdin });
    expect({ words, code, stderr: code === 0 ? "" : stderr }).toEqual({ words, code: 0, stderr: "" });
    return stdout;
  };
  const sees = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${server.url}/api/v2/users/`, { headers })).status;
  const signIn = (password: string) =>
    fetch(`${server.url}/api/v2/token-auth/`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ username: "ada", password }),
    });

  await verb(
    [
      "user",
      "add",
      "ada",
      "--admin",
      "--full-name",
      "Ada Lovelace",
      "--email",
      "ada@lab",
      "--password-stdin",
    ],
    "a long password\r\n",
  );
  expect((await signIn("a long password")).status).toBe(200);
  // The link for the first administrator is good for nothing as soon as there is one.
  const link = server.log().match(/http\S+\/setup\?key=\S+/)![0];
  expect((await fetch(link)).status).toBe(404);
  const token = (await verb(["token", "add", "ada", "--name", "my script", "--days", "30"])).trim();
  const reading = (await verb(["token", "add", "ada", "--read-only"])).trim();
  for (const one of [token, reading]) {
    expect(one).toMatch(/^labd_[\w-]{43}$/);
    expect(await sees({ Authorization: `Token ${one}` })).toBe(200);
  }
  const write = (one: string) =>
    fetch(`${server.url}/api/v2/projects/`, {
      method: "POST",
      headers: { Authorization: `Token ${one}`, "Content-Type": "application/json" },
      body: JSON.stringify({ name: `by ${one.slice(5, 9)}` }),
    });
  expect([(await write(token)).status, (await write(reading)).status]).toEqual([201, 403]);
  for (const name of ["", "x".repeat(256)])
    expect((await labd(["token", "add", "ada", "--name", name, "--data-dir", place.directory])).code).toBe(
      INVALID,
    );
  const listed = JSON.parse(await verb(["token", "list", "ada", "--json"])) as {
    name: string;
    scope: string;
  }[];
  expect(listed.map(({ name, scope }) => [name, scope])).toEqual([
    ["command line", "read"],
    ["my script", "write"],
    ["token-auth", "write"],
  ]);
  const table = await verb(["token", "list"]);
  expect(table).toContain(token.slice(0, 12));
  expect(table).not.toContain(token.slice(0, 16));
  await verb(["token", "revoke", token.slice(0, 12)]);
  expect(await sees({ Authorization: `Token ${token}` })).toBe(401);
  expect(await verb(["token", "revoke", "--user", "ada"])).toContain("Revoked 2 tokens of ada.");
  expect(await sees({ Authorization: `Token ${reading}` })).toBe(401);
  expect(await verb(["token", "list"])).not.toContain("labd_");
  expect(await verb(["token", "list", "--all"])).toContain(token.slice(0, 12));

  await verb(["user", "add", "kim"]);
  await verb(["user", "password", "ada", "--password-stdin"], "another password");
  expect([(await signIn("a long password")).status, (await signIn("another password")).status]).toEqual([
    401, 200,
  ]);
  expect(await labd(["user", "disable", "ada", "--data-dir", place.directory])).toMatchObject({
    code: CONFLICT,
  });
  await verb(["user", "disable", "kim"]);
  expect(await verb(["user", "list"])).toMatch(/^kim .* disabled /m);
  await verb(["user", "enable", "kim"]);
  expect(await verb(["user", "list"])).toMatch(/^kim .* active /m);
});

const python = Bun.which("python3");
if (!python)
  process.stderr.write("python3 is not here: the prompt for a password at a terminal is not tested.\n");

/** Types at a terminal, and prints what that shows. */
const TERMINAL = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b""
typed = False
while True:
    try:
        chunk = os.read(terminal, 1024)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    if not typed and b"Password: " in shown:
        typed = True
        os.write(terminal, "a long pasx\\x7fsword ä\\r".encode())
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

test.skipIf(!python)("a terminal prompts for the password without echo", async () => {
  using place = scratch();
  const words = ["user", "add", "kim", "--password-stdin", "--data-dir", place.directory];
  const run = Bun.spawn([python!, "-c", TERMINAL, LABD, ...words], { stdout: "pipe", stderr: "inherit" });
  const shown = await new Response(run.stdout).text();
  expect(await run.exited).toBe(0);
  expect(shown.replaceAll("\r\n", "\n")).toBe(
    "Password: \nAdded kim. To add a token for clients: labd token add kim\n",
  );
  await using server = await serve(place.directory);
  const answer = await fetch(`${server.url}/api/v2/token-auth/`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ username: "kim", password: "a long password ä" }),
  });
  expect(answer.status).toBe(200);
});
