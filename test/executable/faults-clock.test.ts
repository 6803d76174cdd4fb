import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSigned, openReceiver } from "../webhooks/receiver.ts";
import { E7, labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

/** A clock that jumps ahead and back by hours while the service serves. Needs libfaketime (Debian: faketime). */

const LIBRARY = [...new Bun.Glob("/usr/lib/*/faketime/libfaketime.so.1").scanSync("/")][0];
const CAN_FAKE = process.platform === "linux" && LIBRARY !== undefined && existsSync(LIBRARY);
const PASSWORD = "a password";
const HOUR = 3_600_000;
// As JSON comes.
// oxlint-disable-next-line no-explicit-any
const parsed = (text: string): any => JSON.parse(text || "{}");

const LIST = "/api/v2/locations/";

test.skipIf(!CAN_FAKE)(
  `a clock that jumps five hours ahead and eight back loses, locks out and holds up nothing${CAN_FAKE ? "" : " (SKIPPED: libfaketime is not installed)"}`,
  async () => {
    using place = scratch();
    const env = { LABD_DATA_DIR: place.directory };
    await labd(["corpus", "add", "--sample"], { env });
    await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: `${PASSWORD}\n` });
    const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
    const clock = join(place.directory, "clock");
    /** Hours from the true time, from the next request on. */
    const setClock = (hours: number): void => writeFileSync(clock, `${hours < 0 ? "" : "+"}${hours}h`);
    setClock(0);
    const words = "--workers 1 --log problems --webhook-allow 127.0.0.0/8";
    const fake = {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: "1",
      DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    const start = () => serve(place.directory, words.split(" "), fake);
    let server = await start();
    const ask = async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const response = await fetch(server.url + path, {
        method,
        headers: { Authorization: `Token ${token}`, "Content-Type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: parsed(text) };
    };
    const signIn = async (username: string, password = "wrong"): Promise<number> =>
      (await ask("POST", "/api/v2/token-auth/", { username, password }, { Authorization: "" })).status;
    const signIns = async (username: string): Promise<number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < 11; i++) statuses.push(await signIn(username));
      return statuses;
    };
    const now = async (): Promise<number> => Date.parse((await ask("GET", "/api/admin/health")).body.now);

    await using receiver = openReceiver();
    const hook = await ask("POST", "/api/webhooks/", {
      url: receiver.url,
      events: ["record.created", "record.updated"],
    });
    const session = await ask(
      "POST",
      "/api/v2/session/",
      { username: "ada", password: PASSWORD },
      { Authorization: "", Origin: server.url },
    );
    const cookie = session.headers.get("set-cookie")!.split(";")[0];
    const isSignedIn = async (): Promise<boolean> =>
      (await ask("GET", "/api/v2/session/", undefined, { Authorization: "", Cookie: cookie })).status === 200;
    const jobs: string[] = [];
    const submit = async (): Promise<void> => {
      for (let i = 0; i < 3; i++) {
        const querySequence = E7 + "A".repeat(jobs.length);
        jobs.push((await ask("POST", "/api/scoring/jobs", { querySequence, patterns: ["L.C.E"] })).body.id);
      }
    };
    const changed = async (record: { id: string; tag: string }, description: string): Promise<void> => {
      const answer = await ask("PATCH", `${LIST}${record.id}/`, { description }, { "If-Match": record.tag });
      expect(answer.status).toBe(200);
      record.tag = answer.headers.get("etag")!;
    };
    const made = await ask("POST", LIST, { label: "kept" });
    const record = {
      id: made.body.id as string,
      tag: (await ask("GET", `${LIST}${made.body.id}/`)).headers.get("etag")!,
    };
    expect(await signIns("kim")).toEqual([...Array(10).fill(401), 429]);
    await waitFor(() => receiver.got.length === 1);
    const begun = await now();

    // Ahead, while jobs run, and while a delivery waits for its next attempt.
    receiver.answers.push(500);
    await changed(record, "before");
    await waitFor(() => receiver.got.length === 2);
    await submit();
    setClock(5);
    await waitFor(async () => (await now()) - begun > 4 * HOUR);
    await waitFor(() => receiver.got.length === 3);
    expect(await isSignedIn()).toBe(true);
    // The delay is over, and the next one begins.
    expect(await signIns("kim")).toEqual([401, ...Array(10).fill(429)]);
    await changed(record, "ahead");
    await submit();
    await waitFor(() => receiver.got.length === 4);
    receiver.answers.push(500);
    await changed(record, "ahead again");
    await waitFor(() => receiver.got.length === 5);

    // Back, behind where it began.
    setClock(-3);
    await waitFor(async () => (await now()) - begun < -2 * HOUR);
    // Tried again at once, not in eight hours.
    await waitFor(() => receiver.got.length === 6);
    expect(await isSignedIn()).toBe(true);
    expect(await signIn("ada", PASSWORD)).toBe(200);
    expect(await signIns("kim")).toEqual([...Array(10).fill(401), 429]);
    await changed(record, "back");
    await submit();
    const doctor = await labd(["doctor"], { env: { ...env, ...fake } });
    expect(doctor.stdout).toMatch(/(warning|problem)\s+clock/);

    // A process that begins in the past goes on with what was queued in the future.
    await server.end("SIGKILL");
    server = await start();
    await submit();
    await changed(record, "after the start");
    setClock(0);
    await changed(record, "in time again");
    for (const job of jobs)
      await waitFor(async () => (await ask("GET", `/api/scoring/jobs/${job}`)).body.state === "finished");
    expect(new Set(jobs).size).toBe(12);
    for (const job of jobs) expect(job).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);

    // History never goes back, and tells all of it in the order in which it was.
    const { results } = (await ask("GET", `${LIST}${record.id}/history/`)).body as {
      results: { at: string; version: number; after: { description?: string } }[];
    };
    expect(results.map(({ version }) => version)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    const times = results.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    await waitFor(() => receiver.got.length === 9);
    const { secret } = hook.body as { secret: string };
    expect(receiver.got.map(({ data }) => data.version)).toEqual([1, 2, 2, 3, 4, 4, 5, 6, 7]);
    expect(isSigned(secret, receiver.got.at(-1)!)).toBe(true);
    expect((await labd(["audit", "verify"], { env })).code).toBe(0);
    expect((await labd(["backup", "--to", join(place.directory, "backups")], { env })).code).toBe(0);
    expect(server.log()).not.toContain('"severity":"error"');
    expect(await server.end("SIGTERM")).toBe(0);
  },
  300_000,
);
