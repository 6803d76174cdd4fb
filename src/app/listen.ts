import { SET_UP_HOURS, setUpPath } from "../operations/administration/index.ts";
import { placeOf } from "../operations/backup/places.ts";
import { openSchedule, type Schedule } from "../operations/backup/schedule.ts";
import { type Config, isSecret, SETTING_NAMES, SETTINGS } from "../config.ts";
import { Problem } from "../problem.ts";
import { recordStart } from "../accounts/audit-offline.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { takeInheritedSockets } from "../platform/inherited-sockets.ts";
import { selfCommand } from "../platform/self-command.ts";
import { openSocket, type Socket } from "../platform/socket.ts";
import { writeLockOf } from "../platform/write-lock.ts";
import { COMMIT, VERSION } from "../version.ts";
import { backupDirectory } from "./data-directory.ts";
import { type App, open } from "./open.ts";
import { environmentOf } from "./options.ts";

/** Seconds that running requests have to finish after a request to stop. */
const GRACE = 30;

export interface Listening extends App {
  /** Address to open in a browser on this machine; `unix:` and a path for a Unix socket. */
  url: string;
  port: number;
  /** Where the first administrator is made, for one use; null where there is one. */
  setUp: string | null;
  /** Takes the files of certificate and key again, where they are used. What cannot be used is logged, and the old stay. */
  reload(): void;
  /** Lets running requests finish, then closes. Calling it again changes nothing. */
  stop(): Promise<void>;
}

/** Milliseconds between looks at the files of certificate and key. */
const LOOK = 10_000;
const DAY = 86_400_000;

/**
 * Opens the service and listens. `otherPort`: take the next free port where the wanted one is in use.
 * @throws Problem invalid_setting where the port cannot be had
 */
export async function listen(config: Config, { otherPort = false } = {}): Promise<Listening> {
  if ((config.tls_certificate === "") !== (config.tls_key === ""))
    throw new Problem("invalid_setting", "tls_certificate and tls_key are set together or not at all.");
  const unix = config.listen.replace(/^unix:/, "");
  const inherited = takeInheritedSockets();
  if (unix !== "" && config.tls_key !== "")
    throw new Problem("invalid_setting", "tls_certificate: a Unix socket (listen) has no TLS.");
  const service = await open(config);
  let socket: Socket;
  try {
    socket = await openSocket(
      {
        host: config.host,
        port: config.port,
        unix,
        inherited,
        certificate: config.tls_certificate,
        key: config.tls_key,
        attempts: otherPort ? 100 : 1,
      },
      service.answer,
    );
  } catch (error) {
    await service.close();
    throw error;
  }
  if (inherited.length > 0 && !isAsSet(config, socket))
    service.log.problem("socket of systemd is not as the settings", {
      socket: socket.url,
      see: "labd install",
    });
  const reload = (): void => {
    if (config.tls_key === "") return;
    try {
      socket.reload();
      service.log.info("certificate read again");
    } catch (error) {
      service.log.problem("certificate not read", { cause: (error as Error).message });
    }
  };
  /** On a full disk the service still reads; that it began to, or ended, is then in the log alone. */
  const noted = (what: string, note: () => void): void => {
    try {
      note();
    } catch (error) {
      service.log.problem(`${what} not in the audit log`, { cause: (error as Error).message });
    }
  };
  noted("start", () =>
    recordStart(service.accounts.audit.log, { version: VERSION, commit: COMMIT, settings: unusual(config) }),
  );
  const tellHead = (): void => {
    const head = service.accounts.audit.log.head();
    if (head) service.log.info("audit head", { ...head });
  };
  tellHead();
  const heads = setInterval(tellHead, DAY);
  const schedule = scheduleBackups(config, service);
  let refused = "";
  const watch = setInterval(() => {
    const state = socket.outdated();
    if (state === undefined || state === refused) return;
    refused = state;
    reload();
  }, LOOK);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    clearInterval(watch);
    clearInterval(heads);
    service.retire();
    await schedule?.close();
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, GRACE * 1000);
    await Promise.race([socket.stop(false), patience.promise]);
    clearTimeout(timer);
    await socket.stop(true);
    await writeLockOf(service.database).free();
    noted("stop", () => service.accounts.audit.log.record({ action: "service.stop" }));
    tellHead();
    await service.close();
  };
  return {
    ...service,
    url: socket.url,
    port: socket.port,
    setUp: setUpLink(config, service.accounts, socket.url),
    reload,
    stop: () => (stopped ??= stop()),
  };
}

/** Whether a socket of systemd is where the settings say, by which other commands find the server. */
const isAsSet = ({ listen, port }: Config, socket: Socket): boolean =>
  (listen === "") === socket.port > 0 && (listen !== "" || port === socket.port);

/** A new link for making the first administrator, while there is none. */
function setUpLink(config: Config, accounts: Accounts, url: string): string | null {
  if (accounts.hasAdministrator()) return null;
  const { key } = accounts.links.make(null, SET_UP_HOURS);
  // Nobody opens a socket in a browser: whoever set up the proxy before it knows the rest of the address.
  const before = config.public_url || (url.startsWith("unix:") ? "" : url);
  return before.replace(/\/+$/, "") + config.base_path + setUpPath(key);
}

/** Settings that are not the usual ones; secrets only by name. */
const unusual = (config: Config): Record<string, string | number | boolean> =>
  Object.fromEntries(
    SETTING_NAMES.filter((name) => config[name] !== SETTINGS[name].fallback).map((name) => [
      name,
      isSecret(name) ? "********" : config[name],
    ]),
  );

/** Makes backups as the settings say, by `labd backup` in a process of its own. */
function scheduleBackups(config: Config, { clock, log }: App): Schedule | undefined {
  if (config.backup_hours === 0) return undefined;
  const directory = backupDirectory(config);
  return openSchedule({
    directory: placeOf(config.data_dir, directory).directory,
    hours: config.backup_hours,
    clock,
    log,
    make: () =>
      Bun.spawn([...selfCommand(), "backup", "--scheduled", "--thin", "--to", directory], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        // Not as flags: the keys of a store are among them, and all of the machine sees what a command is called with.
        env: { ...process.env, ...environmentOf(config) },
      }),
  });
}
