import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Config, SETTING_NAMES, variableName } from "../config.ts";
import type { AccountOptions } from "../accounts/accounts.ts";
import type { PublicUrlOptions } from "../platform/origin.ts";
import { SECOND_FACTOR_KEY } from "../accounts/second-factor.ts";

/** Passwords hashed at once: each takes 19 MiB and a processor for some 50 ms. */
const PASSWORD_HASHES = Math.max(1, Math.min(4, availableParallelism() >> 1));

/** All settings as variables, for a child process with the same configuration. */
export const toEnvironment = (config: Config): Record<string, string> =>
  Object.fromEntries(SETTING_NAMES.map((name) => [variableName(name), String(config[name])]));

export function scoringOptions(config: Config) {
  return {
    dataDirectory: config.data_dir,
    maxMessageBytes: config.max_message_bytes,
    maxQueued: config.max_queued,
    maxQueuedPerClient: Math.ceil(config.max_queued / 2),
    retentionDays: config.job_retention_days,
    namespace: config.soap_namespace,
    hasPublicUrl: config.public_url !== "",
  };
}

/** The public address of the service: `public_url` may have a path, which is the base path. */
export function publicUrlOptions({ public_url, trust_proxy }: Config): PublicUrlOptions {
  const url = public_url === "" ? undefined : new URL(public_url);
  return {
    publicUrl: url?.origin ?? "",
    basePath: url?.pathname.replace(/\/$/, "") ?? "",
    trustProxy: trust_proxy,
  };
}

const splitNames = (list: string): string[] =>
  list
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");

/** The names in `allowed_hosts`. */
export const allowedHosts = ({ allowed_hosts }: Config): string[] =>
  splitNames(allowed_hosts).map((name) => name.replace(/\.$/, ""));

/** The origins in `cors_origins`, as browsers send them: without a default port. */
export const corsOrigins = ({ cors_origins }: Config): string[] =>
  splitNames(cors_origins).map((origin) => new URL(origin).origin);

export const accountOptions = (config: Config): Partial<AccountOptions> => ({
  passwordHashes: PASSWORD_HASHES,
  requireTotp: config.require_totp,
  keyFile: join(config.data_dir, SECOND_FACTOR_KEY),
  sessionIdleMinutes: config.session_idle_minutes,
  ...publicUrlOptions(config),
});
