import { basename, join, resolve } from "node:path";
import {
  administrationRoutes,
  purposeOf,
  requireAdministrator,
  SET_UP_HOURS,
  setUpPath,
  Tasks,
  UPLOADS,
} from "./administration/index.ts";
import { MIGRATIONS } from "../db/index.ts";
import { makeBackup } from "./backup/make-backup.ts";
import type { Reason } from "./backup/manifest.ts";
import { openSchedule, type Schedule } from "./backup/schedule.ts";
import { type Config, flagOf, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from "./config.ts";
import { inventoryRoutes, openImports, recordEvents } from "./inventory/index.ts";
import { Problem } from "./problem.ts";
import { jobEnds, openScoring, type Scoring } from "./scoring/index.ts";
import { atCommandLine, noteStart } from "./shell/audit-beside.ts";
import { auditOf, type Note } from "./shell/audit.ts";
import { type AccountOptions, Accounts } from "./shell/auth.ts";
import { arrivalOf, callerOf } from "./shell/caller.ts";
import { type Clock, systemClock } from "./shell/clock.ts";
import { type Answer, openHttp } from "./shell/http.ts";
import { type Log, openLog } from "./shell/log.ts";
import { baseOf, basePathOf, callerAddress, isUnsafe, type Reach } from "./shell/origin.ts";
import { Metrics } from "./shell/metrics.ts";
import { auditRoutes } from "./shell/route-audit.ts";
import { metricsRoutes } from "./shell/route-metrics.ts";
import { ownProgram } from "./shell/own-program.ts";
import { timeQueries } from "./shell/slow-query.ts";
import { openSocket, type Socket } from "./shell/socket.ts";
import {
  closeDatabase,
  type Database,
  lockDirectory,
  openDatabase,
  pendingMigrations,
} from "./shell/sqlite.ts";
import { hasSessionCookie } from "./shell/session.ts";
import { writeTurn } from "./shell/write-turn.ts";
import { COMMIT, VERSION } from "./version.ts";
import { observer } from "./watch/observer.ts";
import { declareVitals } from "./watch/vitals.ts";
import { pageForMissing, webRoutes } from "./web/index.ts";
import { openWebhooks } from "./webhook/index.ts";

/** Seconds that running requests have to finish after a request to stop. */
const GRACE = 30;
export const DATABASE = "labd.sqlite";

/** The service without a socket: what `labd serve`, `labd demo`, `labd openapi` and the tests have in common. */
export interface App {
  answer: Answer;
  accounts: Accounts;
  scoring: Scoring;
  database: Database;
  log: Log;
  clock: Clock;
  /** From now on `/readyz` says no. */
  retire(): void;
  /** Puts running jobs back to the queue, closes the database and lets go of the data directory. */
  close(): Promise<void>;
}

/** Opens everything but the socket, in order; `close` takes it down in reverse. @throws Problem */
export async function open(config: Config, clock: Clock = systemClock): Promise<App> {
  const log = openLog(config.log, (line) => process.stderr.write(line), clock.now);
  const lock = lockDirectory(config.data_dir);
  let database: Database | undefined;
  try {
    const saved = await backUpBeforeUpgrade(config, log);
    database = openDatabase(join(config.data_dir, DATABASE), MIGRATIONS);
    if (saved) auditOf(database, clock).note(saved);
    const queries =
      config.slow_query_ms === 0
        ? undefined
        : timeQueries(database, config.slow_query_ms, (query) => log.problem("slow query", { ...query }));
    const accounts = new Accounts(database, clock, accountOptions(config));
    await addFirstAdministrator(accounts, config.admin_password);
    const scoring = await openScoring({
      ...scoringOptions(config),
      database,
      clock,
      log,
      workers: config.workers,
      clientOf: (request) => callerOf(request, accounts, reachOf(config)),
    });
    const opened = database;
    const imports = openImports(database, clock, log);
    const tasks = new Tasks(clock, log);
    const linkBase = `${config.public_url}${config.base_path}`;
    const webhooks = openWebhooks({
      database,
      clock,
      log,
      sources: { records: recordEvents(database, clock, linkBase), jobs: jobEnds(database) },
      authenticate: (request) => accounts.authenticate(request),
      actorOf: (user) => accounts.actorOf(user),
      allow: config.webhook_allow,
      plain: config.webhook_http,
      base: linkBase,
      version: VERSION,
    });
    const metrics = new Metrics();
    const observed = observer(metrics);
    const stopMeasuring = declareVitals(metrics, {
      version: VERSION,
      commit: COMMIT,
      database: join(config.data_dir, DATABASE),
      dataDirectory: config.data_dir,
      backupDirectory: backupDirectory(config),
      jobs: () => scoring.counts(),
      oldestQueued: () => scoring.oldestQueued(),
      workers: () => scoring.workers(),
      queries,
      now: clock.now,
    });
    let retired = false;
    const reach = reachOf(config);
    const behindProxy = (request: Request): string =>
      basePathOf(request, reach) === "" && config.public_url === "" ? "" : baseOf(request, reach);
    const surroundingsOf = (request: Request) => ({
      base: basePathOf(request, reach),
      session: hasSessionCookie(request),
    });
    const answer = openHttp({
      log,
      clock,
      gzipThreshold: config.gzip_threshold,
      maxMessageBytes: config.max_message_bytes,
      isUpload: (path) => path === UPLOADS || path === `${UPLOADS}/`,
      admit: (request) => {
        const free = writesAtOnce(request) ? writeTurn(opened).free() : undefined;
        return free ? free.then(() => accounts.admit(request)) : accounts.admit(request);
      },
      addressOf: (request) =>
        callerAddress(request, arrivalOf(request)?.address() ?? undefined, reach) ?? null,
      unready: () => (retired ? ["The service is stopping."] : unready(opened)),
      documentation: { version: VERSION, introduction: INTRODUCTION, tags: TAGS, baseOf: behindProxy },
      observe: observed,
      services: [
        metricsRoutes(metrics, { readers: config.metrics, token: config.metrics_token }),
        scoring.routes,
        inventoryRoutes({
          database,
          imports,
          clock,
          accounts,
          authenticate: (request) => accounts.authenticate(request),
          anonymousRead: config.anonymous_read,
          maxMessageBytes: config.max_message_bytes,
          reach,
        }),
        auditRoutes(accounts.notes.audit, (request) => requireAdministrator(accounts, request)),
        webhooks.routes,
        administrationRoutes({
          accounts,
          scoring,
          clock,
          tasks,
          reach,
          version: VERSION,
          commit: COMMIT,
          dataDirectory: config.data_dir,
          database: join(config.data_dir, DATABASE),
          backupDirectory: backupDirectory(config),
          backupHours: config.backup_hours,
          environment: () => environmentOf(config),
        }),
        webRoutes(surroundingsOf, (page, key) => purposeOf(accounts, key) === KEYED_PAGES[page]),
      ],
      missing: (request) => pageForMissing(request, surroundingsOf(request)),
      basePath: config.base_path,
      tls: config.tls_key !== "",
    });
    webhooks.deliverer.start();
    return {
      answer,
      accounts,
      scoring,
      database,
      log,
      clock,
      retire: () => {
        retired = true;
        scoring.retire();
      },
      async close() {
        stopMeasuring();
        await tasks.close();
        await webhooks.deliverer.close();
        await imports.close();
        await scoring.close();
        closeDatabase(opened);
        lock.release();
      },
    };
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}

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
  const reload = (): void => {
    if (config.tls_key === "") return;
    try {
      socket.reload();
      service.log.info("certificate read again");
    } catch (error) {
      service.log.problem("certificate not read", { cause: (error as Error).message });
    }
  };
  noteStart(service.accounts.notes.audit, { version: VERSION, commit: COMMIT, settings: unusual(config) });
  const tellHead = (): void => {
    const head = service.accounts.notes.audit.head();
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
    await writeTurn(service.database).free();
    service.accounts.notes.audit.note({ action: "service.stop" });
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

/** Pages that need a key in their address, and what it has to be good for. */
const KEYED_PAGES: Readonly<Record<string, string>> = { setup: "set-up", "set-password": "password" };

/** A new link for making the first administrator, while there is none. */
function setUpLink(config: Config, accounts: Accounts, url: string): string | null {
  if (accounts.hasAdministrator()) return null;
  const { key } = accounts.links.make(null, SET_UP_HOURS);
  return (config.public_url || url).replace(/\/+$/, "") + config.base_path + setUpPath(key);
}

/** All settings as variables, for a command that is to see what the server sees. */
const environmentOf = (config: Config): Record<string, string> =>
  Object.fromEntries(SETTING_NAMES.map((name) => [variableOf(name), String(config[name])]));

const isSecret = (name: SettingName): boolean => "secret" in SETTINGS[name] && SETTINGS[name].secret === true;

/** Settings that are not the usual ones; secrets only by name. */
const unusual = (config: Config): Record<string, string | number | boolean> =>
  Object.fromEntries(
    SETTING_NAMES.filter((name) => config[name] !== SETTINGS[name].fallback).map((name) => [
      name,
      isSecret(name) ? "********" : config[name],
    ]),
  );

/** Where backups go. */
export const backupDirectory = (config: Config): string =>
  config.backup_dir === "" ? join(config.data_dir, "backups") : resolve(config.backup_dir);

/** What the audit log says of a backup. */
export const backupNote = ({ path, manifest }: Awaited<ReturnType<typeof makeBackup>>): Note => ({
  action: "backup.make",
  subject: { kind: "backup", id: manifest.database.sha256 },
  detail: { name: basename(path), reason: manifest.reason },
});

/** Backs up the data directory to `to`. @throws Problem bad_backup, bad_database */
export const backUp = (config: Config, to: string, reason: Reason): ReturnType<typeof makeBackup> =>
  makeBackup({ from: config.data_dir, database: DATABASE, to, reason, version: VERSION, now: Date.now() });

/** A migration goes forward only: the way back is the backup before it. */
async function backUpBeforeUpgrade(config: Config, log: Log): Promise<Note | undefined> {
  const pending = pendingMigrations(join(config.data_dir, DATABASE), MIGRATIONS);
  // All of them: there is no database yet.
  if (pending.length === 0 || pending.length === MIGRATIONS.length) return undefined;
  const made = await backUp(config, backupDirectory(config), "upgrade");
  log.info("backup before upgrade", { path: made.path, migrations: pending });
  return { ...backupNote(made), detail: { ...backupNote(made).detail, migrations: pending } };
}

/** Makes backups as the settings say, by `labd backup` in a process of its own. */
function scheduleBackups(config: Config, { clock, log }: App): Schedule | undefined {
  if (config.backup_hours === 0) return undefined;
  const directory = backupDirectory(config);
  const settings = ["data_dir", "backup_keep_days", "backup_keep_weeks", "backup_keep_months"] as const;
  const words = settings.flatMap((name) => [flagOf(name), String(config[name])]);
  return openSchedule({
    directory,
    hours: config.backup_hours,
    clock,
    log,
    make: () =>
      Bun.spawn([...ownProgram(), "backup", "--scheduled", "--thin", "--to", directory, ...words], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      }),
  });
}

/** What the verbs that work beside a running server need of a data directory. */
export interface Opened {
  database: Database;
  accounts: Accounts;
  close(): void;
}

/**
 * Opens the data directory for a verb that works beside a running server. Where no server runs, the database is
 * brought up to date first; beside one it must be so already.
 * @throws Problem already_running, bad_database
 */
export async function openData(config: Config): Promise<Opened> {
  const path = join(config.data_dir, DATABASE);
  let lock: { release(): void } | undefined;
  try {
    lock = lockDirectory(config.data_dir);
  } catch (error) {
    if (pendingMigrations(path, MIGRATIONS).length > 0) throw error;
  }
  const saved = lock
    ? await backUpBeforeUpgrade(
        config,
        openLog("off", () => {}, systemClock.now),
      )
    : undefined;
  const database = openDatabase(path, MIGRATIONS);
  const audit = auditOf(database, systemClock);
  audit.standing = atCommandLine();
  if (saved) audit.note(saved);
  return {
    database,
    accounts: new Accounts(database, systemClock, accountOptions(config)),
    close() {
      database.close();
      lock?.release();
    },
  };
}

/** The scoring service of an opened data directory without workers: corpora, classes, and scoring on this thread. */
export function openScoringOf({ database }: Opened, config: Config): Promise<Scoring> {
  return openScoring({
    ...scoringOptions(config),
    database,
    clock: systemClock,
    log: openLog("off", () => {}, systemClock.now),
    workers: 0,
  });
}

function scoringOptions(config: Config) {
  return {
    dataDirectory: config.data_dir,
    jobTimeoutSeconds: config.job_timeout,
    maxQueryLength: config.max_query_length,
    maxMessageBytes: config.max_message_bytes,
    maxQueued: config.max_queued,
    maxQueuedPerClient: config.max_queued_per_client,
    retentionDays: config.job_retention_days,
    workerMemory: config.worker_memory,
    receiveTimeoutSeconds: config.receive_timeout,
    messageLimits: {
      depth: config.max_message_depth,
      elements: config.max_message_elements,
      attributes: config.max_message_attributes,
      namespaces: config.max_message_namespaces,
      attributeLength: config.max_attribute_length,
      textLength: config.max_text_length,
    },
    namespace: config.soap_namespace,
    reach: reachOf(config),
  };
}

const reachOf = (config: Config): Reach => ({
  publicUrl: config.public_url,
  basePath: config.base_path,
  trustProxy: config.trust_proxy,
});

const accountOptions = (config: Config): AccountOptions => ({
  loginFailures: config.login_failures,
  loginFailuresAddress: config.login_failures_address,
  loginWindow: config.login_window,
  passwordHashes: config.password_hashes,
  tokenDays: config.token_days,
  sessionHours: config.session_hours,
  sessionIdleMinutes: config.session_idle_minutes,
  ...reachOf(config),
});

/** Imports have queues of their own, and can be called off while they write. */
const writesAtOnce = ({ method, url }: Request): boolean =>
  isUnsafe(method) && !/\/imports?(\/|$|\?)/.test(url);

async function addFirstAdministrator(accounts: Accounts, password: string): Promise<void> {
  if (password === "" || accounts.exists("admin")) return;
  await accounts.addUser({ username: "admin", password, superuser: true });
}

function unready(database: Database): string[] {
  try {
    database.query("SELECT 1").get();
    return [];
  } catch (error) {
    return [`The database does not answer: ${(error as Error).message}`];
  }
}

const INTRODUCTION = `Two independent services in one executable.

**Conservation scoring** answers SOAP at \`/soap/ConservationScorer\` ([WSDL](soap/ConservationScorer?wsdl)), and the
same jobs as JSON below \`/api/scoring/\`.

**Inventory and metadata** is the JSON interface below \`/api/v2/\` that this page describes.`;

const TAGS = [
  {
    name: "inventory",
    description: "Locations, places, annotation types, custom property types and what they refer to.",
  },
  { name: "scoring", description: "Conservation of short linear motifs, as JSON and over SOAP." },
  { name: "administration", description: "First set-up, own account, and what administrators look after." },
  { name: "webhooks", description: "Be told of what happens to records and jobs." },
  { name: "service", description: "Is the service well?" },
];
