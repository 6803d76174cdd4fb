import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { openAssistants } from "../app/assistants.ts";
import { open } from "../app/open.ts";
import { Problem } from "../problem.ts";
import { VERSION } from "../version.ts";
import type { Call, Command } from "./command.ts";

/** Milliseconds for one call of a tool, more than the server takes. */
const MAX_CALL = 120_000;

export const mcp: Command = {
  name: "mcp",
  summary: "Connect an assistant (Model Context Protocol) over standard input and output.",
  settings: ["data_dir", "workers", "log"],
  example:
    "LABD_URL=https://lab.example LABD_TOKEN=labd_… labd mcp\n" +
    "Without LABD_URL it opens the data directory itself, for scoring and public records without an account.",
  async run(call) {
    const { LABD_URL: url = "", LABD_TOKEN: token = "" } = call.environment;
    await (url === "" ? serveLocally(call) : connectServer(url, token));
  },
};

/** Serves until standard input ends. */
async function serveInput(server: Server): Promise<void> {
  const ended = Promise.withResolvers<void>();
  for (const event of ["end", "close"]) process.stdin.once(event, () => ended.resolve());
  await server.connect(new StdioServerTransport());
  await ended.promise;
  await server.close();
}

async function serveLocally(call: Call): Promise<void> {
  const { config } = call.configuration();
  const service = await open(config);
  const opened = await openAssistants({ ...config, assistants: "link" }, service, service.answer);
  const origin = "http://localhost";
  const caller = { user: null, token: null, headers: new Headers(), origin, base: origin, address: null };
  try {
    await serveInput(opened!.assistants.makeServer(() => caller));
  } finally {
    service.retire();
    await service.close();
  }
}

/** Passes requests on to the assistants' address of a server, whose tools and permissions apply. */
async function connectServer(url: string, token: string): Promise<void> {
  let connection = await connect(url, token);
  const server = new Server(
    { name: "labd", version: VERSION },
    {
      capabilities: connection.client.getServerCapabilities()!,
      instructions: connection.client.getInstructions()!,
    },
  );
  server.fallbackRequestHandler = async ({ method, params }, { signal, _meta, sendNotification }) => {
    const { progressToken } = _meta ?? {};
    const onprogress = (progress: object) =>
      void sendNotification({
        method: "notifications/progress",
        params: { ...(progress as { progress: number }), progressToken: progressToken! },
      });
    const options = { signal, timeout: MAX_CALL, ...(progressToken !== undefined && { onprogress }) };
    const send = () => connection.client.request({ method, params } as never, ResultSchema, options);
    try {
      return await send();
    } catch (error) {
      // The server was restarted.
      if (!(error instanceof StreamableHTTPError) || error.code !== 404) throw error;
      connection = await connect(url, token);
      return await send();
    }
  };
  await serveInput(server);
  await connection.transport.terminateSession().catch(() => {});
  await connection.client.close();
}

async function connect(url: string, token: string) {
  const client = new Client({ name: "labd mcp", version: VERSION });
  const transport = new StreamableHTTPClientTransport(new URL(`${url.replace(/\/$/, "")}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  try {
    await client.connect(transport as never);
  } catch (error) {
    const reason = (error as Error).message;
    throw new Problem("invalid_setting", `LABD_URL: no assistant can connect to ${url}: ${reason}`);
  }
  return { client, transport };
}
