import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killedWhen, labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

test("a build continues after SIGKILL and is searched like an uninterrupted build", async () => {
  const root = mkdtempSync(join(tmpdir(), "labd-proteome-"));
  const results = await Promise.all(
    ["killed", "whole"].map(async (name) => {
      const env = { LABD_DATA_DIR: join(root, name), LABD_WORKERS: "1" };
      await labd(["corpus", "add", "--sample"], { env });
      const corpora = join(env.LABD_DATA_DIR, "corpora");
      const stored = (): string[] =>
        readdirSync(corpora)
          .filter((entry) => entry.endsWith(".families") && existsSync(join(corpora, entry)))
          .flatMap((entry) => readdirSync(join(corpora, entry)))
          .filter((file) => file.endsWith(".labf"));
      if (name === "killed") {
        await killedWhen(["proteome", "build"], env, () => stored().length > 0);
        expect(stored()).toHaveLength(1);
      }
      const build = await labd(["proteome", "build"], { env });
      expect(build.stderr.includes("Existing: ")).toBe(name === "killed");
      expect(build.stdout).toContain("496 of 496 proteins");
      return labd(["proteome", "search", "--class", "LIG_SH3_1"], { env });
    }),
  );
  const [killed, whole] = results;
  expect(killed).toEqual(whole);
  expect(whole.stdout.split("\n").length).toBeGreaterThan(100);
  rmSync(root, { recursive: true });
});

test("runs a search of the server again after SIGKILL, with the matches of the command line", async () => {
  using files = scratch();
  const env = { LABD_DATA_DIR: files.directory, LABD_WORKERS: "1" };
  await labd(["corpus", "add", "--sample"], { env });
  await labd(["proteome", "build", "--organism", "9606"], { env });
  const accepted = await (async () => {
    await using server = await serve(files.directory, ["--workers", "1"]);
    const response = await fetch(`${server.url}/api/scoring/proteome/searches`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pattern: "[ST]P", organism: "9606" }),
    });
    expect(response.status).toBe(202);
    const { id } = (await response.json()) as { id: string };
    await server.end("SIGKILL");
    return id;
  })();
  await using server = await serve(files.directory, ["--workers", "1"]);
  const address = `${server.url}/api/scoring/proteome/searches/${accepted}`;
  let state = "";
  while (state !== "finished") {
    const response = await fetch(`${address}?limit=0`);
    expect(response.status).toBe(200);
    ({ state } = (await response.json()) as { state: string });
    expect(["queued", "running", "finished"]).toContain(state);
  }
  const matches = await (await fetch(`${address}/matches`)).text();
  await server.end("SIGTERM");
  const search = ["proteome", "search", "--pattern", "[ST]P", "--organism", "9606"];
  expect(matches).toBe((await labd(search, { env })).stdout);
  expect(matches.split("\n").length).toBeGreaterThan(100);
});

test("a build of the server continues after SIGKILL and stores every family once", async () => {
  using files = scratch();
  const env = { LABD_DATA_DIR: files.directory };
  await labd(["corpus", "add", "--sample"], { env });
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "a password for tests\n" });
  const token = (await labd(["token", "add", "ada", "--name", "test"], { env })).stdout.trim();
  const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
  const path = "/api/admin/proteome/builds";
  const corpora = join(files.directory, "corpora");
  const stored = (): string[] =>
    readdirSync(corpora)
      .filter((entry) => entry.endsWith(".families"))
      .flatMap((entry) => readdirSync(join(corpora, entry)))
      .filter((file) => file.endsWith(".labf"));
  const id = await (async () => {
    await using server = await serve(files.directory, ["--workers", "1"]);
    const response = await fetch(server.url + path, { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(202);
    await waitFor(() => stored().length > 0);
    await server.end("SIGKILL");
    return ((await response.json()) as { id: string }).id;
  })();
  const before = stored();
  await using server = await serve(files.directory, ["--workers", "2"]);
  const build = await waitFor(async () => {
    const response = await fetch(`${server.url}${path}/${id}`, { headers });
    const read = (await response.json()) as { state: string; stored: number | null };
    return read.state !== "running" && read;
  });
  expect(build).toMatchObject({ state: "finished", stored: 496 - 256 * before.length });
  expect((await labd(["proteome", "list"], { env })).stdout).toContain("496 of 496 proteins");
  await server.end("SIGTERM");
});
