import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { shownCode } from "../fixtures/authenticator.ts";
import { labd, scratch, serve } from "./labd.ts";
import { CAN_MOUNT, fill, smallDisk, UNLESS_MOUNTED } from "./small-disk.ts";

/** A disk without a free byte: people sign in with every kind of credential, read everything, and delete. */

const PASSWORD = "a long password";
const LIST = "/api/v2/locations/";

type Headers = Record<string, string>;

async function openLab(data: string) {
  const env = { LABD_DATA_DIR: data };
  await labd(["corpus", "add", "--sample"], { env });
  for (const name of ["ada", "ben"])
    await labd(["user", "add", name, "--admin", "--password-stdin"], { env, stdin: PASSWORD });
  const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
  const start = () => serve(join(data, ".."), ["--data-dir", data, "--workers", "1", "--log", "problems"]);
  const lab = {
    start,
    token: { Authorization: `Token ${token}` } as Headers,
    server: await start(),
    async ask(method: string, path: string, headers: Headers, body?: unknown) {
      const response = await fetch(lab.server.url + path, {
        method,
        headers: { "Content-Type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    /** A session, as the headers that use it. */
    async signIn(username: string, code?: string): Promise<Headers> {
      const { status, headers, text } = await lab.ask(
        "POST",
        "/api/v2/session/",
        {},
        { username, password: PASSWORD, code },
      );
      expect([username, status, text]).toEqual([username, 200, expect.stringContaining("csrf_token")]);
      const { csrf_token } = JSON.parse(text) as { csrf_token: string };
      return { Cookie: headers.getSetCookie()[0].split(";")[0], "X-CSRFToken": csrf_token };
    },
  };
  return lab;
}

type Lab = Awaited<ReturnType<typeof openLab>>;

/** Ben's second factor. @returns its secret */
async function enrol(lab: Lab): Promise<string> {
  const session = await lab.signIn("ben");
  const { secret } = JSON.parse((await lab.ask("POST", "/api/account/second-factor", session, {})).text) as {
    secret: string;
  };
  const done = await lab.ask("POST", "/api/account/second-factor/confirm", session, {
    code: shownCode(secret),
  });
  expect(done.status).toBe(200);
  return secret;
}

const PATHS = [
  LIST,
  `${LIST}?page_size=max&ordering=-description`,
  `${LIST}?format=xlsx`,
  `${LIST}?description__contains=xx`,
  "/api/v2/changes/",
  "/api/account/sessions",
  "/api/admin/health",
  "/api/scoring/corpus",
];

async function readsEverything(lab: Lab, headers: Headers): Promise<void> {
  for (const path of PATHS) {
    const { status } = await lab.ask("GET", path, headers);
    expect([path, status]).toEqual([path, 200]);
  }
}

/** Signs in by session, for a token, by Basic, and with a second factor; each reads. */
async function signsIn(lab: Lab, secret: string): Promise<void> {
  const basic = { Authorization: `Basic ${btoa(`ada:${PASSWORD}`)}` };
  const made = await lab.ask("POST", "/api/v2/token-auth/", {}, { username: "ada", password: PASSWORD });
  expect([made.status, made.text]).toEqual([200, expect.stringContaining("token")]);
  const { token } = JSON.parse(made.text) as { token: string };
  const sessions = [await lab.signIn("ada"), await lab.signIn("ben", shownCode(secret, 1))];
  for (const headers of [basic, lab.token, { Authorization: `Token ${token}` }, ...sessions])
    await readsEverything(lab, headers);
  const wrong = await lab.ask("POST", "/api/v2/session/", {}, { username: "ada", password: "wrong" });
  expect(wrong.status).toBe(401);
  const [session] = sessions;
  const confirmed = await lab.ask("POST", "/api/account/confirmation", session, {
    current_password: PASSWORD,
  });
  expect(confirmed.status).toBe(204);
  expect((await lab.ask("DELETE", "/api/v2/session/", session)).status).toBe(204);
}

test.skipIf(!CAN_MOUNT)(
  `on a full disk people sign in, read and delete, also after a kill${UNLESS_MOUNTED}`,
  async () => {
    using place = scratch();
    using disk = smallDisk(place.directory, 24)!;
    const lab = await openLab(join(disk.directory, "data"));
    const secret = await enrol(lab);
    const some = Array.from({ length: 1500 }, (_, i) => ({ label: `l ${i}`, description: "x".repeat(200) }));
    const made = JSON.parse((await lab.ask("POST", LIST, lab.token, some)).text) as { id: string }[];
    const filler = join(disk.directory, "filler");
    fill(filler);
    const refused = await lab.ask("POST", LIST, lab.token, { label: "refused" });
    expect([refused.status, refused.text]).toEqual([507, expect.stringContaining("Free space on the disk")]);
    await signsIn(lab, secret);
    for (const { id } of made.slice(0, 50)) {
      const { status, text } = await lab.ask("DELETE", `${LIST}${id}/`, lab.token);
      expect([status, text]).toEqual([expect.any(Number), expect.not.stringContaining("full")]);
      expect(status).toBeLessThan(300);
    }
    const ids = made.slice(50, 70).map(({ id }) => id);
    const bulk = await lab.ask("POST", `${LIST}bulk_delete/`, lab.token, { ids });
    expect([bulk.status < 300, bulk.text.slice(0, 200)]).toEqual([true, expect.any(String)]);
    const purged = await lab.ask("POST", `${LIST}${ids[0]}/purge/`, lab.token);
    expect([purged.status < 300, purged.text]).toEqual([true, expect.any(String)]);
    // Of what deletions gave back, others take nothing.
    expect((await lab.ask("POST", LIST, lab.token, { label: "refused" })).status).toBe(507);
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      await lab.server.end(signal);
      fill(join(disk.directory, `filler of ${signal}`));
      lab.server = await lab.start();
      const session = await lab.signIn("ada");
      await readsEverything(lab, session);
      expect(
        (await lab.ask("DELETE", `${LIST}${made.at(signal === "SIGKILL" ? -1 : -2)!.id}/`, lab.token)).status,
      ).toBeLessThan(300);
    }
    for (const name of ["filler", "filler of SIGKILL", "filler of SIGTERM"])
      rmSync(join(disk.directory, name));
    expect((await lab.ask("POST", LIST, lab.token, { label: "accepted" })).status).toBe(201);
    const entries = await lab.ask("GET", "/api/admin/audit?action=sign_in&page_size=100", lab.token);
    expect(entries.text.match(/"action":"sign_in"/g)!.length).toBeGreaterThan(6);
    expect(await lab.server.end("SIGTERM")).toBe(0);
  },
  300_000,
);
