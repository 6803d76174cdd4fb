import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LABD } from "./labd.ts";

/** A machine to install on: directories stand in for the real ones in a mount namespace, and a script for systemctl. */

export const CAN_HAVE_MACHINE =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  ["unshare", "runuser", "userdel"].every((program) => Bun.which(program) !== null) &&
  Bun.spawnSync(["unshare", "-m", "mount", "--bind", "/tmp", "/tmp"]).exitCode === 0;
export const UNLESS_MACHINE = CAN_HAVE_MACHINE ? "" : " (SKIPPED without root or mount namespaces)";

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

/** @returns runs a shell script on such a machine */
export function onMachine(root: string, systemctl = SYSTEMCTL) {
  for (const name of [...Object.keys(REPLACED), "bin", "etc/systemd/system", "run/systemd/system"])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ACCOUNT_FILES.filter((name) => existsSync(`/etc/${name}`)))
    cpSync(`/etc/${name}`, join(root, "etc", name), { recursive: true });
  const program = (name: string, text: string): void => {
    writeFileSync(join(root, "bin", name), text);
    chmodSync(join(root, "bin", name), 0o755);
  };
  program("systemctl", systemctl);
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
