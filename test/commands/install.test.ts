import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layout } from "../../src/commands/install-layout.ts";
import { labd, scratch } from "./labd.ts";

setDefaultTimeout(60_000);

const { files, settings, data, unit, executable } = layout("/usr/local");

test("install --root writes every file with its mode, keeps settings, and uninstall removes them", async () => {
  using place = scratch();
  const root = place.directory;
  const at = (path: string) => join(root, path);
  const first = await labd(["install", "--systemd", "--root", root]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  for (const { path, mode, content } of files) {
    expect([path, statSync(at(path)).mode & 0o777]).toEqual([path, mode]);
    expect(first.stdout).toContain(`wrote    ${at(path)}\n`);
    if (content !== null) expect(readFileSync(at(path), "utf8")).toBe(content);
  }
  expect(statSync(at(executable)).size).toBe(statSync(process.execPath).size);
  expect(statSync(at(data)).mode & 0o777).toBe(0o700);
  writeFileSync(at(settings), "workers = 1\n");
  writeFileSync(at(unit), "old");
  const again = await labd(["install", "--systemd", "--root", root]);
  expect(again.stdout).toContain(`kept     ${at(settings)}\n`);
  expect(readFileSync(at(settings), "utf8")).toBe("workers = 1\n");
  expect(readFileSync(at(unit), "utf8")).toStartWith("[Unit]\n");
  expect(readFileSync(at(unit), "utf8")).not.toContain("ReadWritePaths");
  const plan = await labd(["install", "--systemd", "--root", root, "--dry-run"]);
  expect(plan.stdout).toContain(`==> ${at(settings)} (0640, exists and is kept)\n`);
  expect(plan.stdout).toContain(`==> ${at(unit)} (0644)\n`);
  expect(plan.stdout).not.toContain("==> systemctl");

  const planned = await labd(["uninstall", "--root", root, "--dry-run"]);
  expect(planned.stdout).toContain(`==> remove ${at(unit)}\n`);
  expect(planned.stdout).not.toContain(settings);
  const removed = await labd(["uninstall", "--root", root]);
  expect(removed.stdout).toContain(`removed  ${at(executable)}\n`);
  expect(removed.stdout).toContain(`kept     ${at(settings)} and ${at(data)}; to remove them`);
  expect([existsSync(at(unit)), existsSync(at(settings)), existsSync(at(data))]).toEqual([false, true, true]);
  const purged = await labd(["uninstall", "--root", root, "--purge"]);
  expect(purged.stdout).not.toContain("kept");
  expect([existsSync(at(settings)), existsSync(at(data))]).toEqual([false, false]);
});

test("install --dry-run on this machine lists files and commands, and writes nothing", async () => {
  const plan = await labd(["install", "--systemd", "--dry-run"]);
  expect(plan.code).toBe(0);
  for (const { path } of files) expect(plan.stdout).toContain(`==> ${path} (0`);
  const commands = plan.stdout.split("\n").filter((line) => line.startsWith("==> systemctl"));
  const steps = ["daemon-reload", "enable labd.service", "restart labd.service"];
  expect(commands).toEqual(steps.map((step) => `==> systemctl ${step}`));
  const idle = await labd(["install", "--systemd", "--dry-run", "--no-start"]);
  expect(idle.stdout).toContain("systemctl daemon-reload");
  expect(idle.stdout).not.toContain("systemctl enable");
});

test.each([
  [["install"], "needs Linux and --systemd"],
  [
    ["install", "--systemd", "--prefix", "usr", "--root", "/nowhere"],
    "--prefix: usr must be an absolute path",
  ],
  [["uninstall", "--prefix", "/", "--dry-run"], "--prefix: / must be an absolute path"],
])("install rejects %j: %s", async (words, text) => {
  const { code, stderr } = await labd(words);
  expect([code, stderr]).toEqual([64, expect.stringContaining(text)]);
});

test("a prefix changes the location of the executable and the unit", async () => {
  using place = scratch();
  await labd(["install", "--systemd", "--root", place.directory, "--prefix", "/usr/"]);
  expect(existsSync(join(place.directory, "usr/bin/labd"))).toBe(true);
  expect(existsSync(join(place.directory, layout("/usr").unit))).toBe(true);
  expect(existsSync(join(place.directory, "usr/local"))).toBe(false);
});
