import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { backupDirectory, DATABASE } from "../app/data-directory.ts";
import { toEnvironment } from "../app/options.ts";
import { type Config, flagName, resolveConfig } from "../config.ts";
import { copyDatabase } from "../operations/backup/make-backup.ts";
import { linkOrCopy } from "../operations/backup/restore-backup.ts";
import { fileHash, renameDurably } from "../platform/durable-file.ts";
import { findCause } from "../platform/log.ts";
import { verifySignature } from "../platform/minisign.ts";
import { createDirectory, createFile } from "../platform/owned-file.ts";
import { selfCommand } from "../platform/self-command.ts";
import { lockFile, readApplied } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import { compareVersions, RELEASE_KEY, VERSION } from "../version.ts";
import { backup, findBackups } from "./backup.ts";
import { ALL_SETTINGS, type Call, type Command } from "./command.ts";
import { layout } from "./install-layout.ts";
import { isSystemdRunning, refusePackaged, run } from "./install.ts";
import { restore } from "./restore.ts";
import { runCommand } from "./run-command.ts";
import { askReadiness } from "./with-inventory.ts";

const UNIT = "labd.service";
/** Seconds in which a restarted service must become ready. */
const WAIT = 600;
/** Milliseconds between questions whether it is. */
const READY_INTERVAL = 250;
/** Times that the process that replaces the executable is started, if it is killed. */
const ATTEMPTS = 3;

export const upgrade: Command = {
  name: "upgrade",
  summary: "Replace this executable with a newer, signed release; go back if the service does not get ready.",
  operands: "[FILE]",
  flags: {
    "--key KEY": "Public key of minisign; by default the one that this executable was built with.",
    "--wait 1-86400": `Seconds in which the restarted service must become ready; ${WAIT} by default.`,
    "--undo":
      "Put the former executable back. If the database was migrated since, its backup from then is restored; the present database is kept beside it.",
    "--finish EXECUTABLE": "Replace this executable and restart; labd upgrade starts itself with it.",
  },
  settings: ALL_SETTINGS,
  example:
    "sudo labd upgrade ./labd-linux-x64\n" +
    "The signature is FILE.minisig. FILE is tried on a copy of the database first. The former executable stays as labd.former.",
  async run(call) {
    const target = findTarget(call);
    if (call.has("--finish")) return locked(target, () => finish(call, target));
    const [file] = call.operands;
    accessSync(dirname(target.path), constants.W_OK);
    if (call.has("--undo")) accessSync(target.former, constants.X_OK);
    else if (file === undefined)
      throw new Problem("usage", "labd upgrade needs a FILE. See labd upgrade --help.");
    else await locked(target, () => prepareApart(call, target, file));
    return finishApart(call, target);
  },
};

interface Target {
  /** The installed executable. */
  path: string;
  /** The release, checked and not yet in its place. */
  next: string;
  former: string;
  prefix: string;
  /** True if systemd starts the executable. */
  isService: boolean;
  config: Config;
  /** Flags that give any version the same settings. */
  settings: string[];
}

/** @throws Problem usage when run from source, conflict where a package contains the executable */
function findTarget(call: Call): Target {
  const [program, source] = selfCommand();
  if (source !== undefined)
    throw new Problem("usage", "labd runs from source: only an executable is upgraded.");
  const path = call.value("--finish") ?? realpathSync(program).replace(/\.former$/, "");
  const prefix = dirname(dirname(path));
  const installed = layout(prefix);
  const isInstalled = path === installed.executable && isSystemdRunning();
  if (isInstalled) refusePackaged();
  const { flags, environment, file: named } = call.sources();
  const isService = isInstalled && Bun.spawnSync(["systemctl", "is-enabled", UNIT]).exitCode === 0;
  const file = named ?? environment.LABD_CONFIG ?? (isService ? installed.settings : undefined);
  const given = Object.entries(flags).map(([name, value]) => `${flagName(name as keyof Config)}=${value}`);
  return {
    path,
    next: `${path}.next`,
    former: `${path}.former`,
    prefix,
    isService,
    config: resolveConfig({ flags, environment, file }).config,
    settings: [...given, ...(file === undefined ? [] : ["--config", file])],
  };
}

/** @throws Problem conflict while another upgrade of this data directory runs */
async function locked<T>({ config }: Target, work: () => Promise<T>): Promise<T> {
  if (!existsSync(config.data_dir)) return work();
  const lock = lockFile(join(config.data_dir, "upgrade.lock"));
  if (lock === null) throw new Problem("conflict", "Another labd upgrade is running.");
  try {
    return await work();
  } finally {
    lock.release();
  }
}

const refuse = (sentence: string): Problem => new Problem("bad_release", `${sentence} Nothing was changed.`);

/** Only a release that was checked gets the name that is installed, also where its check is killed. */
async function prepareApart(call: Call, target: Target, file: string): Promise<void> {
  const unchecked = `${target.next}.unchecked`;
  await prepare(call, { ...target, next: unchecked }, file);
  renameDurably(unchecked, target.next);
}

/** Checks a release and backs up. Whoever owns the file cannot change the copy that is checked and later installed. */
async function prepare(call: Call, target: Target, file: string): Promise<void> {
  const { next, config, settings } = target;
  const key = call.value("--key") ?? RELEASE_KEY;
  if (key === "") throw new Problem("usage", "Name the public key of the releases: --key RW…");
  const signature = `${file}.minisig`;
  const signed = readFileSync(signature, "utf8");
  rmSync(next, { force: true });
  try {
    copyFileSync(file, next);
    chmodSync(next, 0o755);
    const comment = verify(next, signed, key, `${file} was not accepted with the signature ${signature}`);
    const version = /^labd (\S+) /.exec(runRelease(file, next, ["--version"]))?.[1];
    if (version === undefined) throw refuse(`${file} --version does not say a version of labd.`);
    if (compareVersions(version, VERSION) <= 0)
      throw refuse(
        `${file} is labd ${version}, which is not newer than the installed ${VERSION}. labd upgrade --undo goes back.`,
      );
    await call.print(`signed   ${file}: labd ${version} (${comment})\n`);
    runRelease(file, next, ["check", ...settings]);
    if (existsSync(join(config.data_dir, DATABASE))) {
      await runCommand(backup, [], toEnvironment(config), call.streams);
      tryMigration(file, target);
      await call.print("tried    on a copy of the database\n");
    }
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

function verify(next: string, signed: string, key: string, refusal: string): string {
  try {
    return verifySignature(next, signed, key);
  } catch (error) {
    throw refuse(`${refusal}: ${(error as Error).message}.`);
  }
}

/** The output of the release. @param cwd its working directory, which may have a labd.toml @throws Problem bad_release */
function runRelease(file: string, next: string, words: string[], cwd?: string): string {
  const { PATH } = process.env;
  let why: string;
  try {
    // Variables would be settings of the copy, too.
    const run = Bun.spawnSync([next, ...words], cwd === undefined ? {} : { cwd, env: { PATH } });
    if (run.exitCode === 0) return run.stdout.toString();
    why = `ended with ${run.signalCode ?? run.exitCode}: ${run.stderr.toString().trim()}`;
  } catch (error) {
    why = `does not run here: ${(error as Error).message}.`;
  }
  throw refuse(`${file} ${words[0]} ${why}`);
}

/** Has the release migrate a copy of the database. No service is started: it would send e-mails and webhooks. */
function tryMigration(file: string, { next, config }: Target): void {
  const copy = join(config.data_dir, "upgrade-trial");
  rmSync(copy, { recursive: true, force: true });
  createDirectory(copy);
  try {
    copyDatabase(join(config.data_dir, DATABASE), createFile(join(copy, DATABASE)));
    runRelease(file, next, ["user", "list", "--data-dir", copy], copy);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Replaces and restarts in a process of its own, which goes on when this one is killed; this one starts it again when that is. */
async function finishApart(call: Call, { path, former, settings }: Target): Promise<number> {
  const isUndo = call.has("--undo");
  // The former version knows which databases it can open.
  const program = isUndo ? former : selfCommand()[0];
  const wait = call.value("--wait") ?? String(WAIT);
  const words = ["upgrade", "--finish", path, "--wait", wait, ...(isUndo ? ["--undo"] : []), ...settings];
  for (let attempt = 1; ; attempt++) {
    const child = Bun.spawn([program, ...words], {
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    const code = await child.exited;
    if (child.signalCode === null || attempt === ATTEMPTS) return code;
  }
}

/** Can be killed and started again at any moment. @throws Problem bad_release where the former version is back */
async function finish(call: Call, target: Target): Promise<void> {
  const { path, next, former, isService } = target;
  if (call.has("--undo")) return goBack(call, target);
  if (existsSync(next)) {
    replace(path, former);
    renameDurably(next, path);
  }
  // Otherwise a killed process has begun to go back.
  let why = "it was being put back";
  if (fileHash(path) !== fileHash(former)) {
    if (!isService)
      return call.print(
        `replaced ${path}\nRestart labd: a running server goes on with the former version. If the new one does not get ready, stop it and run ${former} upgrade --undo.\n`,
      );
    try {
      await restart(call, target);
      return await call.print(`ready    ${path}; labd upgrade --undo goes back\n`);
    } catch (error) {
      const problem = Problem.from(error);
      why = [problem.message, findCause(problem)].filter(Boolean).join(" ");
    }
  }
  call.warn(`The new version is not ready: ${why} The former one is put back.`);
  await goBack(call, target);
  throw new Problem(
    "bad_release",
    `labd ${VERSION} is in place again. The new version was not ready: ${why}`,
  );
}

/** Puts the former executable in place, and a database that it can open. It was started from there, or is its copy. */
async function goBack(call: Call, target: Target): Promise<void> {
  const { path, former, isService } = target;
  if (isService) run(["systemctl", "stop", UNIT]);
  await restoreDatabase(call, target);
  replace(former, path);
  if (isService) await restart(call, target);
  await call.print(`put back ${path}: labd ${VERSION}${isService ? ", which is ready" : ""}\n`);
}

/** Restores the newest backup from before migrations that this version does not know. */
async function restoreDatabase(call: Call, { config }: Target): Promise<void> {
  const path = join(config.data_dir, DATABASE);
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  if (!existsSync(path) || readApplied(path).every(({ name }) => known.has(name))) return;
  const backups = await findBackups(config, backupDirectory(config));
  const newest = backups.findLast(({ manifest }) =>
    manifest.database.migrations.every((name) => known.has(name)),
  );
  if (newest === undefined)
    throw new Problem("bad_backup", `${backupDirectory(config)} has no backup from before the upgrade.`);
  await runCommand(restore, [newest.path], toEnvironment(config), call.streams);
}

/** Gives an executable a second name, whose former file is replaced in one step. */
function replace(from: string, to: string): void {
  const written = `${to}.new`;
  rmSync(written, { force: true });
  linkOrCopy(from, written);
  chmodSync(written, 0o755);
  renameDurably(written, to);
}

/** Starts what is in place, with its unit. @throws Problem if it is not ready in time */
async function restart(call: Call, { path, prefix, config }: Target): Promise<void> {
  const deadline = Date.now() + 1000 * (call.number("--wait") ?? WAIT);
  run([path, "install", "--systemd", "--no-start", "--prefix", prefix]);
  run(["systemctl", "restart", UNIT], Math.max(1, deadline - Date.now()));
  for (;;) {
    const { isReady, reasons } = await askReadiness(config).catch(({ message }: Error) => ({
      isReady: false,
      reasons: [message],
    }));
    if (isReady) return;
    if (Date.now() > deadline) throw new Problem("bad_release", reasons.join(" "));
    await Bun.sleep(READY_INTERVAL);
  }
}
