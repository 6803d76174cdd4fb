import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { POSTINST } from "../../packaging/debian.ts";
import { LABD, scratch } from "./labd.ts";

setDefaultTimeout(120_000);

/** Installs on a machine: directories stand in for the real ones in a mount namespace, and a script for systemctl. */

const mayMount =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  ["unshare", "runuser", "userdel"].every((program) => Bun.which(program) !== null) &&
  Bun.spawnSync(["unshare", "-m", "mount", "--bind", "/tmp", "/tmp"]).exitCode === 0;
const SKIPPED = mayMount ? "" : " (SKIPPED without root or mount namespaces)";

const REPLACED = { etc: "/etc", data: "/var/lib", run: "/run", local: "/usr/local/bin" };
const ACCOUNT_FILES = [
  "passwd",
  "group",
  "shadow",
  "gshadow",
  "login.defs",
  "nsswitch.conf",
  "pam.d",
  "security",
];
/** Fails as systemctl does for a unit that does not exist. */
const SYSTEMCTL = `#!/bin/sh
case "$*" in
  *disable*) [ -e /etc/systemd/system/labd.service ] || { echo "Unit labd.service does not exist." >&2; exit 1; } ;;
esac
`;

/** Runs a shell script on such a machine. */
function onMachine(root: string) {
  for (const name of [...Object.keys(REPLACED), "bin", "etc/systemd/system", "run/systemd/system"])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ACCOUNT_FILES.filter((name) => existsSync(`/etc/${name}`)))
    cpSync(`/etc/${name}`, join(root, "etc", name), { recursive: true });
  const program = (name: string, text: string): void => {
    writeFileSync(join(root, "bin", name), text);
    chmodSync(join(root, "bin", name), 0o755);
  };
  program("systemctl", SYSTEMCTL);
  program("labd", `#!/bin/sh\nexec ${LABD} "$@"\n`);
  for (const name of ["deb-systemd-helper", "deb-systemd-invoke"]) program(name, "#!/bin/sh\n");
  chmodSync(root, 0o755);
  const mounts = Object.entries(REPLACED).map(([name, path]) => `mount --bind ${join(root, name)} ${path}`);
  return (script: string) => {
    const run = Bun.spawnSync(["unshare", "-m", "sh", "-ec", [...mounts, script].join("\n")], {
      env: { PATH: `${join(root, "bin")}:/usr/sbin:/usr/bin:/sbin:/bin` },
      stderr: "pipe",
    });
    return { code: run.exitCode, stdout: run.stdout.toString(), stderr: run.stderr.toString() };
  };
}

const ADD =
  "echo 'correct horse' | runuser -u labd -- labd user add ada --admin --password-stdin --config /etc/labd/labd.toml";

test.skipIf(!mayMount)(`uninstall and then uninstall --purge remove everything${SKIPPED}`, () => {
  using place = scratch();
  const run = onMachine(place.directory);
  const installed = run(`umask 0077; ${LABD} install --systemd`);
  expect(installed).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("First account:") });
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
});

test.skipIf(!mayMount || Bun.which("adduser") === null)(
  `the package asks for a first administrator only where there is none${SKIPPED}`,
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

test.skipIf(!mayMount)(
  `a backup to a read-only directory fails with its cause and the remedy${SKIPPED}`,
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
