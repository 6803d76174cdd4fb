import { existsSync, lstatSync, statSync } from "node:fs";
import { passwordError } from "../accounts/password.ts";
import { ldapMistakes, oidcMistakes } from "../accounts/external/index.ts";
import { type Config, socketPath } from "../config.ts";
import { connectionOptions } from "../farm/index.ts";
import { readCertificate } from "../platform/certificate.ts";
import { Problem } from "../problem.ts";
import { parseSmtpUrl } from "../reminders/index.ts";
import { readNetworks } from "../webhooks/index.ts";

/**
 * The settings with which `labd serve` does not start although each has an allowed value: some fit only together, or name
 * files. Each text begins with the name of a setting.
 */
export const findInvalidSettings = (config: Config): string[] => [
  ...directoryMistakes(config),
  ...urlMistakes(config),
  ...passwordMistakes(config),
  ...tlsMistakes(config),
  ...ldapMistakes(config),
  ...oidcMistakes(config).filter((mistake) => !ldapMistakes(config).includes(mistake)),
  ...(config.queue === ""
    ? []
    : catchMistake(() => connectionOptions({ url: config.queue, ca: config.ca_file }))),
  ...catchMistake(() => readNetworks(config.webhook_allow)),
  ...emailMistakes(config),
];

function directoryMistakes({ data_dir, host }: Config): string[] {
  const socket = socketPath({ host });
  const isFile = existsSync(data_dir) && !statSync(data_dir).isDirectory();
  const isTaken = lstatSync(socket, { throwIfNoEntry: false })?.isSocket() === false;
  return [
    ...(isFile ? [`data_dir: ${data_dir} is a file. Name a directory.`] : []),
    ...(isTaken ? [`host: cannot listen on ${socket}: a file that is not a socket exists there.`] : []),
  ];
}

const urlMistakes = (config: Config): string[] =>
  (["public_url", "s3_endpoint"] as const)
    .filter((name) => config[name] !== "" && !URL.canParse(config[name]))
    .map((name) => `${name}: ${config[name]} is not a valid URL. Check host and port.`);

function passwordMistakes({ admin_password }: Config): string[] {
  const error = admin_password === "" ? undefined : passwordError(admin_password);
  return error === undefined ? [] : [`admin_password: ${error}`];
}

function tlsMistakes(config: Config): string[] {
  const { tls_certificate: certificate, tls_key: key } = config;
  if (certificate === "" && key === "") return [];
  if (certificate === "" || key === "") return ["tls_certificate and tls_key: set both or neither."];
  if (socketPath(config) !== "")
    return ["tls_certificate: a Unix socket (setting host) does not support TLS."];
  return catchMistake(() => readCertificate({ certificate, key }));
}

function emailMistakes({ smtp_url, ca_file, public_url }: Config): string[] {
  if (smtp_url === "") return [];
  const missing =
    public_url === "" ? ["smtp_url: requires public_url, the address of the links in e-mails."] : [];
  return [...missing, ...catchMistake(() => parseSmtpUrl(smtp_url, ca_file))];
}

/** The message of the Problem that `read` throws; else nothing. */
function catchMistake(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_setting") return [error.message];
    throw error;
  }
}
