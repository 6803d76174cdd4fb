import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ACCOUNT, directoriesOutside, type InstalledFile, layout, type Layout } from "./install-layout.ts";
import { hasAdministrator } from "../accounts/accounts.ts";
import { DATABASE } from "../app/data-directory.ts";
import { resolveConfig } from "../config.ts";
import { openReader } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import type { Call, Command, Flags } from "./command.ts";

const TARGET_FLAGS: Flags = {
  "--prefix DIR": "Prefix of bin/labd: /usr/local, or /usr for a package.",
  "--root DIR": "Write below this directory, for packaging; no account is added and nothing is started.",
  "--dry-run": "Print the steps and files without executing anything.",
};

export const install: Command = {
  name: "install",
  summary: "Install this executable as a systemd service, with an account, directories and settings.",
  flags: {
    "--systemd": "Install a hardened systemd unit; required, as no other kind of service is supported.",
    ...TARGET_FLAGS,
    "--no-start": "Do not enable and start the unit.",
  },
  removedFlags: { "--socket": "Let a reverse proxy hold connections while the service restarts." },
  settings: [],
  example:
    "sudo ./labd install --systemd\n" +
    "Run it again after an update: it keeps /etc/labd/labd.toml and restarts the running service.",
  async run(call) {
    if (process.platform !== "linux" || !call.has("--systemd"))
      throw new Problem("usage", "labd install needs Linux and --systemd. See labd install --help.");
    const target = readTarget(call);
    if (call.has("--dry-run")) return call.print(installPlan(call, target));
    if (!target.isLive) return writeFiles(call, target);
    requireRoot();
    refusePackaged(target.layout.unit);
    await installLive(call, target);
  },
};

export const uninstall: Command = {
  name: "uninstall",
  summary:
    "Remove the files that labd install wrote; data, settings and account stay unless --purge is given.",
  flags: {
    ...TARGET_FLAGS,
    "--purge": "Also delete the data, the settings and the account. This cannot be undone.",
  },
  settings: [],
  example: "sudo labd uninstall",
  async run(call) {
    const { root, isLive, layout } = readTarget(call);
    const { files, data, settings } = layout;
    const isPurge = call.has("--purge");
    const paths = files.filter(({ isSetting }) => !isSetting || isPurge).map(({ path }) => join(root, path));
    if (isPurge) paths.push(join(root, dirname(settings)), join(root, data));
    const hasSystemd = isLive && isSystemdRunning() && existsSync(layout.unit);
    const stop = ["systemctl", "disable", "--now", basename(layout.unit)];
    if (call.has("--dry-run")) {
      const steps = [...(hasSystemd ? [stop.join(" ")] : []), ...paths.map((path) => `remove ${path}`)];
      return call.print(steps.map((step) => `==> ${step}\n`).join(""));
    }
    if (isLive) requireRoot();
    if (hasSystemd) run(stop);
    for (const path of paths.filter((path) => existsSync(path))) {
      rmSync(path, { recursive: true });
      await call.print(`removed  ${path}\n`);
    }
    if (hasSystemd) run(["systemctl", "daemon-reload"]);
    if (isLive && isPurge && readUserIds(ACCOUNT)) run(["userdel", ACCOUNT]);
    if (!isPurge)
      await call.print(
        `kept     ${join(root, settings)} and ${join(root, data)}; to remove them with the account, run labd uninstall --purge with any copy of labd\n`,
      );
  },
};

interface Target {
  layout: Layout;
  root: string;
  /** This machine, not a directory for packaging. */
  isLive: boolean;
}

function readTarget(call: Call): Target {
  const prefix = (call.value("--prefix") ?? "/usr/local").replace(/\/+$/, "");
  if (!/^(\/[A-Za-z0-9._+-]+)+$/.test(prefix))
    throw new Problem(
      "usage",
      `--prefix: ${prefix || "/"} must be an absolute path of letters, digits and ._+- characters.`,
    );
  const root = call.value("--root");
  const target = resolve(root ?? "/");
  const { data, settings } = layout(prefix);
  const writable = directoriesOutside(data, join(target, settings));
  return { layout: layout(prefix, writable), root: target, isLive: root === undefined };
}

const PACKAGED_UNIT = layout("/usr").unit;

/** Two units with the same name would hide each other. */
export function refusePackaged(unit = ""): void {
  if (unit === PACKAGED_UNIT || !existsSync(PACKAGED_UNIT)) return;
  throw new Problem(
    "conflict",
    `labd is installed by a package (${PACKAGED_UNIT}). Upgrade that, or remove it first (apt-get remove labd, which keeps data and settings).`,
  );
}

function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw new Problem(
      "forbidden",
      "Only root may do this. Use sudo, or --dry-run to see what would be done.",
    );
}

export const isSystemdRunning = (): boolean => existsSync("/run/systemd/system");

const startCommands = (call: Call, unit: string): string[][] => [
  ["systemctl", "daemon-reload"],
  ...(call.has("--no-start") ? [] : ["enable", "restart"].map((verb) => ["systemctl", verb, basename(unit)])),
];

function installPlan(call: Call, { root, isLive, layout }: Target): string {
  const files = layout.files.map(({ path, mode, content, isSetting }) => {
    const full = join(root, path);
    const kept = isSetting && existsSync(full) ? ", exists and is kept" : "";
    return `==> ${full} (0${mode.toString(8)}${kept})\n${content ?? `(copy of ${process.execPath})\n`}\n`;
  });
  const commands = isLive ? startCommands(call, layout.unit).map((words) => `==> ${words.join(" ")}\n`) : [];
  return [...files, `==> ${join(root, layout.data)}/ (directory of ${ACCOUNT}, 0700)\n`, ...commands].join(
    "",
  );
}

async function installLive(call: Call, target: Target): Promise<void> {
  const { executable, settings, data, unit } = target.layout;
  await writeFiles(call, target, () => addAccount(data));
  const commands = startCommands(call, unit);
  if (isSystemdRunning()) commands.forEach((command) => run(command));
  else
    await call.print(
      `systemd is not running here. Once it is:\n${commands.map((words) => `  ${words.join(" ")}\n`).join("")}`,
    );
  await call.print(`Installed. Settings: ${settings}; data: ${data}; log: journalctl -u labd\n`);
  if (isAdministered(settings)) return;
  await call.print(
    `First account: open the link that journalctl -u labd | grep setup shows, or\n` +
      `  runuser -u ${ACCOUNT} -- ${executable} user add NAME --admin --password-stdin --config ${settings}\n`,
  );
}

/** True if the data directory that the settings name has an administrator. */
function isAdministered(settings: string): boolean {
  const { config } = resolveConfig({ flags: {}, environment: {}, file: settings });
  const path = join(config.data_dir, DATABASE);
  if (!existsSync(path)) return false;
  const reader = openReader(path);
  try {
    return hasAdministrator(reader);
  } finally {
    reader.close();
  }
}

/** Writes all files. @param account adds the account of the service, which some files belong to */
async function writeFiles(
  call: Call,
  target: Target,
  account: () => { user: number; group: number } | undefined = () => undefined,
): Promise<void> {
  const { root, layout } = target;
  // systemd-sysusers reads its file to add the account.
  const isAccountFile = ({ path }: InstalledFile): boolean => path.includes("sysusers.d");
  for (const file of layout.files.filter(isAccountFile)) await write(call, root, file);
  const ids = account();
  for (const file of layout.files.filter((file) => !isAccountFile(file)))
    await write(call, root, file, ids?.group);
  makeDirectory(join(root, layout.data), 0o700);
  if (ids) chownSync(layout.data, ids.user, ids.group);
}

/** A directory with a mode, whatever the umask; its missing parents have 0755. An existing one stays as it is. */
function makeDirectory(path: string, mode = 0o755): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path);
  chmodSync(path, mode);
}

/** Writes to another name and renames: a running executable is replaced, and a crash leaves the old file. */
async function write(call: Call, root: string, file: InstalledFile, group?: number): Promise<void> {
  const { mode, content, isSetting, ofGroup } = file;
  const path = join(root, file.path);
  if (isSetting && existsSync(path)) return call.print(`kept     ${path}\n`);
  makeDirectory(dirname(path));
  if (content === null && existsSync(path) && isSameFile(path, process.execPath)) return;
  const written = `${path}.new`;
  if (content === null) copyFileSync(process.execPath, written);
  else writeFileSync(written, content);
  chmodSync(written, mode);
  if (ofGroup && group !== undefined) chownSync(written, 0, group);
  renameSync(written, path);
  await call.print(`wrote    ${path}\n`);
}

function isSameFile(first: string, second: string): boolean {
  const [a, b] = [statSync(first), statSync(second)];
  return a.ino === b.ino && a.dev === b.dev;
}

function addAccount(home: string): { user: number; group: number } {
  const known = readUserIds(ACCOUNT);
  if (known) return known;
  const options = `--system --user-group --no-create-home --home-dir ${home} --shell /usr/sbin/nologin`;
  if (Bun.which("systemd-sysusers")) run(["systemd-sysusers", "labd.conf"]);
  else run(["useradd", ...options.split(" "), ACCOUNT]);
  const added = readUserIds(ACCOUNT);
  if (!added)
    throw new Problem("internal", `The account ${ACCOUNT} could not be added.`, {
      cause: "The account is not in /etc/passwd.",
    });
  return added;
}

function readUserIds(account: string): { user: number; group: number } | undefined {
  const line = readFileSync("/etc/passwd", "utf8").match(new RegExp(`^${account}:[^:]*:(\\d+):(\\d+):`, "m"));
  return line ? { user: Number(line[1]), group: Number(line[2]) } : undefined;
}

/** @param timeout milliseconds @throws Problem internal with the output of the command */
export function run(command: string[], timeout = 0): void {
  const { exitCode, signalCode, stderr } = Bun.spawnSync(command, {
    stdout: "pipe",
    stderr: "pipe",
    timeout,
  });
  if (exitCode === 0) return;
  throw new Problem("internal", `${command.join(" ")} ended with ${signalCode ?? exitCode}.`, {
    cause: stderr.toString().trim(),
  });
}
