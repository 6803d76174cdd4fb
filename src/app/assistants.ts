import type { Accounts } from "../accounts/accounts.ts";
import { makeGuards } from "../accounts/guards.ts";
import type { Assistants } from "../assistants/assistants.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../platform/clock.ts";
import type { Answer, HttpOptions } from "../platform/http.ts";
import type { Log } from "../platform/log.ts";
import { mount } from "../platform/mount.ts";
import { isFromOwnPage } from "../platform/origin.ts";
import { isOwnHost } from "../platform/own-host.ts";
import { Problem } from "../problem.ts";
import { VERSION } from "../version.ts";
import { allowedHosts, corsOrigins, publicUrlOptions } from "./options.ts";

export interface OpenedAssistants {
  assistants: Assistants;
  routes: HttpOptions["services"][number];
  /** Ends the connections of assistants. */
  close(): void;
}

/** Assistants and their routes; undefined if the setting switches them off. @param answer the operations of this server */
export async function openAssistants(
  config: Config,
  { accounts, clock, log }: { accounts: Accounts; clock: Clock; log: Log },
  answer: Answer,
): Promise<OpenedAssistants | undefined> {
  if (config.assistants === "off") return undefined;
  const [{ Assistants }, { PlannedChanges }, { AssistantConnections, assistantOperations }, web] =
    await Promise.all([
      import("../assistants/assistants.ts"),
      import("../assistants/planned-changes.ts"),
      import("../assistants/route.ts"),
      import("../web/index.ts"),
    ]);
  const changes = new PlannedChanges(answer, clock);
  const assistants = new Assistants({
    answer,
    changes,
    mayConfirm: config.assistants === "confirm",
    version: VERSION,
    log,
    chapters: { list: web.HELP_TOPICS, read: web.readHelp },
  });
  const connections = new AssistantConnections(accounts, assistants, (request) =>
    requireTrusted(request, config),
  );
  const guards = makeGuards(accounts);
  const routes = mount(assistantOperations, {
    tag: "service",
    guards,
    dependencies: { changes, connections },
  });
  return { assistants, routes, close: () => connections.close() };
}

function requireTrusted(request: Request, config: Config): void {
  const reach = publicUrlOptions(config);
  if (!isOwnHost(request, allowedHosts(config), reach))
    throw new Problem(
      "unknown_host",
      "Assistants use the server's address, localhost, or a name in public_url or allowed_hosts.",
    );
  const isAllowed = corsOrigins(config).includes(request.headers.get("origin") ?? "");
  if (isFromOwnPage(request, reach) === false && !isAllowed)
    throw new Problem("forbidden", "Pages of other origins must be listed in the setting cors_origins.");
}
