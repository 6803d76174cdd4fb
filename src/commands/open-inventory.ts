import { openData } from "../app/data-directory.ts";
import { type App, open } from "../app/open.ts";
import type { Call } from "./command-line.ts";
import type { Config, SettingName } from "../config.ts";
import { RESOURCES } from "../inventory/index.ts";
import { nearest, Problem } from "../problem.ts";
import { commandLineOrigin } from "../accounts/audit-offline.ts";
import { auditOf } from "../accounts/audit.ts";
import type { Accounts } from "../accounts/accounts.ts";

/** The inventory of a data directory for verbs: that of the service that runs on it, or else one of their own. */
export interface OpenInventory {
  /** Asks below /api/v2/, on behalf of the user. @throws Problem that the answer tells of */
  send(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** The settings that such a verb reads. */
export const SERVICE_SETTINGS: readonly SettingName[] = [
  "data_dir",
  "host",
  "port",
  "listen",
  "tls_certificate",
  "base_path",
  "max_message_bytes",
];

export const USER_FLAG = {
  name: "--user",
  value: "USER",
  sentence: "On whose behalf, with this account's rights.",
} as const;

const HOUR = 3_600_000;
/** Begin and end of addresses in a process of its own, which nobody else sees. */
const OWN = "http://localhost";

/**
 * The service of the data directory, for one user. Where one runs, it is asked over its socket, so that its other
 * callers are not held up; where none does, its requests are answered in this process, which holds the lock meanwhile.
 * Either way a token for an hour is made, and revoked at the end: whoever may write the data directory may do so.
 * @throws Problem usage, not_found, already_running
 */
export async function openInventory(call: Call): Promise<OpenInventory> {
  const user = call.value("--user");
  if (user === undefined) throw new Problem("usage", "Name the account on whose behalf: --user USER.");
  const { config } = call.configuration();
  let own: App | undefined;
  try {
    own = await open({ ...config, workers: 0, log: "off" });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "already_running") throw error;
  }
  const data = own ? { accounts: own.accounts, close: () => own.close() } : await openData(config);
  if (own) {
    const audit = auditOf(own.database, own.clock);
    audit.defaultOrigin = commandLineOrigin(audit);
  }
  let token: ReturnType<typeof tokenFor>;
  try {
    token = tokenFor(data.accounts, user);
  } catch (error) {
    await data.close();
    throw error;
  }
  const ask = own
    ? (request: Request) => own.answer(request)
    : (request: Request) => overSocket(request, config);
  return {
    async send(path, init = {}) {
      const headers = { ...(init.headers as Record<string, string>), Authorization: `Token ${token.token}` };
      const base = own ? OWN : addressOf(config);
      const response = await ask(
        new Request(`${base}${config.base_path}/api/v2/${path}`, { ...init, headers }),
      );
      if (!response.ok) throw await problemOf(response);
      return response;
    },
    async close() {
      data.accounts.tokens.revoke(token.id);
      await data.close();
    },
  };
}

function tokenFor(accounts: Accounts, username: string): { token: string; id: string } {
  const user = accounts.userId(username, { active: true });
  return accounts.tokens.add(user, { name: "command line", expires: Date.now() + HOUR });
}

/** Where a server with these settings is called on this machine. */
export function addressOf({ host, port, listen, tls_certificate: certificate }: Config): string {
  if (listen !== "") return OWN;
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `${certificate === "" ? "http" : "https"}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** Asks the server of these settings. @throws Problem already_running where none answers */
export async function overSocket(request: Request, config: Config): Promise<Response> {
  try {
    return await fetch(request, config.listen === "" ? {} : { unix: config.listen.replace("unix:", "") });
  } catch (cause) {
    throw new Problem(
      "already_running",
      `A labd runs on ${config.data_dir}, but none answers at ${config.listen || addressOf(config)}: ${(cause as Error).message}. Give --host and --port (or --listen) as that one has them.`,
      { cause },
    );
  }
}

/** What a refusal says. */
async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  let message = text.slice(0, 300);
  try {
    message = String((JSON.parse(text) as { message?: string }).message ?? message);
  } catch {
    // Not ours: as it is.
  }
  const code = {
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    413: "too_large",
    503: "busy",
  } as const;
  return new Problem(code[response.status as 401] ?? "invalid_request", message);
}

/** The list that a word names, by its address below /api/v2/. @throws Problem usage with the nearest */
export function segmentOf(word: string | undefined, usage: string): string {
  const named = (word ?? "").replace(/^\/+|\/+$/g, "");
  const found = RESOURCES.find(({ segment, aliases = [] }) => segment === named || aliases.includes(named));
  if (found) return found.segment;
  const all = RESOURCES.flatMap(({ segment, aliases }) => [segment].concat(aliases ?? []));
  const near = nearest(named, all);
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `There are ${all.join(", ")}.`;
  throw new Problem(
    "usage",
    word === undefined ? `${usage} There are ${all.join(", ")}.` : `There is no list ${named}. ${hint}`,
  );
}
