import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Accounts } from "../accounts/accounts.ts";
import type { Actor, SignedIn } from "../platform/actor.ts";
import { readJson } from "../platform/body.ts";
import { operation } from "../platform/operation.ts";
import { newSecret } from "../platform/secret.ts";
import { unauthenticated } from "../platform/unauthenticated.ts";
import { Problem } from "../problem.ts";
import type { Assistants } from "./assistants.ts";
import { type AssistantCaller, findCaller } from "./dispatch.ts";
import { PlannedChange, type PlannedChanges } from "./planned-changes.ts";

interface AssistantContext {
  changes: PlannedChanges;
  connections: AssistantConnections;
}

const hidden = { hidden: true, errors: [404] } as const;
const ofChange = { ...hidden, access: "signedIn", params: { id: "Id of the change." } } as const;
const ofConnection = {
  ...hidden,
  access: "withoutCredentials",
  run: ({ request }: { request: Request }, { connections }: AssistantContext) => connections.answer(request),
} as const;

/** The address to which assistants connect, and the page on which people confirm what assistants have planned. */
export const assistantOperations = [
  operation("POST /mcp", { ...ofConnection, summary: "Send a message of an assistant" }),
  operation("DELETE /mcp", { ...ofConnection, summary: "End the session of an assistant" }),
  operation("GET /api/assistant/changes/:id", {
    ...ofChange,
    summary: "Get a change that an assistant planned",
    returns: PlannedChange,
    run: ({ params, caller }, { changes }: AssistantContext) => changes.show(params.id, caller),
  }),
  operation("POST /api/assistant/changes/:id/confirm", {
    ...ofChange,
    summary: "Confirm a change that an assistant planned",
    returns: PlannedChange,
    run({ params, caller, request }, { changes }: AssistantContext) {
      requireBrowser(caller);
      return changes.confirm(params.id, findCaller(request, caller));
    },
  }),
  operation("DELETE /api/assistant/changes/:id", {
    ...ofChange,
    summary: "Reject a change that an assistant planned",
    run: ({ params, caller }, { changes }: AssistantContext) => changes.reject(params.id, caller),
  }),
];

/** The page is for people: an assistant's token cannot confirm what it asked for. */
function requireBrowser({ via }: SignedIn): void {
  if (via !== "session")
    throw new Problem("forbidden", "Only a person signed in with a browser may confirm.");
}

interface Session {
  transport: WebStandardStreamableHTTPServerTransport;
  user: number;
}

/** Sessions of an account; the one used least recently makes room. */
const MAX_SESSIONS = 20;

/** Connections of assistants over HTTP (Streamable HTTP transport of the Model Context Protocol). */
export class AssistantConnections {
  /** The one used least recently first. */
  readonly #sessions = new Map<string, Session>();

  /** @param requireTrusted throws for a request from a page of others, or to another name (DNS rebinding) */
  constructor(
    private readonly accounts: Accounts,
    private readonly assistants: Assistants,
    private readonly requireTrusted: (request: Request) => void,
  ) {}

  /** @throws Problem unknown_host, forbidden, unauthenticated, not_found for a session that has ended */
  async answer(request: Request): Promise<Response> {
    this.requireTrusted(request);
    const actor = this.#authenticate(request);
    const id = request.headers.get("mcp-session-id") ?? "";
    const known = this.#sessions.get(id);
    if (id !== "" && known?.user !== actor.user)
      throw new Problem("not_found", "The session has ended. Start a new one.");
    const parsedBody = request.method === "POST" ? await readJson(request) : undefined;
    if (known && this.#sessions.delete(id)) this.#sessions.set(id, known);
    const transport = known?.transport ?? (await this.#open(actor.user!));
    const caller = findCaller(request, actor);
    const authInfo = { token: "", clientId: String(actor.user), scopes: [], extra: { caller } };
    return transport.handleRequest(request, { parsedBody, authInfo });
  }

  /** Ends all sessions, whose streams would keep a stopping server waiting. */
  close(): void {
    for (const { transport } of this.#sessions.values()) void transport.close();
  }

  /** The account of an API token. Read-only tokens may call tools: each operation checks whether it writes. */
  #authenticate({ url, headers }: Request): Actor {
    const actor = this.accounts.authenticate(new Request(url, { headers }));
    if (actor.token == null)
      throw unauthenticated("Assistants need an API token: Authorization: Bearer, followed by the token.");
    return actor;
  }

  async #open(user: number): Promise<WebStandardStreamableHTTPServerTransport> {
    const sessions = this.#sessions;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => newSecret(""),
      onsessioninitialized: (id) => void sessions.set(id, { transport, user }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const own = [...sessions].filter(([, session]) => session.user === user);
    if (own.length >= MAX_SESSIONS) {
      sessions.delete(own[0][0]);
      void own[0][1].transport.close();
    }
    const server = this.assistants.makeServer(({ authInfo }) => authInfo!.extra!.caller as AssistantCaller);
    await server.connect(transport);
    return transport;
  }
}
