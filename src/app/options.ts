import { join } from "node:path";
import { type Config, SETTING_NAMES, variableOf } from "../config.ts";
import type { AccountOptions } from "../accounts/account-options.ts";
import type { PublicUrlOptions } from "../platform/origin.ts";
import { SECOND_FACTOR_KEY } from "../accounts/second-factor.ts";

/** All settings as variables, for a command that is to see what the server sees. */
export const environmentOf = (config: Config): Record<string, string> =>
  Object.fromEntries(SETTING_NAMES.map((name) => [variableOf(name), String(config[name])]));

/** What the settings say about the scoring service. */
export function scoringOptions(config: Config) {
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

/** How clients reach the service. */
export const reachOf = (config: Config): PublicUrlOptions => ({
  publicUrl: config.public_url,
  basePath: config.base_path,
  trustProxy: config.trust_proxy,
});

/** What the settings say about accounts. */
export const accountOptions = (config: Config): AccountOptions => ({
  loginFailures: config.login_failures,
  loginFailuresAddress: config.login_failures_address,
  loginWindow: config.login_window,
  passwordHashes: config.password_hashes,
  tokenDays: config.token_days,
  requireTotp: config.require_totp,
  keyFile: join(config.data_dir, SECOND_FACTOR_KEY),
  sessionHours: config.session_hours,
  sessionIdleMinutes: config.session_idle_minutes,
  confirmMinutes: config.confirm_minutes,
  ...reachOf(config),
});
