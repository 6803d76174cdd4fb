import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Json } from "../fixtures/service.ts";
import PROTEINS from "../../src/sample/proteins.fasta" with { type: "text" };

/** A result of a tool: its data, or the code and message of its error. */
export interface ToolResult {
  data: Json;
  error: { code: string; message: string } | undefined;
  /** The text for clients that read no data. */
  text: string;
}

/** The SDK's client, connected. */
export interface Assistant {
  client: Client;
  call(name: string, given?: Json, options?: RequestOptions): Promise<ToolResult>;
}

/** A server with assistants, two people in different groups, and the sample of proteins. */
export interface Laboratory extends AsyncDisposable {
  app: App;
  /** Moves the clock on by so many minutes. */
  wait(minutes: number): void;
  /** Connects as the owner of a token. */
  connect(token: string): Promise<Assistant>;
  /** A request to the REST API with a token, or with other headers. */
  send(method: string, path: string, credentials: string | HeadersInit, body?: unknown): Promise<Response>;
  /** Headers of a person in a browser. */
  browser(username: string): Record<string, string>;
  /** Creates a consumable of the owner of a token. */
  addTube(token: string, name: string, more?: Json): Promise<string>;
  readAmount(token: string, id: string): Promise<number>;
}

export const HOST = "http://localhost";

export async function openLaboratory(
  assistants: "link" | "confirm" | "off" = "confirm",
): Promise<Laboratory> {
  const directory = mkdtempSync(join(tmpdir(), "labd-assistants-"));
  const flags = { data_dir: directory, backup_hours: "0", log: "off", workers: "1", assistants } as const;
  let shift = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + shift };
  const app = await open(resolveConfig({ flags, environment: {} }).config, clock);
  await app.accounts.addUser({ username: "ada", group: "Yeast" });
  await app.accounts.addUser({ username: "kim", group: "Mouse" });
  await app.scoring.corpora.add({ name: "sample", bytes: PROTEINS as unknown as string });
  const send: Laboratory["send"] = (method, path, credentials, body) => {
    const own = typeof credentials === "string" ? { Authorization: `Bearer ${credentials}` } : credentials;
    const headers = new Headers(own);
    headers.set("Content-Type", "application/json");
    return app.answer(
      new Request(HOST + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  };
  return {
    app,
    send,
    wait: (minutes) => void (shift += minutes * 60_000),
    connect: (token) =>
      connectBy(
        new StreamableHTTPClientTransport(new URL(`${HOST}/mcp`), {
          fetch: (url, init) => app.answer(new Request(url, init)),
          requestInit: { headers: { Authorization: `Bearer ${token}` } },
        }),
      ),
    browser(username) {
      const opened = app.accounts.sessions.open(app.accounts.userId(username), new Request(HOST));
      return { Cookie: opened.cookie.split(";")[0], Origin: HOST };
    },
    async addTube(token, name, more = {}) {
      const unit = await send("GET", "/api/v2/vocabularies/terms/?name=microliter", token);
      const [{ id }] = ((await unit.json()) as Json).results;
      const body = { name, model_type: "ENZYME", amount: 100, unit: id, ...more };
      const made = await send("POST", "/api/v2/stocks/consumables/", token, body);
      expect(made.status).toBe(201);
      return ((await made.json()) as Json).id;
    },
    async readAmount(token, id) {
      const found = await send("GET", `/api/v2/stocks/consumables/${id}/`, token);
      return ((await found.json()) as Json).amount;
    },
    async [Symbol.asyncDispose]() {
      app.retire();
      await app.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Connects the SDK's client, which also checks each result with the schema of its tool. */
export async function connectBy(transport: object): Promise<Assistant> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport as never);
  return {
    client,
    async call(name, given = {}, options) {
      const result = await client.callTool({ name, arguments: given }, undefined, options);
      const [{ text }] = result.content as { text: string }[];
      const data = (result.structuredContent ?? {}) as Json;
      return { data, text, error: result.isError === true ? JSON.parse(text) : undefined };
    },
  };
}
