import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch } from "./labd.ts";

/** The files of `labd install`, below a directory as packages are made. */

const onLinux = process.platform === "linux";
const SETTINGS = "etc/labd/labd.toml";
const UNIT = "usr/lib/systemd/system/labd.service";

test.skipIf(!onLinux)(
  "install writes executable, settings and unit, and keeps existing settings; uninstall removes them",
  async () => {
    using place = scratch();
    const root = place.directory;
    const words = ["--root", root, "--prefix", "/usr"];
    const umask = process.umask(0o027);
    expect((await labd(["install", "--systemd", ...words])).code).toBe(0);
    process.umask(umask);
    for (const name of ["var", "var/lib", "usr/bin", "etc/labd"])
      expect([name, statSync(join(root, name)).mode & 0o777]).toEqual([name, 0o755]);
    expect(readFileSync(join(root, UNIT), "utf8")).toContain(
      "ExecStart=/usr/bin/labd serve --config /etc/labd/labd.toml",
    );
    // systemd waits for READY=1, and tries again after all exit codes but these.
    expect(readFileSync(join(root, UNIT), "utf8").split("\n")).toEqual(
      expect.arrayContaining([
        "Type=notify",
        "TimeoutStartSec=infinity",
        "StartLimitIntervalSec=0",
        "RestartPreventExitStatus=64 76 78",
        "WatchdogSec=60",
        "OOMPolicy=continue",
        "UMask=0077",
      ]),
    );
    expect(statSync(join(root, "usr/bin/labd")).mode & 0o777).toBe(0o755);
    expect(statSync(join(root, SETTINGS)).mode & 0o777).toBe(0o640);
    expect(statSync(join(root, "var/lib/labd")).mode & 0o7777).toBe(0o700);
    // The settings file is one: every key that it shows is known, and what it shows as default is one.
    const shown = readFileSync(join(root, SETTINGS), "utf8").replace(/^#(?=[a-z_]+ = )/gm, "");
    await Bun.write(join(root, SETTINGS), shown);
    const checked = await labd(["check", "--config", join(root, SETTINGS)]);
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(checked.stdout).toMatch(/^\[server\]\ndata_dir = "\/var\/lib\/labd"/);
    const again = await labd(["install", "--systemd", ...words]);
    expect(again.stdout).toContain(`kept     ${join(root, SETTINGS)}`);
    expect(readFileSync(join(root, SETTINGS), "utf8")).toBe(shown);
    // ProtectSystem=strict: other directories can be written only if the unit names them.
    expect(readFileSync(join(root, UNIT), "utf8")).not.toContain("ReadWritePaths");
    await Bun.write(
      join(root, SETTINGS),
      'data_dir = "/var/lib/labd"\nbackup_dir = "/mnt/backup disk/50%"\n',
    );
    expect((await labd(["install", "--systemd", ...words])).code).toBe(0);
    expect(readFileSync(join(root, UNIT), "utf8")).toContain(
      'ProtectSystem=strict\nReadWritePaths="-/mnt/backup disk/50%%"\n',
    );
    expect((await labd(["uninstall", ...words])).code).toBe(0);
    expect([UNIT, "usr/bin/labd", SETTINGS].map((path) => existsSync(join(root, path)))).toEqual([
      false,
      false,
      true,
    ]);
    expect((await labd(["uninstall", "--purge", ...words])).code).toBe(0);
    expect(existsSync(join(root, "etc/labd"))).toBeFalse();
  },
);

test.skipIf(!onLinux)("a dry run writes nothing, and an invalid prefix is rejected", async () => {
  const run = await labd(["install", "--systemd", "--dry-run"]);
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("==> /etc/systemd/system/labd.service (0644)");
  expect(run.stdout).toContain("NoNewPrivileges=yes");
  const odd = await labd(["install", "--systemd", "--dry-run", "--prefix", "/opt/a b"]);
  expect(odd).toMatchObject({ code: 64, stderr: expect.stringContaining("--prefix") });
});

const ANALYZE = Bun.which("systemd-analyze");

test.skipIf(ANALYZE === null)("systemd-analyze rates the unit as secure (SKIPPED without it)", async () => {
  using place = scratch();
  await labd(["install", "--systemd", "--root", place.directory, "--prefix", "/usr"]);
  const run = Bun.spawnSync([
    ANALYZE!,
    "security",
    "--offline=true",
    "--no-pager",
    join(place.directory, UNIT),
  ]);
  const level = /Overall exposure level for labd\.service: ([\d.]+)/.exec(run.stdout.toString())?.[1];
  // Older versions cannot look at a file.
  if (level !== undefined) expect(Number(level)).toBeLessThan(2);
});
