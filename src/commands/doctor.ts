import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { backupDirectory, DATABASE } from "../app/data-directory.ts";
import { ALL_SETTINGS, type Command } from "./command-line.ts";
import { isSecret, type Resolved, SETTING_NAMES, type Config, storeAccess } from "../config.ts";
import { MIGRATIONS } from "../../db/index.ts";
import {
  checkDirectory,
  checkProvider,
  readLdapOptions,
  readOidcOptions,
} from "../accounts/external/index.ts";
import { checkQueue } from "../farm/index.ts";
import { Problem } from "../problem.ts";
import { Corpora } from "../scoring/corpus/corpus.ts";
import { systemClock } from "../platform/clock.ts";
import { isStoreAddress, ObjectStore } from "../platform/object-store.ts";
import { SECOND_FACTOR_KEY } from "../accounts/second-factor.ts";
import { lockDirectory, openReader } from "../platform/sqlite.ts";
import { type CheckResult, ok, problem, warning } from "../platform/check-result.ts";
import { checkCertificate } from "../operations/health/check-certificate.ts";
import { checkBackups, checkClock, checkDatabase } from "../operations/health/check-database.ts";
import { checkSecondFactors } from "../operations/health/check-second-factors.ts";
import { checkSecrets } from "../webhooks/index.ts";
import { checkSecretFiles } from "../operations/health/check-secret-files.ts";
import { checkDisk, checkLimits, checkPermissions } from "../operations/health/check-machine.ts";
import { addressOf, overSocket } from "./open-inventory.ts";

const FORMATS = ["text", "json"];

export const doctor: Command = {
  name: "doctor",
  summary:
    "Look at settings, disk, permissions, clock, database, corpora, backups and server, and say what to do.",
  flags: [
    { name: "--format", value: "text|json", sentence: "How to print what was found; text by default." },
  ],
  settings: ALL_SETTINGS,
  example:
    "labd doctor --config /etc/labd/labd.toml\n" +
    "Changes nothing, and may run beside the server. Exit code 0 where all is well, 1 with warnings only, 2 with problems.",
  async run(call) {
    const format = call.value("--format") ?? "text";
    if (!FORMATS.includes(format))
      throw new Problem("usage", `--format: ${format} is not one of ${FORMATS.join(", ")}.`);
    const resolved = call.configuration();
    const findings = await examine(resolved);
    if (format === "json") process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
    else {
      const width = Math.max(...findings.map(({ about }) => about.length));
      for (const { state, about, found, remedy } of findings) {
        process.stdout.write(`${state.padEnd(7)}  ${about.padEnd(width)}  ${found}\n`);
        if (remedy !== undefined) process.stdout.write(`${" ".repeat(width + 11)}→ ${remedy}\n`);
      }
    }
    const has = (state: CheckResult["state"]): boolean => findings.some((finding) => finding.state === state);
    return has("problem") ? 2 : has("warning") ? 1 : 0;
  },
};

async function examine({ config, origin }: Resolved): Promise<CheckResult[]> {
  const data = config.data_dir;
  const path = join(data, DATABASE);
  const now = Date.now();
  const permissions = [
    ...checkSecretFiles(secretFiles(config, origin)),
    ...checkPermissions(data, process.getuid?.()),
  ];
  if (!existsSync(data)) return [...lookAtSettings(config), ...permissions];
  return [
    ...lookAtSettings(config),
    ...permissions,
    ...checkDisk(data, statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    ...checkLimits(),
    ...checkClock(path, now, isSynchronized()),
    ...checkDatabase(path, MIGRATIONS, config.litestream),
    ...checkSecondFactors(path, join(data, SECOND_FACTOR_KEY)),
    ...checkSecrets(path, join(data, SECOND_FACTOR_KEY)),
    ...lookAtCorpora(data, path),
    ...checkBackups(backupDirectory(config), data, config.backup_hours, now),
    ...(await lookAtStore(config)),
    ...checkCertificate(config.tls_certificate, config.tls_key, now),
    ...(await lookAtIdentity(config)),
    ...(config.queue === "" ? [] : await checkQueue({ url: config.queue, ca: config.queue_ca })),
    ...(await lookAtServer(config)),
  ];
}

/** The settings file where it has secrets, and the key of the certificate. */
function secretFiles(config: Config, origin: Resolved["origin"]): { path: string; holds: string }[] {
  const named = SETTING_NAMES.filter((name) => isSecret(name) && origin[name].startsWith("file "));
  const files = named.length === 0 ? [] : [{ path: origin[named[0]].slice(5), holds: named.join(", ") }];
  if (config.tls_key !== "") files.push({ path: config.tls_key, holds: "the key of the certificate" });
  return files;
}

/** Settings that are allowed, but together are rarely what was meant. */
function lookAtSettings(config: Config): CheckResult[] {
  const found: CheckResult[] = [];
  const isOpen = config.listen === "" && !/^(127\.|::1$|localhost$)/.test(config.host);
  if (isOpen && config.tls_key === "")
    found.push(
      warning(
        "settings",
        `host ${config.host} opens the service to the network without TLS: passwords and tokens can be read on the way.`,
        "Set tls_certificate and tls_key, or listen on 127.0.0.1 behind a reverse proxy.",
      ),
    );
  if (isOpen && config.trust_proxy)
    found.push(
      warning(
        "settings",
        `trust_proxy believes X-Forwarded-For, and host ${config.host} lets everybody send it.`,
        "Listen on 127.0.0.1 or a Unix socket, so that only the proxy can call.",
      ),
    );
  if (config.base_path !== "" && config.public_url === "" && !config.trust_proxy)
    found.push(
      warning(
        "settings",
        "base_path says that there is a proxy, and links begin with what the proxy sends as Host.",
        "Set public_url to the address that clients use.",
      ),
    );
  if (config.public_url.startsWith("https:") && config.tls_key === "" && !config.trust_proxy)
    found.push(
      warning(
        "settings",
        "There is a proxy (public_url), but without trust_proxy all its clients count as one for failed sign-ins and waiting jobs.",
        "Set trust_proxy, and have the proxy set X-Forwarded-For.",
      ),
    );
  if (config.metrics === "all" && isOpen)
    found.push(
      warning("settings", "metrics = all lets the whole network read /metrics.", "Use metrics_token."),
    );
  if (config.admin_password !== "")
    found.push(
      warning(
        "settings",
        "admin_password is still set; it was for the first start only.",
        "Remove it, and change the password: labd user --help.",
      ),
    );
  return found.length > 0 ? found : [ok("settings", "All are allowed, and go together.")];
}

/** Whether the store of the backups can be asked; what lies there is known without it. */
async function lookAtStore(config: Config): Promise<CheckResult[]> {
  const to = backupDirectory(config);
  if (!isStoreAddress(to)) return [];
  try {
    await new ObjectStore(to, storeAccess(config)).list();
    return [];
  } catch (error) {
    return [
      problem("backup", (error as Error).message, "Until then no backup is made: labd backup tries it."),
    ];
  }
}

/** Those who vouch for people. */
async function lookAtIdentity(config: Config): Promise<CheckResult[]> {
  try {
    const ldap = readLdapOptions(config);
    const oidc = readOidcOptions(config);
    return [
      ...(ldap ? await checkDirectory(ldap) : []),
      ...(oidc ? await checkProvider(oidc, config.public_url) : []),
    ];
  } catch (error) {
    return [
      problem("settings", (error as Error).message, "Set it right: the server does not start with it."),
    ];
  }
}

function lookAtCorpora(data: string, path: string): CheckResult[] {
  if (!existsSync(path)) return [];
  const add = "labd corpus add FILE: scoring finds homologs in a corpus only.";
  try {
    const reader = openReader(path);
    try {
      const corpora = new Corpora(data, reader, systemClock);
      const all = corpora.list();
      if (all.length === 0) return [warning("corpus", "There is none.", add)];
      const findings: CheckResult[] = [];
      for (const corpus of all) {
        try {
          corpora.verify(corpus);
        } catch (error) {
          findings.push(
            problem(
              "corpus",
              `${corpus.name}: ${(error as Error).message}`,
              "Unpack it from a backup (zstd -d backups/corpora/….labc.zst), or labd corpus remove it and add the FASTA file again.",
            ),
          );
        }
      }
      const active = corpora.active();
      if (!active) findings.push(warning("corpus", "None is in use.", "labd corpus use NAME"));
      if (findings.length > 0) return findings;
      return [
        ok("corpus", `${all.length} whole; ${active!.name} is in use, with ${active!.sequences} sequences.`),
      ];
    } finally {
      reader.close();
    }
  } catch (error) {
    return [problem("corpus", (error as Error).message, add)];
  }
}

async function lookAtServer(config: Config): Promise<CheckResult[]> {
  try {
    // Without the file nobody ever served, and asking for the lock would make one that is this account's.
    if (existsSync(join(config.data_dir, "labd.lock"))) lockDirectory(config.data_dir).release();
    return [
      warning(
        "server",
        `None serves ${config.data_dir}.`,
        "labd serve, or systemctl start labd; journalctl -u labd says why it stopped.",
      ),
    ];
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "already_running") {
      return [
        problem(
          "server",
          `The lock cannot be asked for: ${(error as Error).message}.`,
          "See to the owner of labd.lock.",
        ),
      ];
    }
  }
  try {
    const request = new Request(`${addressOf(config)}/readyz`);
    const answer = await overSocket(request, config);
    const body = (await answer.json()) as { reasons?: string[] };
    if (answer.ok) return [ok("server", `It is ready at ${config.listen || addressOf(config)}.`)];
    return [
      problem(
        "server",
        `It is not ready: ${(body.reasons ?? []).join(" ")}`,
        "Its log says more; systemctl restart labd.",
      ),
    ];
  } catch (error) {
    return [
      warning(
        "server",
        `One runs, but ${config.listen || addressOf(config)} does not answer: ${(error as Error).message}`,
        "Give doctor the settings of the server (--config), and see to its log.",
      ),
    ];
  }
}

/** Whether systemd says that the clock follows others; undefined where it does not say. */
function isSynchronized(): boolean | undefined {
  const program = Bun.which("timedatectl");
  if (program === null) return undefined;
  const run = Bun.spawnSync([program, "show", "-p", "NTPSynchronized", "--value"], { stderr: "ignore" });
  const said = run.stdout.toString().trim();
  return run.exitCode === 0 && (said === "yes" || said === "no") ? said === "yes" : undefined;
}
