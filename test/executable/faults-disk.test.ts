import { expect, test } from "bun:test";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { E7, labd, post, runJobMessage, scratch, serve, type Server } from "./labd.ts";
import { CAN_MOUNT, failingDisk, fill, smallDisk, UNLESS_MOUNTED } from "./small-disk.ts";
import { waitFor } from "../wait.ts";

/** A disk that is full, or becomes read-only, while records are written: refused in clear words, read on, whole afterwards. */

const CAN_FAIL = ((): boolean => {
  using place = scratch();
  using disk = CAN_MOUNT ? failingDisk(place.directory) : null;
  return disk !== null;
})();
const UNLESS_FAILED = CAN_FAIL ? "" : " (SKIPPED: no file system here can be made to fail)";

interface Said {
  status: number;
  text: string;
}

const LIST = "/api/v2/locations/";

/** A server on a data directory, and who asks it. */
async function openLab(data: string) {
  const env = { LABD_DATA_DIR: data };
  await labd(["corpus", "add", "--sample"], { env });
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "a password\n" });
  const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
  const start = (): Promise<Server> =>
    serve(join(data, ".."), ["--data-dir", data, "--workers", "1", "--log", "problems"]);
  const lab = {
    env,
    start,
    server: await start(),
    async ask(method: string, path: string, body?: unknown, type = "application/json"): Promise<Said> {
      const isForm = body instanceof FormData;
      const response = await fetch(lab.server.url + path, {
        method,
        headers: { Authorization: `Token ${token}`, ...(isForm ? {} : { "Content-Type": type }) },
        ...(body === undefined
          ? {}
          : { body: isForm || typeof body === "string" ? (body as string) : JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
    /** State of a job once it has ended. */
    ended: (job: string): Promise<string> =>
      waitFor(async () => {
        const { text } = await lab.ask("GET", `/api/scoring/jobs/${job}`);
        const { state } = JSON.parse(text) as { state: string };
        return state !== "queued" && state !== "running" && state;
      }),
    async labels(): Promise<string[]> {
      const { text } = await lab.ask("GET", `${LIST}?page_size=max&fields=label`);
      return (JSON.parse(text) as { results: { label: string }[] }).results.map(({ label }) => label);
    },
  };
  return lab;
}

type Lab = Awaited<ReturnType<typeof openLab>>;

const LONG = "x".repeat(4000);
const rows = (name: string): string =>
  `label,description\n${Array.from({ length: 60 }, (_, i) => `${name} ${i},${LONG}`).join("\n")}\n`;

/** Writes that need more than a full disk has, by name. Each is refused with this code. */
async function refusals(lab: Lab, record: string): Promise<Record<string, Said>> {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(400_000)], "a.bin"));
  const many = Array.from({ length: 60 }, (_, i) => ({ label: `refused ${i}`, description: LONG }));
  return {
    "create several": await lab.ask("POST", LIST, many),
    import: await lab.ask("POST", `${LIST}import/?match=none`, rows("refused row"), "text/csv"),
    "import, later": await lab.ask(
      "POST",
      `${LIST}import/?match=none&background=1`,
      rows("refused later"),
      "text/csv",
    ),
    upload: await lab.ask("POST", `/api/v2/attachments/?app=stocks&model=location&object_id=${record}`, form),
  };
}

async function readsGoOn(lab: Lab, record: string): Promise<void> {
  for (const path of [
    LIST,
    `${LIST}${record}/`,
    `${LIST}?format=xlsx`,
    "/healthz",
    "/metrics",
    "/api/admin/health",
    "/api/scoring/corpus",
  ])
    expect([path, (await lab.ask("GET", path)).status]).toEqual([path, 200]);
}

async function isWhole(lab: Lab): Promise<void> {
  const { code, stdout } = await labd(["audit", "verify"], { env: lab.env });
  expect([code, stdout]).toEqual([0, expect.stringContaining("intact")]);
  const found = await labd(["doctor", "--format", "json"], { env: lab.env });
  expect(found.stdout).toMatch(/intact, and up to date/);
}

test.skipIf(!CAN_MOUNT)(
  `on a full disk writes return 507 until there is space, and reads continue${UNLESS_MOUNTED}`,
  async () => {
    using place = scratch();
    using disk = smallDisk(place.directory, 8)!;
    const lab = await openLab(join(disk.directory, "data"));
    const first = JSON.parse((await lab.ask("POST", LIST, { label: "first" })).text) as { id: string };
    const accepted = ["first"];
    // Some of these will be running when the process is killed.
    const jobs: string[] = [];
    for (let i = 0; i < 12; i++) {
      const body = { querySequence: E7.repeat(12) + "A".repeat(i), patterns: ["L.C.E"] };
      jobs.push((JSON.parse((await lab.ask("POST", "/api/scoring/jobs", body)).text) as { id: string }).id);
    }
    const filler = join(disk.directory, "filler");
    fill(filler);
    expect(statSync(filler).size).toBeGreaterThan(100_000);
    // Writes may still succeed in the reserve of the log; afterwards none of this size does.
    let answer: Said = { status: 201, text: "" };
    for (let i = 0; i < 3000 && answer.status === 201; i++) {
      answer = await lab.ask("POST", LIST, { label: `record ${i}`, description: LONG });
      if (answer.status === 201) accepted.push(`record ${i}`);
    }
    expect(answer).toMatchObject({ status: 507, text: expect.stringContaining("disk_full") });
    for (const [what, { status, text }] of Object.entries(await refusals(lab, first.id)))
      expect([what, status, text]).toEqual([what, 507, expect.stringContaining("The data disk is full")]);
    await readsGoOn(lab, first.id);
    expect(await lab.ask("GET", "/readyz")).toMatchObject({
      status: 503,
      text: expect.stringContaining("The data disk is full"),
    });
    const rejected = await post(lab.server.url, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }));
    expect(rejected).toMatchObject({ status: 500, text: expect.stringContaining("The data disk is full") });
    const command = await labd(["backup"], { env: lab.env });
    expect([command.code, command.stderr]).toEqual([74, expect.stringContaining("Free some space")]);
    const doctor = await labd(["doctor"], { env: lab.env });
    expect(doctor.stdout).toContain("On a full disk nothing new is accepted; existing data stay.");
    // The result of a job finds no room either.
    await waitFor(() => lab.server.log().includes("database or disk is full"), lab.server.log);
    expect(lab.server.log()).not.toContain("    at ");
    expect(await lab.labels()).toEqual(accepted.toSorted());
    // Killed amid that, and then stopped, it reads again on the same full disk; jobs wait until there is room.
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const code = await lab.server.end(signal);
      if (signal === "SIGTERM") expect([code, lab.server.log()]).toEqual([0, expect.any(String)]);
      lab.server = await lab.start();
    }
    await readsGoOn(lab, first.id);
    expect(await lab.labels()).toEqual(accepted.toSorted());
    // By itself, as soon as there is room.
    rmSync(filler);
    expect(await lab.ask("GET", "/readyz")).toEqual({ status: 200, text: '{"status":"ready"}' });
    expect((await lab.ask("POST", LIST, { label: "zuletzt", description: LONG })).status).toBe(201);
    expect(
      (await lab.ask("POST", "/api/scoring/jobs", { querySequence: E7, patterns: ["L.C.E"] })).status,
    ).toBe(202);
    expect(await lab.labels()).toEqual([...accepted.toSorted(), "zuletzt"]);
    for (const job of jobs) expect([job, await lab.ended(job)]).toEqual([job, "finished"]);
    await isWhole(lab);
    expect(await lab.server.end("SIGTERM")).toBe(0);
  },
  300_000,
);

test.skipIf(!CAN_FAIL)(
  `on a read-only disk writes return 503, reads continue, and a start explains the error${UNLESS_FAILED}`,
  async () => {
    using place = scratch();
    using disk = failingDisk(place.directory)!;
    const data = join(disk.directory, "data");
    const lab = await openLab(data);
    const first = JSON.parse((await lab.ask("POST", LIST, { label: "first" })).text) as { id: string };
    disk.fail();
    const one = await lab.ask("POST", LIST, { label: "refused" });
    const all = { "create one": one, ...(await refusals(lab, first.id)) };
    for (const [what, { status, text }] of Object.entries(all))
      expect([what, status, text]).toEqual([what, 503, expect.stringContaining("disk_failed")]);
    await readsGoOn(lab, first.id);
    const job = await lab.ask("POST", "/api/scoring/jobs", { querySequence: E7, patterns: ["L.C.E"] });
    expect([job.status, JSON.parse(job.text).code]).toEqual([503, "busy"]);
    const token = await labd(["token", "add", "ada"], { env: lab.env });
    expect([token.code, token.stderr]).toEqual([
      74,
      expect.stringContaining("The data disk cannot be written"),
    ]);
    await lab.server.end("SIGKILL");
    const started = await labd(["serve", "--port", "0"], { env: lab.env });
    expect([started.code, started.stderr]).toEqual([
      74,
      expect.stringMatching(/The data directory \S+ cannot be written: .+ Check the disk, its mount options/),
    ]);
    expect(disk.repair()).toBe(true);
    expect(existsSync(data)).toBe(true);
    lab.server = await lab.start();
    expect((await lab.ask("POST", LIST, { label: "zuletzt" })).status).toBe(201);
    expect(await lab.labels()).toEqual(["first", "zuletzt"]);
    await isWhole(lab);
    await lab.server.end("SIGKILL");
  },
  300_000,
);
