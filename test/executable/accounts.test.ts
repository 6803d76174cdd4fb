import { expect, setDefaultTimeout, test } from "bun:test";
import { LABD, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

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
