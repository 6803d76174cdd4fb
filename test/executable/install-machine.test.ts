import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { POSTINST } from "../../packaging/debian.ts";
import { LABD, scratch } from "./labd.ts";
import { CAN_HAVE_MACHINE, onMachine, UNLESS_MACHINE } from "./machine.ts";

setDefaultTimeout(120_000);

const ADD =
  "echo 'correct horse' | runuser -u labd -- labd user add ada --admin --password-stdin --config /etc/labd/labd.toml";

test.skipIf(!CAN_HAVE_MACHINE)(
  `uninstall and then uninstall --purge remove everything${UNLESS_MACHINE}`,
  () => {
    using place = scratch();
    const run = onMachine(place.directory);
    const installed = run(`umask 0077; ${LABD} install --systemd`);
    expect(installed).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("First account:"),
    });
    expect(statSync(join(place.directory, "data/labd")).mode & 0o777).toBe(0o700);
    expect(statSync(join(place.directory, "etc/labd")).mode & 0o777).toBe(0o755);
    const again = run(`${ADD}; ${LABD} install --systemd`);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).not.toContain("First account:");
    expect(run(`${LABD} uninstall`)).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(join(place.directory, "data/labd/labd.sqlite"))).toBeTrue();
    expect(run(`${LABD} uninstall --purge`)).toMatchObject({ code: 0, stderr: "" });
    expect(["data/labd", "etc/labd"].filter((name) => existsSync(join(place.directory, name)))).toEqual([]);
    expect(readFileSync(join(place.directory, "etc/passwd"), "utf8")).not.toContain("labd:");
  },
);

test.skipIf(!CAN_HAVE_MACHINE || Bun.which("adduser") === null)(
  `the package asks for a first administrator only where there is none${UNLESS_MACHINE}`,
  () => {
    using place = scratch();
    const run = onMachine(place.directory);
    expect(run(`${LABD} install --systemd --no-start`).code).toBe(0);
    writeFileSync(join(place.directory, "postinst"), POSTINST.replaceAll("/usr/share", place.directory));
    const configure = `sh ${join(place.directory, "postinst")} configure`;
    expect(run(configure)).toMatchObject({ code: 0, stdout: expect.stringContaining("first administrator") });
    expect(run(`${ADD}; ${configure}`)).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining("first administrator"),
    });
  },
);

test.skipIf(!CAN_HAVE_MACHINE)(
  `a backup to a read-only directory fails with its cause and the remedy${UNLESS_MACHINE}`,
  () => {
    using place = scratch();
    const run = onMachine(place.directory);
    const to = join(place.directory, "backups");
    mkdirSync(to);
    const data = join(place.directory, "labd-data");
    const script = `labd corpus add --sample --data-dir ${data} >/dev/null
    mount --bind ${to} ${to}; mount -o remount,bind,ro ${to}; labd backup --data-dir ${data} --to ${to}/labd`;
    const { code, stderr } = run(script);
    expect([code, stderr]).toEqual([74, expect.stringContaining("EROFS: read-only file system")]);
    expect(stderr).toContain(`ReadWritePaths=${to}/labd, which labd install --systemd sets.`);
  },
);
