import type { Accounts } from "../accounts/accounts.ts";
import { commandLineOrigin } from "../accounts/audit-offline.ts";
import { getAuditLog } from "../accounts/audit.ts";
import { openData } from "../app/data-directory.ts";
import { type App, open } from "../app/open.ts";
import { type Config, type SettingName, socketPath } from "../config.ts";
import { RESOURCES } from "../inventory/index.ts";
import { systemClock } from "../platform/clock.ts";
import { describeReason } from "../platform/download.ts";
import { Problem } from "../problem.ts";
import { type Call, suggestion } from "./command.ts";

/** The REST API on behalf of one user. */
export interface InventoryClient {
  /** Sends a request for a path below /api/v2/. @throws Problem for an error response */
  send(path: string, init?: RequestInit): Promise<Response>;
}

/** The settings that commands on the inventory read. */
export const SERVICE_SETTINGS: readonly SettingName[] = [
  "data_dir",
  "host",
  "port",
  "tls_certificate",
  "max_message_bytes",
];

export const USER_FLAG = { "--user USER": "The account on whose behalf to act; its permissions apply." };

const HOUR = 3_600_000;
const LOCAL_ORIGIN = "http://localhost";

/**
 * Calls the REST API of the data directory for one user: over the socket of the server that runs on it, or in this
 * process, which then holds the lock. Either way with a token that is revoked at the end.
 * @throws Problem usage, not_found, already_running
 */
export async function withInventory<T>(
  call: Call,
  work: (client: InventoryClient) => Promise<T>,
): Promise<T> {
  const user = call.value("--user");
  if (user === undefined) throw new Problem("usage", "Name the account to act for: --user USER.");
  const { config } = call.configuration();
  const app = await openUnlessRunning(config);
  const data = app ?? (await openData(config));
  try {
    if (app) {
      const audit = getAuditLog(app.database, app.clock);
      audit.defaultOrigin = commandLineOrigin(audit);
    }
    const token = addToken(data.accounts, user);
    try {
      const base = app ? LOCAL_ORIGIN : serverAddress(config);
      return await work({
        async send(path, init = {}) {
          const headers = {
            ...(init.headers as Record<string, string>),
            Authorization: `Token ${token.token}`,
          };
          const request = new Request(`${base}/api/v2/${path}`, { ...init, headers });
          const response = await (app ? app.answer(request) : callServer(request, config));
          if (!response.ok) throw await readProblem(response);
          return response;
        },
      });
    } finally {
      data.accounts.tokens.revoke(token.id);
    }
  } finally {
    await data.close();
  }
}

/** The service in this process; null where a server has the data directory. */
async function openUnlessRunning(config: Config): Promise<App | null> {
  const attempt = (patience?: number): Promise<App | null> =>
    open({ ...config, workers: 0, log: "off" }, systemClock, patience).catch((error: unknown) => {
      if (error instanceof Problem && error.code === "already_running") return null;
      throw error;
    });
  // Only a command will release the directory soon.
  return (await attempt(0)) ?? ((await isServing(config)) ? null : attempt());
}

const isServing = (config: Config): Promise<boolean> =>
  callServer(new Request(`${serverAddress(config)}/healthz`), config).then(
    ({ ok }) => ok,
    () => false,
  );

const addToken = (accounts: Accounts, username: string): { token: string; id: string } =>
  accounts.tokens.add(accounts.userId(username, { active: true }), {
    name: "command line",
    expires: Date.now() + HOUR,
  });

/** The address of a server with these settings, as seen from this machine. */
export function serverAddress({ host, port, tls_certificate: certificate }: Config): string {
  if (socketPath({ host }) !== "") return LOCAL_ORIGIN;
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `${certificate === "" ? "http" : "https"}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** Sends a request to the running server. @throws Problem already_running where it does not answer */
export async function callServer(
  request: Request,
  config: Config,
  options: BunFetchRequestInit = {},
): Promise<Response> {
  try {
    const socket = socketPath(config) === "" ? {} : { unix: socketPath(config) };
    return await fetch(request, { ...options, ...socket });
  } catch (cause) {
    throw new Problem(
      "already_running",
      `A labd server uses ${config.data_dir}, but ${socketPath(config) || serverAddress(config)} does not respond (${describeReason(cause)}). Give the --host and --port of the server.`,
      { cause },
    );
  }
}

/** What `/readyz` of the running server says. @throws Problem already_running where it does not answer */
export async function askReadiness(config: Config): Promise<{ isReady: boolean; reasons: string[] }> {
  const request = new Request(`${serverAddress(config)}/readyz`);
  // Nothing secret is sent, and certificates are for the name that clients use.
  const response = await callServer(request, config, { tls: { rejectUnauthorized: false } });
  const { reasons = [] } = (await response.json()) as { reasons?: string[] };
  return { isReady: response.ok, reasons };
}

const CODES = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  413: "too_large",
  503: "busy",
} as const;

async function readProblem(response: Response): Promise<Problem> {
  const text = await response.text();
  let message = text.slice(0, 300);
  try {
    message = String((JSON.parse(text) as { message?: string }).message ?? message);
  } catch {
    // Another program than labd answered: show its text.
  }
  return new Problem(CODES[response.status as keyof typeof CODES] ?? "invalid_request", message);
}

/** The path below /api/v2/ of the list with this name. @throws Problem usage with the nearest names */
export function resourceSegment(word: string): string {
  const name = word.replace(/^\/+|\/+$/g, "");
  const found = RESOURCES.find(({ segment, aliases = [] }) => segment === name || aliases.includes(name));
  if (found) return found.segment;
  const names = RESOURCES.flatMap(({ segment, aliases = [] }) => aliases.concat(segment));
  throw new Problem("usage", `There is no list ${name}. ${suggestion(name, names)}`);
}
