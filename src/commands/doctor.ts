import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import {
  checkDirectory,
  checkProvider,
  readLdapOptions,
  readOidcOptions,
} from "../accounts/external/index.ts";
import { SECOND_FACTOR_KEY } from "../accounts/second-factor.ts";
import { backupDirectory, DATABASE } from "../app/data-directory.ts";
import { type Config, isSecret, type Resolved, SETTING_NAMES, socketPath, storeAccess } from "../config.ts";
import { BACKUP_KEY } from "../operations/backup/encryption.ts";
import { checkQueue } from "../farm/index.ts";
import { checkContents } from "../operations/health/check-contents.ts";
import { checkBackups, checkClock, checkDatabase } from "../operations/health/check-database.ts";
import {
  checkCertificate,
  checkDisk,
  checkLimits,
  lockHolder,
  checkPermissions,
  checkSecretFiles,
} from "../operations/health/check-machine.ts";
import { checkSecondFactors } from "../operations/health/check-second-factors.ts";
import { checkSignIns } from "../operations/health/check-sign-ins.ts";
import { Checks, type CheckResult, ok } from "../platform/check-result.ts";
import { systemClock } from "../platform/clock.ts";
import { isStoreAddress, ObjectStore } from "../platform/object-store.ts";
import { lockDirectory, openReader } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import { Corpora, isEarlierFormat } from "../scoring/index.ts";
import { checkSecrets } from "../webhooks/index.ts";
import { ALL_SETTINGS, type Call, type Command } from "./command.ts";
import { progressLine } from "./progress.ts";
import { askReadiness, serverAddress } from "./with-inventory.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "Check settings, disk, permissions, clock, database, corpora, backups and server.",
  flags: {
    "--format text|json": "Output format; text by default.",
    "--deep":
      "Also read all predictions, attachments, features, families and backups, and verify their checksums.",
  },
  settings: ALL_SETTINGS,
  example:
    "labd doctor --config /etc/labd/labd.toml\n" +
    "labd doctor --deep --config /etc/labd/labd.toml\n" +
    "Changes nothing, and can be run while the server runs. Exit codes: 0 no problems, 1 warnings, 2 problems.",
  async run(call) {
    const resolved = call.configuration();
    const results = [...(await checkAll(resolved)), ...(await checkDeep(call, resolved))];
    if (call.value("--format") === "json") await call.printJson(results);
    else {
      const width = Math.max(...results.map(({ about }) => about.length));
      for (const { state, about, found, remedy } of results) {
        await call.print(`${state.padEnd(7)}  ${about.padEnd(width)}  ${found}\n`);
        if (remedy !== undefined) await call.print(`${" ".repeat(width + 11)}→ ${remedy}\n`);
      }
    }
    const has = (state: CheckResult["state"]): boolean => results.some((result) => result.state === state);
    return has("problem") ? 2 : has("warning") ? 1 : 0;
  },
};

async function checkDeep(call: Call, { config }: Resolved): Promise<CheckResult[]> {
  if (!call.has("--deep"))
    return [
      ok("contents", "Not checked. labd doctor --deep reads all stored content and compares checksums."),
    ];
  const line = progressLine(call.streams.stderr);
  const path = join(config.data_dir, DATABASE);
  return checkContents(path, backupDirectory(config), (read, next) =>
    line.show(`${read.toLocaleString("en")} read; ${next}`),
  ).finally(line.clear);
}

async function checkAll({ config, origin }: Resolved): Promise<CheckResult[]> {
  const data = config.data_dir;
  const path = join(data, DATABASE);
  const key = join(data, SECOND_FACTOR_KEY);
  const now = Date.now();
  const always = [
    ...checkSettings(config),
    ...checkSecretFiles(secretFiles(config, origin)),
    ...checkPermissions(data, process.getuid?.()),
  ];
  if (!existsSync(data)) return always;
  return [
    ...always,
    ...checkDisk(data, statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    ...checkLimits(lockHolder(join(data, "labd.lock"))),
    ...checkClock(path, now, isClockSynchronized()),
    ...checkDatabase(path, MIGRATIONS, config.litestream, backupDirectory(config)),
    ...checkSecondFactors(path, key),
    ...checkSecrets(path, key),
    ...checkSignIns(path, now),
    ...checkCorpora(data, path),
    ...checkBackups(backupDirectory(config), data, config.backup_hours, now),
    ...(await checkBackupStore(config)),
    ...checkCertificate(config.tls_certificate, config.tls_key, now),
    ...(await checkIdentityProviders(config)),
    ...(config.queue === "" ? [] : await checkQueue({ url: config.queue, ca: config.ca_file })),
    ...(await checkServer(config)),
  ];
}

/** The settings file if it contains secrets, and the key of the certificate. */
function secretFiles(config: Config, origin: Resolved["origin"]): { path: string; holds: string }[] {
  const named = SETTING_NAMES.filter((name) => isSecret(name) && origin[name].startsWith("file "));
  const files = named.length === 0 ? [] : [{ path: origin[named[0]].slice(5), holds: named.join(", ") }];
  files.push({ path: join(config.data_dir, BACKUP_KEY), holds: "the key of the backups" });
  if (config.tls_key !== "") files.push({ path: config.tls_key, holds: "the key of the certificate" });
  return files;
}

/** Checks for settings that are valid alone but rarely intended together. */
function checkSettings(config: Config): CheckResult[] {
  const checks = new Checks("settings");
  const isOpen = socketPath(config) === "" && !/^(127\.|::1$|localhost$)/.test(config.host);
  if (isOpen && config.tls_key === "")
    checks.warning(
      `host ${config.host} opens the service to the network without TLS: passwords and tokens can be intercepted.`,
      "Set tls_certificate and tls_key, or listen on 127.0.0.1 behind a reverse proxy.",
    );
  if (isOpen && config.trust_proxy)
    checks.warning(
      `trust_proxy accepts X-Forwarded-For, and host ${config.host} lets every client send it.`,
      "Listen on 127.0.0.1 or a Unix socket, so that only the proxy can connect.",
    );
  if (config.public_url.startsWith("https:") && config.tls_key === "" && !config.trust_proxy)
    checks.warning(
      "public_url implies a proxy, but without trust_proxy all its clients count as one for failed sign-ins and waiting jobs.",
      "Set trust_proxy, and have the proxy set X-Forwarded-For.",
    );
  if (config.admin_password !== "")
    checks.warning(
      "admin_password is still set, although only the first start needs it.",
      "Remove it, and change the password: labd user --help.",
    );
  return checks.orOk("The settings are valid and consistent.");
}

/** Checks the access to the object store of the backups. */
async function checkBackupStore(config: Config): Promise<CheckResult[]> {
  const checks = new Checks("backup");
  const address = backupDirectory(config);
  try {
    if (isStoreAddress(address)) await new ObjectStore(address, storeAccess(config)).list();
  } catch (error) {
    checks.problem(
      (error as Error).message,
      "Until then no backup can be made. To test it, run labd backup.",
    );
  }
  return checks.results;
}

async function checkIdentityProviders(config: Config): Promise<CheckResult[]> {
  try {
    const ldap = readLdapOptions(config);
    const oidc = readOidcOptions(config);
    return [
      ...(ldap ? await checkDirectory(ldap) : []),
      ...(oidc ? await checkProvider(oidc, config.public_url) : []),
    ];
  } catch (error) {
    const checks = new Checks("settings");
    checks.problem((error as Error).message, "Correct the setting; otherwise the server does not start.");
    return checks.results;
  }
}

function checkCorpora(data: string, path: string): CheckResult[] {
  if (!existsSync(path)) return [];
  const checks = new Checks("corpus");
  const remedy = "Run labd corpus add FILE; scoring needs a corpus to find homologs.";
  try {
    const reader = openReader(path);
    try {
      const corpora = new Corpora(data, reader, systemClock);
      const all = corpora.list();
      if (all.length === 0) checks.warning("There is no corpus.", remedy);
      for (const corpus of all) {
        try {
          corpora.verify(corpus);
        } catch (error) {
          checks.problem(
            `${corpus.name}: ${(error as Error).message}`,
            "Restore it from a backup (zstd -d backups/corpora/….labc.zst), or run labd corpus remove and add the FASTA file again.",
          );
        }
        if (isEarlierFormat(corpus.path))
          checks.warning(
            `${corpus.name}: an earlier version of labd packed it, without genes and whole names.`,
            "Run labd corpus add FILE with its FASTA file again: it replaces the corpus.",
          );
      }
      const active = corpora.active();
      if (all.length > 0 && !active) checks.warning("No corpus is active.", "labd corpus use NAME");
      return checks.orOk(
        `${all.length} intact; ${active?.name} is active, with ${active?.sequences} sequences.`,
      );
    } finally {
      reader.close();
    }
  } catch (error) {
    checks.problem((error as Error).message, remedy);
    return checks.results;
  }
}

async function checkServer(config: Config): Promise<CheckResult[]> {
  const checks = new Checks("server");
  const address = socketPath(config) || serverAddress(config);
  try {
    // Without the file no server ever ran, and taking the lock would make the file.
    if (existsSync(join(config.data_dir, "labd.lock"))) lockDirectory(config.data_dir).release();
    checks.warning(
      `No server is running on ${config.data_dir}.`,
      "Run labd serve or systemctl start labd; journalctl -u labd shows why it stopped.",
    );
    return checks.results;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "already_running") {
      checks.problem(
        `The lock cannot be acquired: ${(error as Error).message}.`,
        "Check the owner of labd.lock.",
      );
      return checks.results;
    }
  }
  try {
    const { isReady, reasons } = await askReadiness(config);
    if (!isReady)
      checks.problem(
        `It is not ready: ${reasons.join(" ")}`,
        "Check its log, then run systemctl restart labd.",
      );
    else if (reasons.length > 0)
      checks.problem(reasons.join(" "), "Remove the cause; labd backup makes a backup now.");
  } catch (error) {
    checks.warning(
      `A server is running, but ${address} does not respond: ${(error as Error).message}`,
      "Give doctor the settings of the server (--config), and check its log.",
    );
  }
  return checks.orOk(`The server is ready at ${address}.`);
}

/** True if systemd reports a synchronized clock; undefined without an answer. */
function isClockSynchronized(): boolean | undefined {
  const program = Bun.which("timedatectl");
  if (program === null) return undefined;
  const { stdout, exitCode } = Bun.spawnSync([program, "show", "-p", "NTPSynchronized", "--value"], {
    stderr: "ignore",
  });
  const answer = stdout.toString().trim();
  return exitCode === 0 && (answer === "yes" || answer === "no") ? answer === "yes" : undefined;
}
