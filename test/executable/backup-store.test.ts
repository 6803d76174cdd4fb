import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ObjectServer, objectServer } from "../platform/object-server.ts";
import { killedWhen, labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

/** Backups off the machine: to a store of objects, by hand, by the server, and through `kill -9`. */

let store: ObjectServer;
beforeAll(async () => {
  store = await objectServer();
});
afterAll(() => store[Symbol.asyncDispose]());

test("completes a backup to an object store after a kill during the upload", async () => {
  using place = scratch();
  const [data, other] = ["data", "other"].map((name) => join(place.directory, name));
  const address = store.address();
  const env = store.variables;
  await labd(["corpus", "add", "--sample", "--data-dir", data]);
  const backup = ["backup", "--to", address, "--data-dir", data];
  store.faults.push({
    when: (method, url) => method === "PUT" && url.includes(".sqlite.zst"),
    holdRequest: 1000,
  });
  await killedWhen(backup, env, () => store.faults.length === 0);
  expect(readdirSync(join(data, "backups-outgoing")).length).toBe(1);
  expect(await labd([...backup, "--list"], { env })).toMatchObject({
    stdout: `There is no backup in ${address}.\n`,
  });
  const made = await labd(backup, { env });
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(join(data, "backups-outgoing"))).toEqual([]);
  const [path] = made.stdout.split("\n");
  expect((await labd([...backup, "--list"], { env })).stdout).toStartWith(`${path}  asked  labd `);
  const checked = await labd(["restore", "--check", path], { env });
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("corpus 1,") });
  expect(await labd(["restore", path, "--data-dir", other], { env })).toMatchObject({ code: 0, stderr: "" });
  expect((await labd(["corpus", "verify", "--data-dir", other])).stdout).toStartWith("sample is intact");
  expect(
    await labd(["restore", `${address}/labd-20200101T000000Z.json`, "--data-dir", other], { env }),
  ).toMatchObject({
    code: 74,
    stderr: expect.stringContaining("To list them: labd backup --list"),
  });
  const doctor = await labd(["doctor", "--data-dir", data, "--format", "json"], { env });
  const finding = JSON.parse(doctor.stdout).find((one: { about: string }) => one.about === "backup");
  expect(finding).toMatchObject({ state: "ok", found: expect.stringContaining(`in ${address}.`) });
});

test("a server with backup_dir = s3://… makes and verifies backups without showing its keys", async () => {
  using place = scratch();
  const address = store.address();
  const settings = join(place.directory, "labd.toml");
  const { endpoint, accessKey, secretKey } = store.access;
  writeFileSync(
    settings,
    `backup_dir = "${address}/"\ns3_endpoint = "${endpoint}"\ns3_access_key = "${accessKey}"\ns3_secret_key = "${secretKey}"\nbackup_hours = 0\n`,
  );
  await labd(["user", "add", "ada", "--admin", "--password-stdin", "--data-dir", place.directory], {
    stdin: "correct horse\n",
  });
  const { stdout } = await labd(["token", "add", "ada", "--data-dir", place.directory]);
  await using server = await serve(place.directory, ["--config", settings]);
  const headers = { Authorization: `Token ${stdout.trim()}` };
  const ask = async (method: string, path: string) =>
    (await fetch(`${server.url}/api/admin/${path}`, { method, headers })).json() as Promise<
      Record<string, never>
    >;
  const task = async (path: string): Promise<string> => {
    const { id } = await ask("POST", path);
    return waitFor(async () => {
      const { state, said } = await ask("GET", `tasks/${String(id)}`);
      return state !== "running" && `${String(state)}: ${String(said)}`;
    });
  };
  expect(await task("backups")).toMatch(/^done: labd-\d{8}T\d{6}Z\.json was made/);
  const listed = (await ask("GET", "backups")) as never as {
    directory: string;
    results: { name: string; place: string }[];
  };
  expect(listed).toMatchObject({ directory: address, results: [{ place: address }] });
  expect(await task(`backups/${listed.results[0].name}/verify`)).toMatch(/^done: .* is intact/);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(Number(/labd_backup_last_timestamp_seconds (\d+)/.exec(metrics)![1])).toBeGreaterThan(1.7e9);
  store.faults.push(
    ...Array.from({ length: 20 }, () => ({ when: () => true, status: 403, code: "AccessDenied" })),
  );
  expect(await task("backups")).toMatch(/^failed: .*rejects the keys/);
  store.faults.length = 0;
  const shown = await labd(["check", "--config", settings]);
  expect(shown.stdout).toContain("********");
  expect(server.log() + shown.stdout).not.toContain(secretKey);
});
