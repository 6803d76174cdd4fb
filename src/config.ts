import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { nearest, Problem } from "./problem.ts";
import { REMOVED_SETTINGS } from "./removed-settings.ts";
import { LDAP_SETTINGS, OIDC_SETTINGS, SIGN_IN_SETTINGS } from "./accounts/external/settings.ts";
import { choice, integer, type Setting, text, bool } from "./platform/setting.ts";
import type { LogLevel } from "./platform/log.ts";
import { BASE_PATH } from "./platform/origin.ts";

const PATH = /^[^\0]*$/;

/** Characters of a URI (RFC 3986). XML, SOAP, WSDL and XML Schema have their namespaces at two hosts. */
const NAMESPACE =
  /^(?!http:\/\/(?:www\.w3\.org|schemas\.xmlsoap\.org|labd\.example\/(?:conservation-prediction|problem))\/)[a-z][a-z0-9+.-]*:(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9a-f]{2})+$/i;

/**
 * Every setting is one row: its flag (`--data-dir`), variable (`LABD_DATA_DIR`), key in labd.toml (`data_dir`, in the
 * table of its section), the output of `labd check` and the reference all come from it. A flag beats the variable, the
 * variable beats the file, the file beats the default.
 */
export const SECTIONS = {
  server: {
    data_dir: text("labd-data", "a path", /^[^\0]+$/, {
      sentence: "Directory of the database, the corpora and the lock; created if it is missing.",
    }),
    host: text(
      "127.0.0.1",
      "an address, a host name, or unix: and a path",
      /^([A-Za-z0-9.:_-]+|unix:[^\0]{1,100})$/,
      {
        sentence:
          "Address to listen on. The default serves this machine only; 0.0.0.0 opens the service to the network; unix:/run/labd/labd.sock listens on that Unix socket.",
      },
    ),
    port: integer(8480, 0, 65535, { sentence: "TCP port to listen on; 0 selects a free one." }),
    tls_certificate: text("", "empty, or a path", PATH, {
      sentence:
        "File with the certificate and its chain (PEM), for HTTPS without a proxy. Reloaded when it changes, and on SIGHUP.",
    }),
    tls_key: text("", "empty, or a path", PATH, { sentence: "File with the key of the certificate (PEM)." }),
    public_url: text(
      "",
      "empty, or an http(s) address without a query or trailing slash",
      new RegExp(`^(https?://[^\\s/?#"'<>]+(${BASE_PATH.source.slice(1, -1)})?)?$`),
      {
        sentence:
          "Address at which clients reach the service behind a reverse proxy, for links and the WSDL; if empty, the address of the request is used. A path such as https://lab.example/labd becomes the prefix of all addresses; the proxy may pass it on or remove it.",
      },
    ),
    trust_proxy: bool(false, {
      sentence:
        "Trust X-Forwarded-For, -Proto, -Host, -Port and -Prefix: set it behind a reverse proxy that sets or removes each of them. public_url takes precedence.",
    }),
    allowed_hosts: text(
      "",
      "empty, or host names such as lab.example, separated by commas",
      /^([A-Za-z0-9._-]+(, *|$))*$/,
      {
        sentence:
          "Names by which clients may reach the service, against DNS rebinding; addresses, localhost and the host of public_url are always allowed. Empty allows all names.",
      },
    ),
    cors_origins: text(
      "",
      "empty, or origins such as https://eln.example or http://localhost:3000, separated by commas",
      /^(https?:\/\/[A-Za-z0-9.-]+(:\d{1,5})?(, *|$))*$/,
      {
        sentence:
          "Origins whose pages may use the APIs from a browser (CORS), with a token instead of the session cookie. Empty allows none.",
      },
    ),
    ca_file: text("", "empty, or a path", PATH, {
      sentence:
        "File with certificates (PEM) of your own authorities, for connections to LDAP, OpenID Connect, the mail server and the queue; empty trusts the authorities of the system.",
    }),
    max_message_bytes: integer(16_777_216, 1024, 4_294_967_296, {
      sentence: "Largest body of a request, in bytes.",
    }),
    metrics_token: text("", "empty, or at least 16 characters without spaces", /^(\S{16,})?$/, {
      secret: true,
      sentence:
        "Token to read /metrics from other machines (Authorization: Bearer); callers on this machine need no token.",
    }),
    otlp_endpoint: text("", "empty, or an address such as http://127.0.0.1:4318", /^(https?:\/\/\S+)?$/, {
      sentence:
        "Collector of OpenTelemetry that gets traces of requests, jobs, tasks and processes (OTLP over HTTP); none by default.",
    }),
    log: choice<LogLevel>("requests", ["requests", "anonymous", "problems", "off"], {
      sentence:
        "Log on standard error, as JSON lines: every request, every request without client address and user id, only problems, or nothing.",
    }),
  },
  scoring: {
    workers: integer(availableParallelism(), 1, 256, {
      sentence: "Scoring workers, each with one job at a time; by default one per processor.",
    }),
    max_queued: integer(10_000, 2, 100_000_000, {
      sentence: "Maximum number of queued jobs; one client may have half of them.",
    }),
    job_retention_days: integer(90, 0, 36_500, {
      sentence: "Days for which a job's request and result are kept after it ended; 0 keeps them forever.",
    }),
    soap_namespace: text(
      "http://labd.example/conservation-scorer",
      "an absolute URI, such as urn:example:scorer, that does not belong to XML, SOAP, WSDL, XML Schema or labd's own schemas",
      NAMESPACE,
      {
        sentence:
          "Target namespace of the SOAP service. To replace another service without changing its clients, set that service's namespace.",
      },
    ),
  },
  queue: {
    queue: text(
      "",
      "empty, or redis://user:password@host:6379/0, rediss://… with TLS, or unix:/path; a single Redis, not Sentinel or Cluster",
      /^((rediss?:\/\/|unix:)[^\s]+)?$/,
      {
        secret: true,
        sentence:
          "Redis or Valkey through which labd worker on other machines takes jobs, one database for each server: redis://user:password@host:6379/0, rediss:// with TLS, or unix://user:password@/path. Empty scores in this process only.",
      },
    ),
    queue_local: choice<"away" | "always" | "never">("away", ["away", "always", "never"], {
      sentence:
        "When the workers of this process also score: only while Redis or all remote workers are unavailable, always, or never.",
    }),
  },
  accounts: {
    anonymous_read: bool(true, {
      sentence: "Let callers without credentials read the public records of the inventory.",
    }),
    assistants: choice<"off" | "link" | "confirm">("off", ["off", "link", "confirm"], {
      sentence:
        "Let assistants (MCP) connect at /mcp with tokens of their users: not at all; with changes that a person confirms on a page (link); or also in the conversation (confirm).",
    }),
    admin_password: text("", "empty, or at least 8 characters", /^(.{8,})?$/s, {
      secret: true,
      sentence: "Password of the account admin, which is created at the first start if this is set.",
    }),
    session_idle_minutes: integer(1440, 1, 5_256_000, {
      sentence: "Minutes without a request after which a browser must sign in again.",
    }),
    require_totp: choice<"off" | "administrators" | "all">("off", ["off", "administrators", "all"], {
      sentence:
        "Accounts that need a second factor (codes of an authenticator app): none, administrators, or all. Users without one set it up at the next sign-in.",
    }),
    ...SIGN_IN_SETTINGS,
  },
  ldap: LDAP_SETTINGS,
  oidc: OIDC_SETTINGS,
  webhooks: {
    webhook_allow: text("", "empty, or networks such as 10.1.0.0/16, fd00::/8", /^[0-9A-Fa-f:./, ]*$/, {
      sentence:
        "Private networks that webhooks may call, also over http://, separated by commas; if empty, only public addresses over https://.",
    }),
  },
  email: {
    smtp_url: text(
      "",
      "empty, or smtps://user:password@host?from=labd@lab.example, or smtp:// with STARTTLS",
      /^(smtps?:\/\/[^\s]+)?$/i,
      {
        secret: true,
        sentence:
          "Mail server for reminders, and their sender (?from=): smtps://user:password@host?from=address, or smtp:// with STARTTLS, which hosts other than this machine need unless &tls=off is added. Requires public_url.",
      },
    ),
  },
  backup: {
    backup_hours: integer(24, 0, 8760, {
      sentence: "Hours between backups while the server runs; 0 disables them.",
    }),
    backup_dir: text("", "empty, a path, or s3://bucket/prefix", /^(?!s3:)[^\0]*$|^s3:\/\/[^\0\s?#]+$/i, {
      sentence:
        "Directory for backups, preferably on another disk, or s3://bucket/prefix; if empty, the directory backups in data_dir. Backups before an upgrade are also written there.",
    }),
    backup_keep: text(
      "7 days, 4 weeks, 12 months",
      "numbers of days, weeks and months such as 7 days, 4 weeks, 12 months",
      /^(?=.)(\d{1,4} days)?(, |$)?(\d{1,4} weeks)?(, |$)?(\d{1,4} months)?$/,
      {
        sentence:
          "Backups to keep: the last one of each day, week and month, for these numbers of days, weeks and months.",
      },
    ),
    litestream: bool(false, {
      sentence:
        "Set this if Litestream replicates the database: labd then leaves checkpoints to Litestream, whose copies would be damaged otherwise.",
    }),
    s3_endpoint: text(
      "",
      "empty, or an http(s) address without a path",
      /^(https?:\/\/[^\s/?#@"'<>]+\/?)?$/,
      {
        sentence:
          "Server for s3:// (Garage, MinIO, Ceph …); if empty, AWS_ENDPOINT_URL or AWS. The region is AWS_REGION or us-east-1.",
      },
    ),
    s3_access_key: text("", "empty, or a name without spaces", /^\S{0,256}$/, {
      sentence: "Access key id for s3://; if empty, AWS_ACCESS_KEY_ID.",
    }),
    s3_secret_key: text("", "empty, or text without spaces", /^\S{0,1024}$/, {
      secret: true,
      sentence:
        "Secret access key for s3://; if empty, AWS_SECRET_ACCESS_KEY. Put it in the file or a variable rather than in a flag.",
    }),
  },
} satisfies Record<string, Record<string, Setting<string | number | boolean>>>;

export const SETTINGS = {
  ...SECTIONS.server,
  ...SECTIONS.scoring,
  ...SECTIONS.queue,
  ...SECTIONS.accounts,
  ...SECTIONS.ldap,
  ...SECTIONS.oidc,
  ...SECTIONS.webhooks,
  ...SECTIONS.email,
  ...SECTIONS.backup,
};

export type SettingName = keyof typeof SETTINGS;
export type Config = { -readonly [N in SettingName]: NonNullable<ReturnType<(typeof SETTINGS)[N]["read"]>> };
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export const flagName = (name: SettingName): string => `--${name.replaceAll("_", "-")}`;
export const variableName = (name: SettingName): string => `LABD_${name.toUpperCase()}`;

export interface Resolved {
  config: Config;
  /** The source of each setting's value. */
  origin: Record<SettingName, string>;
}

export interface Sources {
  /** Values of flags by the name of the setting. */
  flags: Partial<Record<SettingName, string>>;
  environment: Record<string, string | undefined>;
  /** Path given by --config; without it LABD_CONFIG, then labd.toml in the working directory where it exists. */
  file?: string | undefined;
}

/**
 * Other variables: the path of the settings file, the administration task for which a command runs, and the server that
 * clients use.
 */
const OTHER_VARIABLES: ReadonlySet<string> = new Set(["LABD_CONFIG", "LABD_TASK", "LABD_URL", "LABD_TOKEN"]);

/**
 * The configuration from all sources.
 * @throws Problem invalid_setting with every mistake: the setting, its value, where it was set and what is allowed
 */
export function resolveConfig(sources: Sources): Resolved {
  const { config, origin, mistakes } = readConfig(sources);
  refuseMistakes(mistakes);
  return { config, origin };
}

/** Reads settings and reports mistakes. Settings with a mistake have their defaults. */
export function readConfig(sources: Sources): Resolved & { mistakes: string[] } {
  const mistakes: string[] = [];
  const file = readFile(sources.file ?? sources.environment.LABD_CONFIG, mistakes);
  for (const variable of Object.keys(sources.environment)) {
    if (!variable.startsWith("LABD_") || OTHER_VARIABLES.has(variable)) continue;
    mistakes.push(...unknownName(variable, "the environment", SETTING_NAMES.map(variableName)));
  }

  const config: Record<string, unknown> = {};
  const origin: Record<string, string> = {};
  for (const name of SETTING_NAMES) {
    const setting: Setting<unknown> = SETTINGS[name];
    const given: [string, unknown][] = [
      [`flag ${flagName(name)}`, sources.flags[name]],
      [`variable ${variableName(name)}`, sources.environment[variableName(name)]],
      [`file ${file.path}`, file.values[name]],
    ];
    const [from, value] = given.find(([, value]) => value !== undefined) ?? ["default", setting.fallback];
    const read = setting.read(value);
    if (read === undefined) {
      const shown = setting.secret ? "the value given (not shown)" : JSON.stringify(value);
      mistakes.push(`${name}: ${shown} from ${from} is not allowed; expected ${setting.allowed}.`);
    }
    const used = read ?? setting.fallback;
    config[name] = name === "data_dir" ? resolve(used as string) : used;
    origin[name] = from;
  }
  return { config: config as Config, origin: origin as Record<SettingName, string>, mistakes };
}

/** @param mistakes each begins with the name of its setting. @throws Problem invalid_setting with all, by section */
export function refuseMistakes(mistakes: readonly string[]): void {
  if (mistakes.length === 0) return;
  if (mistakes.length === 1) throw new Problem("invalid_setting", mistakes[0]);
  const sections = Map.groupBy(mistakes, findSection);
  const groups = [...Object.keys(SECTIONS), undefined].flatMap((section) => {
    const texts = sections.get(section);
    return texts ? [`[${section ?? "other"}]\n  ${texts.join("\n  ")}`] : [];
  });
  throw new Problem("invalid_setting", `${mistakes.length} settings are invalid.\n${groups.join("\n")}`);
}

/** The section of the setting that a mistake names; undefined if there is no such setting. */
function findSection(mistake: string): string | undefined {
  const [name] = /^\w+/.exec(mistake) ?? [""];
  return Object.entries(SECTIONS).find(([, settings]) => name in settings)?.[0];
}

/** Settings that differ from their defaults. */
export const changedSettings = (config: Config): SettingName[] =>
  SETTING_NAMES.filter((name) => {
    const { fallback } = SETTINGS[name];
    return config[name] !== (name === "data_dir" ? resolve(String(fallback)) : fallback);
  });

/** The settings for s3:// addresses. */
export const storeAccess = (config: Config) => ({
  endpoint: config.s3_endpoint.replace(/\/$/, ""),
  accessKey: config.s3_access_key,
  secretKey: config.s3_secret_key,
});
/** The settings that `storeAccess` reads. */
export const STORE_SETTINGS = [
  "s3_endpoint",
  "s3_access_key",
  "s3_secret_key",
] as const satisfies SettingName[];

/** Path of the Unix socket to listen on; empty for a TCP port. */
export const socketPath = ({ host }: Pick<Config, "host">): string =>
  host.startsWith("unix:") ? host.slice("unix:".length) : "";

/** True if the setting's value must not be shown. */
export const isSecret = (name: SettingName): boolean => (SETTINGS[name] as Setting<unknown>).secret === true;

/** A value for display: secrets are masked. */
export function shown(name: SettingName, config: Config): string {
  if (isSecret(name)) return config[name] === "" ? '""' : "********";
  return JSON.stringify(config[name]);
}

interface SettingsFile {
  path: string;
  values: Record<string, unknown>;
}

function readFile(named: string | undefined, mistakes: string[]): SettingsFile {
  const path = named ?? "labd.toml";
  if (!existsSync(path)) {
    if (named !== undefined) mistakes.push(`config: there is no file ${path}.`);
    return { path, values: {} };
  }
  try {
    return { path, values: flattened(Bun.TOML.parse(readFileSync(path, "utf8")), path, mistakes) };
  } catch (error) {
    mistakes.push(`config: ${path} is not TOML: ${(error as Error).message}`);
    return { path, values: {} };
  }
}

/** The settings of all sections. Settings outside of a section are read as well. */
function flattened(file: object, path: string, mistakes: string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(file)) {
    if (!(key in SECTIONS) || typeof value !== "object") {
      mistakes.push(...unknownName(key, path, SETTING_NAMES));
      values[key] = value;
      continue;
    }
    const choices = Object.keys(SECTIONS[key as keyof typeof SECTIONS]);
    for (const name of Object.keys(value))
      mistakes.push(...unknownName(name, `[${key}] in ${path}`, choices));
    Object.assign(values, value);
  }
  return values;
}

/** The mistake if a name is not among the choices; otherwise empty. */
function unknownName(name: string, where: string, choices: string[]): string[] {
  if (choices.includes(name)) return [];
  const removed = REMOVED_SETTINGS[name.replace(/^LABD_/, "").toLowerCase()];
  if (removed !== undefined) return [`${name} in ${where} is no longer a setting. ${removed}`];
  const near = nearest(name, choices);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `The settings are ${choices.join(", ")}.`;
  return [`${name} in ${where} is not a setting. ${hint}`];
}
