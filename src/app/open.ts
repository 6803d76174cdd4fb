import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { administrationRoutes, Tasks, UPLOADS } from "../operations/administration/index.ts";
import type { Config } from "../config.ts";
import { openIdentity } from "../accounts/external/index.ts";
import { registerFarmMetrics } from "../farm/index.ts";
import { Imports, inventoryRoutes, openMemberships } from "../inventory/index.ts";
import { openScoring, type Scoring } from "../scoring/index.ts";
import { auditOf } from "../accounts/audit.ts";
import { Accounts } from "../accounts/accounts.ts";
import { callerOf } from "../platform/caller.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { type Answer, openHttp } from "../platform/http.ts";
import { type Log, openLog } from "../platform/log.ts";
import { Metrics } from "../platform/metrics.ts";
import { baseOf, basePathOf, isUnsafe } from "../platform/origin.ts";
import { accountRoutes, linkPurpose } from "../accounts/account-routes.ts";
import { auditRoutes } from "../accounts/audit-routes.ts";
import { identityRoutes } from "../accounts/identity-routes.ts";
import { requireUser } from "../accounts/route-guards.ts";
import { secondFactorRoutes } from "../accounts/second-factor-routes.ts";
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
import { writeLockOf } from "../platform/write-lock.ts";
import { COMMIT, VERSION } from "../version.ts";
import { registerMetrics, requestObserver } from "../operations/health/register-metrics.ts";
import { pageForMissing, webRoutes } from "../web/index.ts";
import { backupDirectory, backUpBeforeUpgrade, DATABASE } from "./data-directory.ts";
import { farmOf } from "./farm.ts";
import { accountOptions, environmentOf, reachOf, scoringOptions } from "./options.ts";
import { webhooksOf } from "./webhooks.ts";

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

/** Milliseconds that a start waits for a command that has the data directory: a crash may come while one runs. */
const LOCK_PATIENCE = 3000;

/** Opens everything but the socket, in order; `close` takes it down in reverse. @throws Problem */
export async function open(config: Config, clock: Clock = systemClock): Promise<App> {
  const log = openLog(config.log, (line) => process.stderr.write(line), clock.now);
  const lock = lockDirectory(config.data_dir, LOCK_PATIENCE);
  let database: Database | undefined;
  try {
    const saved = await backUpBeforeUpgrade(config, log);
    database = openDatabase(join(config.data_dir, DATABASE), MIGRATIONS, {
      checkpoints: !config.litestream,
    });
    if (!config.litestream && isReplicated(database))
      log.problem("litestream is not set", { see: "labd doctor" });
    if (saved) auditOf(database, clock).record(saved);
    const accounts = new Accounts(database, clock, accountOptions(config));
    await addFirstAdministrator(accounts, config.admin_password);
    const reach = reachOf(config);
    const identity = openIdentity({
      settings: config,
      log,
      database,
      clock,
      accounts,
      memberships: openMemberships(database, clock),
    });
    const farm = farmOf(config, log);
    const scoring = await openScoring({
      ...scoringOptions(config),
      farm: farm?.open,
      database,
      clock,
      log,
      workers: config.workers,
      clientOf: (request) => callerOf(request, accounts),
      requireUser: (request) => void requireUser(accounts, request),
    });
    const opened = database;
    const imports = new Imports(database, clock, log);
    const tasks = new Tasks(clock, log, accounts.audit.log);
    const webhooks = webhooksOf({ database, accounts }, config, { clock, log });
    const metrics = new Metrics();
    const observed = requestObserver(metrics);
    const stopMeasuring = registerMetrics(metrics, {
      version: VERSION,
      commit: COMMIT,
      database: join(config.data_dir, DATABASE),
      dataDirectory: config.data_dir,
      backupDirectory: backupDirectory(config),
      jobs: () => scoring.counts(),
      oldestQueued: () => scoring.oldestQueued(),
      workers: () => scoring.workers(),
      now: clock.now,
    });
    if (farm) registerFarmMetrics(metrics, farm.state);
    let retired = false;
    const behindProxy = (request: Request): string =>
      basePathOf(request, reach) === "" && config.public_url === "" ? "" : baseOf(request, reach);
    const surroundingsOf = (request: Request) => ({
      base: basePathOf(request, reach),
      session: hasSessionCookie(request),
      provider: config.oidc_issuer === "" ? "" : new URL(config.oidc_issuer).host,
    });
    const answer = openHttp({
      log,
      clock,
      maxMessageBytes: config.max_message_bytes,
      isUpload: (path) => path === UPLOADS || path === `${UPLOADS}/`,
      admit: (request) => {
        const free = writesAtOnce(request) ? writeLockOf(opened).free() : undefined;
        return free ? free.then(() => accounts.verifyBasic(request)) : accounts.verifyBasic(request);
      },
      reach,
      unready: () => (retired ? ["The service is stopping."] : unready(opened)),
      documentation: { version: VERSION, introduction: INTRODUCTION, tags: TAGS, baseOf: behindProxy },
      observe: observed,
      services: [
        metricsRoutes(metrics, config.metrics_token),
        scoring.routes,
        inventoryRoutes({
          database,
          imports,
          clock,
          accounts,
          anonymousRead: config.anonymous_read,
          maxMessageBytes: config.max_message_bytes,
        }),
        auditRoutes(accounts),
        accountRoutes(accounts),
        secondFactorRoutes(accounts),
        identityRoutes(accounts, identity.identities, config),
        webhooks.routes,
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
          environment: () => environmentOf(config),
        }),
        webRoutes(surroundingsOf, (page, key) => linkPurpose(accounts, key) === KEYED_PAGES[page]),
      ],
      missing: (request) => pageForMissing(request, surroundingsOf(request)),
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
        scoring.closeStreams();
      },
      async close() {
        stopMeasuring();
        await identity.close();
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
    throw unwritable(config.data_dir, error);
  }
}

/** Pages that need a key in their address, and what it has to be good for. */
const KEYED_PAGES: Readonly<Record<string, string>> = { setup: "set-up", "set-password": "password" };

/** Imports have their own queue, and can be cancelled while they write. */
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
