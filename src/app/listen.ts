import { SET_UP_HOURS, setUpPath } from "../accounts/account-routes.ts";
import { parsePlace } from "../operations/backup/places.ts";
import { openSchedule } from "../operations/backup/schedule.ts";
import { noteCommitted } from "../operations/health/lost-database.ts";
import { changedSettings, type Config, isSecret, refuseMistakes, socketPath } from "../config.ts";
import { recordStart } from "../accounts/audit-offline.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { prepareSearch } from "../inventory/index.ts";
import { systemClock } from "../platform/clock.ts";
import { fillReserve } from "../platform/disk-reserve.ts";
import { spawnSelf } from "../platform/self-command.ts";
import { openSocket, type Socket } from "../platform/socket.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { COMMIT, VERSION } from "../version.ts";
import { backupDirectory } from "./data-directory.ts";
import { type App, open } from "./open.ts";
import { toEnvironment } from "./options.ts";
import { findInvalidSettings } from "./setting-mistakes.ts";

/** People whose first searches are prepared after a start. */
const SEARCHERS = 20;
/** Seconds that running requests have to finish after a request to stop. */
const GRACE_SECONDS = 30;
/** Milliseconds between checks of the certificate files for changes. */
const CERTIFICATE_INTERVAL = 10_000;
const DAY = 86_400_000;

export interface Listening extends App {
  /** Address to open in a browser on this machine; `unix:` and a path for a Unix socket. */
  url: string;
  port: number;
  /** One-time link to create the first administrator; null if an administrator exists. */
  setUp: string | null;
  /** Reads certificate and key again; logs an error and keeps the old ones if they cannot be used. */
  reload(): void;
  /** Lets running requests finish, then closes. Further calls change nothing. */
  stop(): Promise<void>;
}

/**
 * Opens the service and listens. `otherPort`: take the next free port where the configured one is in use;
 * `backupInterval`: milliseconds between two checks whether a backup is due.
 * @throws Problem cannot_listen, invalid_setting
 */
export async function listen(
  config: Config,
  { otherPort = false, backupInterval }: { otherPort?: boolean; backupInterval?: number } = {},
): Promise<Listening> {
  refuseMistakes(findInvalidSettings(config));
  const service = await open(config);
  fillReserve(config.data_dir);
  const socket = await listenFor(service, config, otherPort ? 100 : 1);
  void prepareSearch(service.database, systemClock, service.accounts.recentActors(SEARCHERS));
  const reload = (): void => reloadCertificate(socket, service, config);
  const audit = auditRun(service, config);
  const committed = noteCommitted(service.database, systemClock.now);
  const schedule = scheduleBackups(config, service, backupInterval);
  const watch = watchCertificate(socket, reload);
  const stop = async (): Promise<void> => {
    clearInterval(watch);
    service.retire();
    await schedule?.close();
    const grace = Promise.withResolvers<void>();
    const timer = setTimeout(grace.resolve, GRACE_SECONDS * 1000);
    await Promise.race([socket.stop(false), grace.promise]);
    clearTimeout(timer);
    await socket.stop(true);
    await getWriteLock(service.database).free();
    audit.stop();
    committed.stop();
    await service.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    ...service,
    url: socket.url,
    port: socket.port,
    setUp: setUpLink(config, service.accounts, socket.url),
    reload,
    stop: () => (stopped ??= stop()),
  };
}

async function listenFor(service: App, config: Config, attempts: number): Promise<Socket> {
  const { host, port, tls_certificate: certificate, tls_key: key } = config;
  const unix = socketPath(config);
  try {
    return await openSocket({ host, port, unix, certificate, key, attempts }, service.answer);
  } catch (error) {
    await service.close();
    throw error;
  }
}

function reloadCertificate(socket: Socket, { log }: App, config: Config): void {
  if (config.tls_key === "") return;
  try {
    socket.reload();
    log.info("certificate reloaded");
  } catch (error) {
    log.problem("certificate not reloaded", { cause: (error as Error).message });
  }
}

/** Reloads when the files change; files that were refused are not tried again until they change. */
function watchCertificate(socket: Socket, reload: () => void): Timer {
  let tried = "";
  return setInterval(() => {
    const state = socket.outdated();
    if (state === undefined || state === tried) return;
    tried = state;
    reload();
  }, CERTIFICATE_INTERVAL);
}

/** Records start and stop in the audit log, and logs its head now, daily and at the end. */
function auditRun({ accounts, log }: App, config: Config): { stop(): void } {
  const audit = accounts.audit.log;
  // The service starts on a full disk, because it can still read.
  const attempt = (what: string, record: () => void): void => {
    try {
      record();
    } catch (error) {
      log.problem(`${what} not recorded in the audit log`, { cause: (error as Error).message });
    }
  };
  const logHead = (): void => {
    const head = audit.head();
    if (head) log.info("audit head", { ...head });
  };
  attempt("start", () =>
    recordStart(audit, { version: VERSION, commit: COMMIT, settings: settingsForAudit(config) }),
  );
  logHead();
  const timer = setInterval(logHead, DAY);
  return {
    stop() {
      clearInterval(timer);
      attempt("stop", () => audit.record({ action: "service.stop" }));
      logHead();
    },
  };
}

/** Settings that differ from their defaults; secrets masked. */
const settingsForAudit = (config: Config): Record<string, string | number | boolean> =>
  Object.fromEntries(
    changedSettings(config).map((name) => [name, isSecret(name) ? "********" : config[name]]),
  );

/** A new link to create the first administrator, unless one exists. */
function setUpLink(config: Config, accounts: Accounts, url: string): string | null {
  if (accounts.hasAdministrator()) return null;
  const { key } = accounts.links.make(null, SET_UP_HOURS);
  // Only the proxy's address opens a Unix socket in a browser.
  const base = config.public_url || (url.startsWith("unix:") ? "" : url);
  return base + setUpPath(key);
}

/** Makes backups on schedule, each by `labd backup` in a child process. */
function scheduleBackups(
  config: Config,
  { backupFailure, clock, log }: App,
  interval: number | undefined,
): ReturnType<typeof openSchedule> | undefined {
  if (config.backup_hours === 0) return undefined;
  const directory = backupDirectory(config);
  return openSchedule({
    directory: parsePlace(config.data_dir, directory).directory,
    hours: config.backup_hours,
    clock,
    log,
    failure: backupFailure,
    ...(interval === undefined ? {} : { interval }),
    make: () =>
      spawnSelf(["backup", "--scheduled", "--thin", "--to", directory], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        // Not as flags, which everybody on the machine sees: S3 keys are among them.
        env: { ...process.env, ...toEnvironment(config) },
      }),
  });
}
