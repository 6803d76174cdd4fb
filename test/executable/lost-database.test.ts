import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

test("no command uses or recreates a database that is missing or lost its write-ahead log", async () => {
  using place = scratch();
  const data = join(place.directory, "data");
  const path = join(data, "labd.sqlite");
  const run = (...words: string[]) => labd([...words, "--data-dir", data]);
  await run("corpus", "add", "--sample");
  const backup = (await run("backup")).stdout.split("\n")[0];
  const start = () => serve(place.directory, ["--data-dir", data]);
  await (await start()).end("SIGKILL");
  await (await start()).end("SIGKILL");
  renameSync(`${path}-wal`, `${path}-wal.aside`);
  const commands = [
    ["serve", "--port", "0"],
    ["user", "add", "eve"],
    ["backup"],
    ["compact"],
    ["audit", "verify"],
  ];
  const refused = async (what: string): Promise<void> => {
    for (const words of commands) {
      const { code, stderr } = await run(...words);
      expect([words[0], code, stderr]).toEqual([words[0], 76, expect.stringContaining(what)]);
      expect(stderr).toContain(`labd restore ${backup} --data-dir ${data}`);
    }
    const { code, stdout } = await run("doctor");
    expect([code, stdout]).toEqual([2, expect.stringContaining(what)]);
  };
  await refused("Its log labd.sqlite-wal was removed");
  rmSync(`${path}-shm`, { force: true });
  renameSync(`${path}-wal.aside`, `${path}-wal`);
  expect(await (await start()).end("SIGTERM")).toBe(0);
  writeFileSync(path, "");
  await refused("is empty");
  rmSync(path);
  await refused("is missing");
  expect(existsSync(path)).toBe(false);
  expect((await run("restore", backup)).code).toBe(0);
  expect((await run("corpus", "list")).stdout).toContain("sample");
  expect(await (await start()).end("SIGTERM")).toBe(0);
});
