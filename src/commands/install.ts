import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Call, Flag, Command } from "./command-line.ts";
import { ACCOUNT, type InstalledFile, layout, type Layout } from "../operations/install/layout.ts";
import { Problem } from "../problem.ts";

const PREFIX: Flag = {
  name: "--prefix",
  value: "DIR",
  sentence: "Where bin/labd goes: /usr/local, or /usr for a package.",
};
const ROOT: Flag = {
  name: "--root",
  value: "DIR",
  sentence: "Write below this directory, for packaging; no account is made and nothing is started.",
};
const DRY_RUN: Flag = {
  name: "--dry-run",
  sentence: "Print what would be done, with the files, and do nothing.",
};

export const install: Command = {
  name: "install",
  summary: "Install this executable as a service of systemd, with an account, directories and settings.",
  flags: [
    { name: "--systemd", sentence: "As a hardened unit of systemd; the only way there is so far." },
    PREFIX,
    ROOT,
    DRY_RUN,
    { name: "--no-start", sentence: "Leave it to you to enable and start the unit." },
  ],
  settings: [],
  example:
    "sudo ./labd install --systemd\n" +
    "Again after an update: the settings in /etc/labd/labd.toml stay, the running service is restarted.",
  async run(call) {
    if (process.platform !== "linux")
      throw new Problem("usage", "labd install: systemd is there on Linux only.");
    if (!call.has("--systemd"))
      throw new Problem("usage", "labd install --systemd is the only way there is. See labd install --help.");
    const where = placeOf(call);
    const { data, files } = where.layout;
    if (call.has("--dry-run")) {
      for (const file of files) printFile(where, file);
      process.stdout.write(`==> ${join(where.root, data)}/ (directory of ${ACCOUNT}, 0750)\n`);
      for (const command of where.isLive ? commands(call, where.layout) : [])
        process.stdout.write(`==> ${command.join(" ")}\n`);
      return 0;
    }
    if (where.isLive) {
      refuseOthers();
      refusePackaged(where.layout.unit);
    }
    // The account first: files belong to its group.
    for (const file of files.filter(({ path }) => path.includes("sysusers.d"))) write(where, file);
    if (where.isLive) addAccount(data);
    const ids = where.isLive ? idsOf(ACCOUNT) : undefined;
    for (const file of files.filter(({ path }) => !path.includes("sysusers.d")))
      write(where, file, ids?.group);
    mkdirSync(join(where.root, data), { recursive: true, mode: 0o750 });
    if (ids) chownSync(data, ids.user, ids.group);
    if (!where.isLive) return 0;
    if (existsSync("/run/systemd/system")) {
      for (const command of commands(call, where.layout)) run(command);
    } else {
      process.stdout.write("systemd does not run here. Once it does:\n");
      for (const command of commands(call, where.layout)) process.stdout.write(`  ${command.join(" ")}\n`);
    }
    process.stdout.write(
      `Installed. Settings: ${where.layout.settings}; data: ${data}; log: journalctl -u labd\n` +
        `First account: open the link that journalctl -u labd | grep setup shows, or\n` +
        `  runuser -u ${ACCOUNT} -- ${where.layout.executable} user add NAME --admin --password-stdin --config ${where.layout.settings}\n`,
    );
    return 0;
  },
};

export const uninstall: Command = {
  name: "uninstall",
  summary: "Take away what labd install wrote; data, settings and account stay unless --purge is given.",
  flags: [
    PREFIX,
    ROOT,
    DRY_RUN,
    { name: "--purge", sentence: "Remove the data, the settings and the account too. There is no way back." },
  ],
  settings: [],
  example: "sudo labd uninstall",
  async run(call) {
    const where = placeOf(call);
    if (where.isLive && !call.has("--dry-run")) refuseOthers();
    const purges = call.has("--purge");
    const { files, data, settings } = where.layout;
    const paths = files.filter(({ isSetting }) => !isSetting || purges).map(({ path }) => path);
    if (purges) paths.push(dirname(settings), data);
    const steps: string[][] = [];
    if (where.isLive && existsSync("/run/systemd/system"))
      steps.push(["systemctl", "disable", "--now", "labd.service"]);
    if (call.has("--dry-run")) {
      for (const step of steps) process.stdout.write(`==> ${step.join(" ")}\n`);
      for (const path of paths) process.stdout.write(`==> remove ${join(where.root, path)}\n`);
      return 0;
    }
    for (const step of steps) run(step);
    for (const path of paths) {
      const full = join(where.root, path);
      if (!existsSync(full)) continue;
      rmSync(full, { recursive: true });
      process.stdout.write(`removed  ${full}\n`);
    }
    if (where.isLive && existsSync("/run/systemd/system")) run(["systemctl", "daemon-reload"]);
    if (where.isLive && purges && idsOf(ACCOUNT)) run(["userdel", ACCOUNT]);
    if (!purges)
      process.stdout.write(`kept     ${join(where.root, settings)} and ${join(where.root, data)}\n`);
    return 0;
  },
};

interface Place {
  layout: Layout;
  root: string;
  /** Onto this machine, not into a directory for packaging. */
  isLive: boolean;
}

function placeOf(call: Call): Place {
  const prefix = (call.value("--prefix") ?? "/usr/local").replace(/\/+$/, "");
  if (!/^(\/[A-Za-z0-9._+-]+)+$/.test(prefix))
    throw new Problem("usage", `--prefix: ${prefix || "/"} is not an absolute path without odd characters.`);
  const root = call.value("--root");
  return {
    layout: layout(prefix),
    root: root === undefined ? "/" : resolve(root),
    isLive: root === undefined,
  };
}

const PACKAGED = layout("/usr").unit;

/** Two units of one name would hide each other, and the package would not know. */
function refusePackaged(unit: string): void {
  if (unit === PACKAGED || !existsSync(PACKAGED)) return;
  throw new Problem(
    "conflict",
    `labd is installed by a package (${PACKAGED}): upgrade that, or remove it first (apt-get remove labd, which keeps data and settings).`,
  );
}

function refuseOthers(): void {
  if (process.getuid?.() !== 0)
    throw new Problem(
      "forbidden",
      "Only root may do this. Try it with sudo, or --dry-run to see what would be done.",
    );
}

function commands(call: Call, { unit }: Layout): string[][] {
  const service = unit.split("/").at(-1)!;
  return [
    ["systemctl", "daemon-reload"],
    ...(call.has("--no-start")
      ? []
      : [
          ["systemctl", "enable", service],
          ["systemctl", "restart", service],
        ]),
  ];
}

function printFile({ root }: Place, { path, mode, content, isSetting }: InstalledFile): void {
  const full = join(root, path);
  const kept = isSetting && existsSync(full) ? ", is there and stays" : "";
  process.stdout.write(
    `==> ${full} (0${mode.toString(8)}${kept})\n${content ?? `(copy of ${process.execPath})\n`}\n`,
  );
}

/** Writes beside and renames, so that an executable that runs is replaced and a crash leaves the old file. */
function write(
  { root }: Place,
  { path, mode, content, isSetting, ofGroup }: InstalledFile,
  group?: number,
): void {
  const full = join(root, path);
  if (isSetting && existsSync(full)) {
    process.stdout.write(`kept     ${full}\n`);
    return;
  }
  mkdirSync(dirname(full), { recursive: true });
  if (content === null && existsSync(full) && isSameFile(full, process.execPath)) return;
  const beside = `${full}.new`;
  if (content === null) copyFileSync(process.execPath, beside);
  else writeFileSync(beside, content);
  chmodSync(beside, mode);
  if (ofGroup && group !== undefined) chownSync(beside, 0, group);
  renameSync(beside, full);
  process.stdout.write(`wrote    ${full}\n`);
}

const isSameFile = (a: string, b: string): boolean => {
  const [first, second] = [statSync(a), statSync(b)];
  return first.ino === second.ino && first.dev === second.dev;
};

function addAccount(home: string): void {
  if (idsOf(ACCOUNT)) return;
  if (Bun.which("systemd-sysusers")) run(["systemd-sysusers", "labd.conf"]);
  else
    run([
      "useradd",
      "--system",
      "--user-group",
      "--no-create-home",
      "--home-dir",
      home,
      "--shell",
      "/usr/sbin/nologin",
      ACCOUNT,
    ]);
  if (!idsOf(ACCOUNT))
    throw new Problem("internal", `The account ${ACCOUNT} could not be made.`, {
      cause: "It is not in /etc/passwd.",
    });
}

function idsOf(account: string): { user: number; group: number } | undefined {
  const line = readFileSync("/etc/passwd", "utf8").match(new RegExp(`^${account}:[^:]*:(\\d+):(\\d+):`, "m"));
  return line ? { user: Number(line[1]), group: Number(line[2]) } : undefined;
}

/** @throws Problem internal with what the command said */
function run(command: string[]): void {
  const ran = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
  if (ran.exitCode === 0) return;
  throw new Problem("internal", `${command.join(" ")} ended with ${ran.exitCode}.`, {
    cause: ran.stderr.toString().trim(),
  });
}
