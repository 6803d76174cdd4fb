import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { nearest, Problem } from "./problem.ts";
import { IDENTITY_SETTINGS } from "./accounts/external/settings.ts";
import { choice, integer, type Setting, text, truth } from "./platform/setting.ts";
import { BASE_PATH } from "./platform/origin.ts";

/**
 * Every setting is one row of SETTINGS: the flag (`--data-dir`), the variable (`LABD_DATA_DIR`), the key in
 * labd.toml (`data_dir`), the `check` verb and the table in the README all come from it. A flag beats the
 * variable, the variable beats the file, the file beats the default.
 */

export const SETTINGS = {
  data_dir: text("labd-data", "a path", /^[^\0]+$/, {
    sentence: "Directory that holds the database, the corpora and the lock; made where it is missing.",
  }),
  host: text("127.0.0.1", "an address or a host name", /^[A-Za-z0-9.:_-]+$/, {
    sentence:
      "Address to listen on. Only this machine can call the default; 0.0.0.0 opens the service to the network.",
  }),
  port: integer(8480, 0, 65535, { sentence: "TCP port to listen on; 0 takes any free one." }),
  listen: text("", "empty, or unix: and a path", /^(unix:[^\0]{1,100})?$/, {
    sentence:
      "unix:/run/labd/labd.sock listens on that Unix socket instead of host and port; empty listens on those.",
  }),
  tls_certificate: text("", "empty, or a path", /^[^\0]*$/, {
    sentence:
      "File with the certificate and its chain (PEM), for HTTPS without a proxy. It is read again when it changes, and on SIGHUP.",
  }),
  tls_key: text("", "empty, or a path", /^[^\0]*$/, {
    sentence: "File with the key of the certificate (PEM).",
  }),
  public_url: text(
    "",
    "empty, or an http(s) address without a path, query or trailing slash",
    /^(https?:\/\/[^\s/?#"'<>]+)?$/,
    {
      sentence:
        "Address under which clients reach the service, for links and the WSDL behind a reverse proxy; empty takes the request's own.",
    },
  ),
  base_path: text(
    "",
    "empty, or a path such as /labd without a slash at its end",
    new RegExp(`^$|${BASE_PATH.source}`),
    {
      sentence:
        "Path before all addresses behind a reverse proxy, such as /labd; the proxy may pass it on or take it away.",
    },
  ),
  workers: integer(availableParallelism(), 1, 256, {
    sentence: "Scoring workers, each with one job at a time; by default one per processor.",
  }),
  job_timeout: integer(600, 1, 86_400, {
    sentence: "Seconds that one scoring job may take before it fails.",
  }),
  queue: text(
    "",
    "empty, or redis://user:password@host:6379/0, rediss://… with TLS, or unix:/path; one Redis, neither Sentinel nor Cluster",
    /^((rediss?:\/\/|unix:)[^\s]+)?$/,
    {
      secret: true,
      sentence:
        "Redis or Valkey through which labd worker on other machines takes jobs, a database of its own for each server: redis://user:password@host:6379/0, rediss:// with TLS, or unix://user:password@/path. Empty scores in this process alone.",
    },
  ),
  queue_ca: text("", "empty, or a path", /^[^\0]*$/, {
    sentence:
      "File with the certificates (PEM) that signed that of the queue (rediss://); empty takes the system's.",
  }),
  queue_local: choice<"away" | "always" | "never">("away", ["away", "always", "never"], {
    sentence:
      "Whether the workers of this process score beside those of the queue: only while Redis or all its workers are away, always, or never.",
  }),
  max_queued: integer(10_000, 1, 100_000_000, {
    sentence: "Jobs that may wait at a time; one more is refused.",
  }),
  max_queued_per_client: integer(5000, 1, 100_000_000, {
    sentence: "Jobs of one client (a user, or a network address) that may wait at a time.",
  }),
  job_retention_days: integer(90, 0, 36_500, {
    sentence: "Days after its end for which a job's request and result are kept; 0 keeps them for ever.",
  }),
  worker_memory: integer(0, 0, 1_048_576, {
    sentence:
      "Megabytes of memory for each worker. When they have more together, the job that has run longest is stopped; 0 lets the whole process have half of the machine's.",
  }),
  max_query_length: integer(40_000, 1, 10_000_000, {
    sentence: "Residues that a query sequence may have; the longest human protein has 35,991.",
  }),
  max_message_bytes: integer(16_777_216, 1024, 4_294_967_296, {
    sentence: "Bytes that the body of one request may have.",
  }),
  receive_timeout: integer(120, 1, 86_400, {
    sentence: "Seconds that a message, or the body of a request, may take to arrive.",
  }),
  max_message_depth: integer(100, 4, 10_000, {
    sentence: "How deep elements of a SOAP message may lie inside each other.",
  }),
  max_message_elements: integer(50_000, 10, 100_000_000, {
    sentence: "Elements, comments, CDATA sections and processing instructions that a SOAP message may have.",
  }),
  max_message_attributes: integer(500, 10, 1_000_000, {
    sentence: "Attributes, namespace declarations among them, that one element of a SOAP message may have.",
  }),
  max_message_namespaces: integer(1000, 10, 1_000_000, {
    sentence: "Namespace declarations that a SOAP message may have.",
  }),
  max_attribute_length: integer(65_536, 256, 1_073_741_824, {
    sentence: "Characters that the value of one attribute of a SOAP message may have.",
  }),
  max_text_length: integer(4_194_304, 256, 1_073_741_824, {
    sentence: "Characters that one value, comment or other part of a SOAP message may have, as written.",
  }),
  soap_namespace: text(
    "http://labd.example/conservation-scorer",
    "an absolute URI",
    /^[a-z][a-z0-9+.-]*:[^\s"'<>&]+$/i,
    {
      sentence:
        "Target namespace of the SOAP service; set that of a service which this one replaces, and its clients go on working.",
    },
  ),
  anonymous_read: truth(true, {
    sentence: "Whether callers without credentials may read the public records of the inventory.",
  }),
  admin_password: text("", "empty, or at least 8 characters", /^(.{8,})?$/s, {
    secret: true,
    sentence:
      "Password for the account admin, which is made at the first start when this is set and there is no such account.",
  }),
  session_hours: integer(336, 1, 87_600, {
    sentence: "Hours after which a browser has to sign in again, whatever it did in between.",
  }),
  session_idle_minutes: integer(1440, 1, 5_256_000, {
    sentence: "Minutes without a request after which a browser has to sign in again.",
  }),
  confirm_minutes: integer(10, 1, 1440, {
    sentence:
      "Minutes after signing in, or giving the password again, in which a browser may make tokens, set up a second factor and the like without giving it once more.",
  }),
  require_totp: choice<"off" | "administrators" | "all">("off", ["off", "administrators", "all"], {
    sentence:
      "Whose accounts need a second factor (codes of an app): nobody's, administrators', or all. Who has none sets it up at the next sign-in, and can do nothing else until then.",
  }),
  token_days: integer(90, 0, 36_500, {
    sentence: "Days after which the tokens that token-auth gives expire; 0: they do not.",
  }),
  login_failures: integer(10, 1, 1_000_000, {
    sentence: "Failed sign-ins for one account within login_window, after which further ones have to wait.",
  }),
  login_failures_address: integer(100, 1, 1_000_000, {
    sentence: "Failed sign-ins from one address within login_window, after which further ones have to wait.",
  }),
  login_window: integer(300, 1, 86_400, {
    sentence: "Seconds for which a failed sign-in counts.",
  }),
  password_hashes: integer(Math.max(1, Math.min(4, availableParallelism() >> 1)), 1, 256, {
    sentence:
      "Passwords that are hashed at once; each takes 19 MiB and a processor for some 50 milliseconds. By default half as many as there are processors, from 1 to 4: the others score and answer.",
  }),
  ...IDENTITY_SETTINGS,
  trust_proxy: truth(false, {
    sentence:
      "Whether X-Forwarded-For, -Proto, -Host and -Prefix are those of a reverse proxy of yours, which has to set or remove each: for counting failed sign-ins by address, cookies and links. public_url and base_path beat them.",
  }),
  backup_hours: integer(24, 0, 8760, {
    sentence: "Hours from one backup to the next while serving; 0 makes none.",
  }),
  backup_dir: text("", "empty, a path, or s3://bucket/prefix", /^(?!s3:)[^\0]*$|^s3:\/\/[^\0\s?#]+$/i, {
    sentence:
      "Directory for backups, on another disk at best, or s3://bucket/prefix; empty is backups in data_dir. Also for the one that is made before an upgrade changes the database.",
  }),
  backup_keep_days: integer(7, 0, 10_000, {
    sentence: "Days, weeks and months: of each of so many that have backups, the last backup is kept.",
  }),
  backup_keep_weeks: integer(4, 0, 10_000, { sentence: "See backup_keep_days." }),
  backup_keep_months: integer(12, 0, 10_000, { sentence: "See backup_keep_days." }),
  s3_endpoint: text("", "empty, or an http(s) address without a path", /^(https?:\/\/[^\s/?#@"'<>]+\/?)?$/, {
    sentence:
      "Address of the server that s3:// means (Garage, MinIO, Ceph …); empty is AWS_ENDPOINT_URL, else AWS itself.",
  }),
  s3_region: text("", "empty, or a name such as eu-central-1", /^[A-Za-z0-9-]{0,64}$/, {
    sentence: "Region of it; empty is AWS_REGION, else us-east-1.",
  }),
  s3_access_key: text("", "empty, or a name without spaces", /^\S{0,256}$/, {
    sentence: "Name of the key for it; empty is AWS_ACCESS_KEY_ID.",
  }),
  s3_secret_key: text("", "empty, or a text without spaces", /^\S{0,1024}$/, {
    secret: true,
    sentence:
      "The key's secret; empty is AWS_SECRET_ACCESS_KEY. Rather in the file or a variable than as a flag.",
  }),
  s3_session_token: text("", "empty, or a text without spaces", /^\S{0,16384}$/, {
    secret: true,
    sentence: "What goes with keys that are lent for a time; empty is AWS_SESSION_TOKEN.",
  }),
  litestream: truth(false, {
    sentence:
      "Whether Litestream replicates the database: labd then leaves writing back SQLite's log to it, without which its copies can be damaged.",
  }),
  gzip_threshold: integer(1024, 0, 1_073_741_824, {
    sentence: "Bytes from which on an answer is compressed for clients that accept gzip.",
  }),
  metrics: choice<"local" | "all" | "off">("local", ["local", "all", "off"], {
    sentence:
      "Who may read /metrics without the token: callers on this machine that no proxy brought, all, or nobody at all.",
  }),
  metrics_token: text("", "empty, or at least 16 characters without spaces", /^(\S{16,})?$/, {
    secret: true,
    sentence: "What Authorization: Bearer gives to read /metrics from anywhere.",
  }),
  webhook_allow: text("", "empty, or networks such as 10.1.0.0/16, fd00::/8", /^[0-9A-Fa-f:./, ]*$/, {
    sentence:
      "Networks of your own that webhooks may call, separated by commas; otherwise only public addresses are called.",
  }),
  webhook_http: truth(false, {
    sentence: "Whether webhooks may call addresses that begin with http, too.",
  }),
  slow_query_ms: integer(0, 0, 3_600_000, {
    sentence:
      "Milliseconds from which on a statement of SQL is logged, without its values; 0 times none, which is faster.",
  }),
  log: choice<"requests" | "problems" | "off">("requests", ["requests", "problems", "off"], {
    sentence: "What is written to standard error as JSON lines: every request, only problems, or nothing.",
  }),
} satisfies Record<string, Setting<string | number | boolean>>;

export type SettingName = keyof typeof SETTINGS;
export type Config = { -readonly [N in SettingName]: NonNullable<ReturnType<(typeof SETTINGS)[N]["read"]>> };
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export const flagOf = (name: SettingName): string => `--${name.replaceAll("_", "-")}`;
export const variableOf = (name: SettingName): string => `LABD_${name.toUpperCase()}`;

export interface Resolved {
  config: Config;
  /** Per setting, where its value came from, in words. */
  origin: Record<SettingName, string>;
}

export interface Sources {
  /** Values of flags by the name of the setting. */
  flags: Partial<Record<SettingName, string>>;
  environment: Record<string, string | undefined>;
  /** Path given by --config; without it LABD_CONFIG, then labd.toml in the working directory where it exists. */
  file?: string | undefined;
}

/** Variables that are no settings: where their file is, and for which task of the administration a command runs. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set(["LABD_CONFIG", "LABD_TASK"]);

/**
 * The configuration from all sources.
 * @throws Problem invalid_setting that names the setting, its value, where it was set and what is allowed
 */
export function resolveConfig(sources: Sources): Resolved {
  const file = readFile(sources.file ?? sources.environment.LABD_CONFIG);
  for (const variable of Object.keys(sources.environment)) {
    if (!variable.startsWith("LABD_") || OTHER_VARIABLES.has(variable)) continue;
    refuseUnknown(variable, "the environment", SETTING_NAMES.map(variableOf));
  }
  for (const key of Object.keys(file.values)) refuseUnknown(key, file.path, SETTING_NAMES);

  const config: Record<string, unknown> = {};
  const origin: Record<string, string> = {};
  for (const name of SETTING_NAMES) {
    const setting: Setting<unknown> = SETTINGS[name];
    const given: [string, unknown][] = [
      [`flag ${flagOf(name)}`, sources.flags[name]],
      [`variable ${variableOf(name)}`, sources.environment[variableOf(name)]],
      [`file ${file.path}`, file.values[name]],
    ];
    const [from, value] = given.find(([, value]) => value !== undefined) ?? ["default", setting.fallback];
    const read = setting.read(value);
    if (read === undefined) {
      const shown = setting.secret ? "the value given (not shown)" : JSON.stringify(value);
      throw new Problem(
        "invalid_setting",
        `${name}: ${shown} from ${from} is not allowed; expected ${setting.allowed}.`,
      );
    }
    config[name] = name === "data_dir" ? resolve(read as string) : read;
    origin[name] = from;
  }
  return { config: config as Config, origin: origin as Record<SettingName, string> };
}

/** What `s3://` means by the settings. */
export const storeAccess = (config: Config) => ({
  endpoint: config.s3_endpoint.replace(/\/$/, ""),
  region: config.s3_region,
  accessKey: config.s3_access_key,
  secretKey: config.s3_secret_key,
  sessionToken: config.s3_session_token,
});
/** The settings that `storeAccess` reads. */
export const STORE_SETTINGS = [
  "s3_endpoint",
  "s3_region",
  "s3_access_key",
  "s3_secret_key",
  "s3_session_token",
] as const satisfies SettingName[];

/** Whether a setting's value is for nobody to see. */
export const isSecret = (name: SettingName): boolean => (SETTINGS[name] as Setting<unknown>).secret === true;

/** A value as it may be shown: secrets are masked, whatever they hold. */
export function shown(name: SettingName, config: Config): string {
  if (isSecret(name)) return config[name] === "" ? '""' : "********";
  return JSON.stringify(config[name]);
}

function readFile(named: string | undefined): { path: string; values: Record<string, unknown> } {
  const path = named ?? "labd.toml";
  if (!existsSync(path)) {
    if (named === undefined) return { path, values: {} };
    throw new Problem("invalid_setting", `config: there is no file ${path}.`);
  }
  try {
    return { path, values: Bun.TOML.parse(readFileSync(path, "utf8")) as Record<string, unknown> };
  } catch (error) {
    throw new Problem("invalid_setting", `config: ${path} is not TOML: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function refuseUnknown(name: string, where: string, choices: string[]): void {
  if (choices.includes(name)) return;
  const near = nearest(name, choices);
  const hint =
    near.length > 0 ? `did you mean ${near.join(" or ")}?` : `the settings are ${choices.join(", ")}.`;
  throw new Problem("invalid_setting", `${name} in ${where} is not a setting; ${hint}`);
}
