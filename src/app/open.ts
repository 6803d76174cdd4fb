import { type OpenedAssistants, openAssistants } from "./assistants.ts";
import { addCommonUnits } from "./common-units.ts";
import { makeAdmission } from "./admission.ts";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { administrationRoutes } from "../operations/administration/administration-routes.ts";
import { UPLOADS } from "../operations/administration/corpus-routes.ts";
import { FEATURE_UPLOADS } from "../operations/administration/feature-routes.ts";
import { knownBackups } from "../operations/backup/places.ts";
import { BackupFailure } from "../operations/backup/schedule.ts";
import type { Config } from "../config.ts";
import { openIdentity } from "../accounts/external/index.ts";
import { registerFarmMetrics } from "../farm/index.ts";
import {
  Imports,
  importTasks,
  type InventorySample,
  inventoryAliases,
  makeLinkFinder,
  inventoryRoutes,
  openMemberships,
  RequestPool,
} from "../inventory/index.ts";
import { openScoring, type Scoring } from "../scoring/index.ts";
import { getAuditLog } from "../accounts/audit.ts";
import { Accounts } from "../accounts/accounts.ts";
import { makeOwnership } from "../accounts/owner.ts";
import { identifyCaller } from "../platform/caller.ts";
import { clientRoutes } from "../platform/clients.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { type Answer, type HttpOptions, openHttp } from "../platform/http.ts";
import { makeRoomToOpen } from "../platform/disk-reserve.ts";
import { type Log, openLog } from "../platform/log.ts";
import { Metrics } from "../platform/metrics.ts";
import { isOwnHost } from "../platform/own-host.ts";
import { findBaseUrl, findBasePath } from "../platform/origin.ts";
import { linkPurpose } from "../accounts/account-routes.ts";
import { makeGuards } from "../accounts/guards.ts";
import { accountRoutes } from "../accounts/routes.ts";
import { metricsRoutes } from "../platform/route-metrics.ts";
import { hasSessionCookie } from "../accounts/session.ts";
import {
  closeDatabase,
  type Database,
  isReplicated,
  lockDirectory,
  openDatabase,
  unwritable,
} from "../platform/sqlite.ts";
import { openTaskRoutes } from "../tasks/index.ts";
import { Tasks } from "../tasks/tasks.ts";
import { StorageState } from "../platform/storage-state.ts";
import { openTraces } from "../platform/traces.ts";
import { COMMIT, VERSION } from "../version.ts";
import { registerMetrics, requestObserver } from "../operations/health/register-metrics.ts";
import { backupDirectory, backUpBeforeUpgrade, DATABASE } from "./data-directory.ts";
import { prepareFarm } from "./farm.ts";
import {
  accountOptions,
  allowedHosts,
  corsOrigins,
  toEnvironment,
  publicUrlOptions,
  scoringOptions,
} from "./options.ts";
import { DOCUMENT_PARTS, TAGS } from "./tags.ts";
import { prepareReminders } from "./reminders.ts";
import { prepareWebhooks } from "./webhooks.ts";

/** The service without a socket, for `labd serve`, `labd demo`, `labd openapi` and tests. */
export interface App {
  answer: Answer;
  accounts: Accounts;
  scoring: Scoring;
  database: Database;
  log: Log;
  clock: Clock;
  /** Why the service takes no requests, as `/readyz` says; empty if it takes them. */
  notReadyReasons(): string[];
  backupFailure: BackupFailure;
  /** Makes `/readyz` fail from now on. */
  retire(): void;
  /** Puts running jobs back into the queue, closes the database and releases the data directory. */
  close(): Promise<void>;
}

const LOCK_PATIENCE = 3000;

/**
 * Opens everything but the socket, in order; `close` closes in reverse. @param patience milliseconds to wait for a
 * command that holds the data directory. @throws Problem
 */
export async function open(
  config: Config,
  clock: Clock = systemClock,
  patience = LOCK_PATIENCE,
): Promise<App> {
  const plainLog = openLog(config.log, (line) => process.stderr.write(line), clock.now);
  makeRoomToOpen(config.data_dir);
  const lock = lockDirectory(config.data_dir, patience);
  let database: Database | undefined;
  try {
    database = await openData(config, plainLog, clock);
    const storage = new StorageState(config.data_dir, database, plainLog);
    const { log } = storage;
    const closeTraces = await openTraces({ endpoint: config.otlp_endpoint, version: VERSION, log });
    const parts = await openParts(config, { database, storage, log, clock });
    const { accounts, scoring } = parts;
    let retired = false;
    const reasons = (): string[] => (retired ? ["The service is stopping."] : notReadyReasons(parts));
    const isReady = (): number => Number(reasons().length === 0);
    parts.metrics.ask(
      "gauge",
      "labd_ready",
      "1 if the service takes requests, as /readyz says; else 0.",
      isReady,
    );
    const { answer, assistants } = await makeAnswer(config, parts, reasons);
    parts.tasks.open();
    parts.webhooks.deliverer.start();
    parts.reminders.sender.start();
    return {
      answer,
      accounts,
      scoring,
      database,
      log,
      clock,
      notReadyReasons: reasons,
      backupFailure: parts.backupFailure,
      retire: () => {
        retired = true;
        scoring.closeStreams();
        parts.taskRoutes.closeStreams();
        assistants?.close();
      },
      async close() {
        await parts.close();
        await closeTraces();
        closeDatabase(parts.database);
        lock.release();
      },
    };
  } catch (error) {
    database?.close();
    lock.release();
    throw unwritable(config.data_dir, error);
  }
}

async function openData(config: Config, log: Log, clock: Clock): Promise<Database> {
  const saved = await backUpBeforeUpgrade(config, log);
  const checkpoints = !config.litestream;
  const database = openDatabase(join(config.data_dir, DATABASE), MIGRATIONS, { checkpoints });
  requireWritable(database);
  if (checkpoints && isReplicated(database)) log.problem("litestream is not set", { see: "labd doctor" });
  if (saved) getAuditLog(database, clock).record(saved);
  await addCommonUnits(database, clock);
  return database;
}

/** Finds a read-only disk with a write that changes nothing. A command may be writing meanwhile. */
function requireWritable(database: Database): void {
  try {
    database.run("UPDATE migration SET applied = applied WHERE 0");
  } catch (error) {
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
  }
}

interface Opened {
  database: Database;
  storage: StorageState;
  log: Log;
  clock: Clock;
}

type OpenedServices = Awaited<ReturnType<typeof openParts>>;

/** The services and their shared parts. */
async function openParts(config: Config, { database, storage, log, clock }: Opened) {
  const accounts = new Accounts(database, clock, accountOptions(config));
  await addFirstAdministrator(accounts, config.admin_password);
  const memberships = openMemberships(database, clock);
  const identity = openIdentity({ settings: config, log, database, clock, accounts, memberships });
  const farm = prepareFarm(config, log);
  const tasks = new Tasks({ database, clock, log });
  const scoring = await openScoring({
    ...scoringOptions(config),
    tasks,
    farm: farm?.open,
    database,
    clock,
    log,
    workers: config.workers,
    identifyClient: (request) => identifyCaller(request, accounts),
    guards: makeGuards(accounts),
    ownership: makeOwnership(accounts),
    requireWritable: () => {
      const problem = storage.problem();
      if (problem) throw problem;
    },
  });
  const imports = new Imports(database, clock, log);
  tasks.addSource(importTasks(imports, database));
  const pool = new RequestPool({ version: VERSION, log });
  const webhooks = prepareWebhooks({ database, accounts }, config, { clock, log });
  const reminders = prepareReminders({ database, accounts }, config, { clock, log });
  const metrics = new Metrics();
  reportThrottledSignIns(accounts, metrics, log);
  const backupFailure = new BackupFailure(() =>
    Date.parse(
      knownBackups(config.data_dir, backupDirectory(config)).at(-1)?.manifest.created ?? "1970-01-01",
    ),
  );
  const stopMeasuring = registerMetrics(metrics, {
    version: VERSION,
    commit: COMMIT,
    database: join(config.data_dir, DATABASE),
    dataDirectory: config.data_dir,
    backupDirectory: backupDirectory(config),
    backupFailed: () => backupFailure.read() !== undefined,
    jobs: () => scoring.counts(),
    oldestQueued: () => scoring.oldestQueued(),
    isDamaged: () => storage.isDamaged,
    workers: () => scoring.workers(),
    now: clock.now,
  });
  if (farm) registerFarmMetrics(metrics, farm.state);
  return {
    database,
    storage,
    log,
    clock,
    accounts,
    identity,
    farm,
    scoring,
    imports,
    pool,
    tasks,
    taskRoutes: openTaskRoutes(tasks, accounts),
    webhooks,
    reminders,
    metrics,
    backupFailure,
    async close() {
      stopMeasuring();
      await identity.close();
      await tasks.close();
      await reminders.sender.close();
      await webhooks.deliverer.close();
      pool.close();
      await imports.close();
      await scoring.close();
    },
  };
}

async function makeAnswer(
  config: Config,
  parts: OpenedServices,
  notReadyReasons: () => string[],
): Promise<{ answer: Answer; assistants: OpenedAssistants | undefined }> {
  // Most commands show no pages.
  const { renderClientsPage, renderJsonPage, renderMissingPage, renderReferencePage, webRoutes } =
    await import("../web/index.ts");
  const { accounts } = parts;
  const reach = publicUrlOptions(config);
  const pageContext = (request: Request) => ({
    base: findBasePath(request, reach),
    session: hasSessionCookie(request),
    person: accounts.findPerson(request),
    provider: config.oidc_issuer === "" ? "" : new URL(config.oidc_issuer).host,
  });
  const assistants = await openAssistants(config, parts, (request, arrival) => answer(request, arrival));
  const answer: Answer = openHttp({
    log: parts.log,
    clock: parts.clock,
    maxMessageBytes: config.max_message_bytes,
    isUpload: (path) => [UPLOADS, FEATURE_UPLOADS].includes(path.replace(/\/$/, "")),
    admit: makeAdmission(parts),
    reach,
    notReadyReasons,
    warnings: () => [parts.backupFailure.read() ?? []].flat(),
    documentation: {
      version: VERSION,
      introduction: INTRODUCTION,
      tags: TAGS,
      parts: DOCUMENT_PARTS,
      page: (request, document) => renderReferencePage(request, document, pageContext(request)),
      findBase: (request) =>
        findBasePath(request, reach) === "" && config.public_url === "" ? "" : findBaseUrl(request, reach),
    },
    observe: requestObserver(parts.metrics),
    services: [
      ...serviceRoutes(config, parts),
      clientRoutes({
        version: VERSION,
        findBase: (request) => findBaseUrl(request, reach),
        page: (request, clients) => renderClientsPage(request, clients, pageContext(request)),
      }),
      ...(assistants ? [assistants.routes] : []),
      webRoutes(pageContext, (page, key) => linkPurpose(accounts, key) === LINK_PAGES[page]),
    ],
    aliases: inventoryAliases(),
    reject: parts.scoring.reject,
    missing: (request) => renderMissingPage(request, pageContext(request)),
    showJson: (request, response) =>
      renderJsonPage(request, response, {
        context: pageContext(request),
        findLink: makeLinkFinder(new URL(request.url).pathname),
      }),
    allowedHosts: allowedHosts(config),
    corsOrigins: corsOrigins(config),
    tls: config.tls_key !== "",
  });
  return { answer, assistants };
}

const serviceRoutes = (
  config: Config,
  {
    accounts,
    clock,
    database,
    farm,
    identity,
    imports,
    metrics,
    pool,
    reminders,
    scoring,
    taskRoutes,
    tasks,
    webhooks,
  }: OpenedServices,
): HttpOptions["services"] => [
  metricsRoutes(metrics, config.metrics_token, (request) =>
    isOwnHost(request, allowedHosts(config), publicUrlOptions(config)),
  ),
  scoring.routes,
  inventoryRoutes({
    database,
    imports,
    pool,
    clock,
    accounts,
    anonymousRead: config.anonymous_read,
    sample: async () => (await import("../sample/inventory.json")).default as InventorySample,
    maxMessageBytes: config.max_message_bytes,
  }),
  ...accountRoutes({ accounts, identities: identity.identities, settings: config }),
  taskRoutes.routes,
  webhooks.routes,
  reminders.routes,
  identity.routes,
  administrationRoutes({
    accounts,
    scoring,
    farm: () => farm?.state() ?? null,
    clock,
    tasks,
    version: VERSION,
    commit: COMMIT,
    dataDirectory: config.data_dir,
    database: join(config.data_dir, DATABASE),
    backupDirectory: backupDirectory(config),
    backupHours: config.backup_hours,
    environment: () => toEnvironment(config),
  }),
];

/** Pages that need a key in their address, and the purpose that the key must have. */
const LINK_PAGES: Readonly<Record<string, string>> = {
  setup: "set-up",
  "set-password": "password",
  "verify-email": "email",
};

/** Tells administrators that somebody may be guessing passwords; `labd doctor` reads the audit log for it. */
function reportThrottledSignIns(accounts: Accounts, metrics: Metrics, log: Log): void {
  let count = 0;
  accounts.audit.onThrottled = (username, address) => {
    count++;
    log.problem("sign-ins throttled", { user: username, address, see: "labd doctor" });
  };
  metrics.ask(
    "counter",
    "labd_sign_ins_throttled_total",
    "Throttled sign-ins, counted once in five minutes for an account and an address.",
    () => count,
  );
}

async function addFirstAdministrator(accounts: Accounts, password: string): Promise<void> {
  if (password === "" || accounts.exists("admin")) return;
  await accounts.addUser({ username: "admin", password, superuser: true });
}

function notReadyReasons({ database, storage }: OpenedServices): string[] {
  try {
    database.query("SELECT 1").get();
    return [storage.problem()?.message ?? []].flat();
  } catch (error) {
    return [`The database does not respond: ${(error as Error).message}`];
  }
}

const INTRODUCTION = `Two independent services in one executable.

**Conservation scoring** speaks SOAP at \`/soap/ConservationScorer\` ([WSDL](soap/ConservationScorer?wsdl)), and the
same jobs as JSON below \`/api/scoring/\`.

**Inventory and metadata** is the JSON interface below \`/api/v2/\` described here.`;
