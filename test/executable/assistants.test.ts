import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type Assistant, connectBy } from "../assistants/laboratory.ts";
import type { Json } from "../fixtures/service.ts";
import { waitFor } from "../wait.ts";
import { LABD, labd, scratch, serve, type Server } from "./labd.ts";

/** Assistants with the executable, over standard input and output and over HTTP. */

setDefaultTimeout(120_000);

const data = scratch();
const words = ["--assistants", "confirm", "--workers", "1", "--admin-password", "correct horse"];
const PROTEINS = join(import.meta.dir, "../../src/sample/proteins.fasta");
let server: Server;
let token: string;

beforeAll(async () => {
  await labd(["corpus", "add", PROTEINS, "--data-dir", data.directory]);
  server = await serve(data.directory, words);
  token = await addToken("assistant");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

const addToken = async (name: string): Promise<string> =>
  (await labd(["token", "add", "admin", "--name", name, "--data-dir", data.directory])).stdout.trim();

/** Connects to `labd mcp`; `pid` is its process. */
async function start(
  env: Record<string, string>,
  flags: string[] = [],
): Promise<Assistant & { pid: number; errors: () => string }> {
  const options = { command: LABD, args: ["mcp", ...flags], env, stderr: "pipe" as const };
  const transport = new StdioClientTransport(options);
  let errors = "";
  transport.stderr!.on("data", (chunk) => (errors += String(chunk)));
  try {
    return { ...(await connectBy(transport)), pid: transport.pid!, errors: () => errors };
  } catch {
    throw new Error(errors);
  }
}

const connected = (): Record<string, string> => ({ LABD_URL: server.url, LABD_TOKEN: token });
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function addTube(name: string): Promise<string> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const url = `${server.url}/api/v2`;
  const units = await fetch(`${url}/vocabularies/terms/?name=microliter`, { headers });
  const [unit] = ((await units.json()) as Json).results;
  const body = JSON.stringify({ name, model_type: "ENZYME", amount: 100, unit: unit.id });
  const made = await fetch(`${url}/stocks/consumables/`, { method: "POST", headers, body });
  return ((await made.json()) as Json).id;
}

test("labd mcp scores with progress, plans and makes changes, and survives a restart of the server", async () => {
  const { client, call } = await start(connected());
  expect(client.getInstructions()).toContain("laboratory");
  const messages: string[] = [];
  const { data: scan } = await call(
    "scan_protein",
    { accession: "TP53", limit: 1 },
    { onprogress: ({ message }) => void messages.push(message!) },
  );
  expect(scan.matches[0]).toMatchObject({ motif: "MDM2-SWIB", text: "FSDLWKLL" });
  expect(messages.length).toBeGreaterThan(0);
  const id = await addTube("T4 ligase");
  const consume = { list: "stocks/consumables", id, amount: 20 };
  const plan = await call("consume_stock", consume);
  expect(plan.data.sentences).toEqual(["Change the amount of T4 ligase from 100 µL to 80 µL."]);
  expect((await call("confirm_change", { confirm: plan.data.confirm })).data.done).toBe(true);
  const forgotten = await call("consume_stock", consume);

  const { port } = new URL(server.url);
  await server.end("SIGKILL");
  server = await serve(data.directory, [...words, "--port", port]);
  const read = await call("read_record", { list: "stocks/consumables", id, fields: ["amount"] });
  expect(read.data).toEqual({ amount: 80 });
  const confirmed = await call("confirm_change", { confirm: forgotten.data.confirm });
  expect(confirmed.error?.code).toBe("not_found");
  await client.close();
  const { stdout } = await labd([
    "audit",
    "export",
    "--action",
    "record.update",
    "--data-dir",
    data.directory,
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ actor: "admin", via: "assistant", token: expect.any(String) });
});

test("a revoked token ends the assistant's access at once", async () => {
  const revoked = await addToken("short-lived");
  const { client, call } = await start({ ...connected(), LABD_TOKEN: revoked });
  expect((await call("find_records", { q: "ligase" })).error).toBeUndefined();
  await labd(["token", "revoke", revoked.slice(0, 12), "--data-dir", data.directory]);
  await expect(call("find_records", { q: "ligase" })).rejects.toThrow("Invalid token");
  await client.close();
});

test("a client that is killed leaves no process, and the server answers others", async () => {
  const assistant = await start(connected());
  const begun = Promise.withResolvers<void>();
  const call = assistant.call(
    "scan_protein",
    { accession: "P04637", variant: "W23A" },
    { onprogress: () => begun.resolve() },
  );
  const ended = call.then(
    () => "answered",
    () => "cut off",
  );
  await begun.promise;
  process.kill(assistant.pid, "SIGKILL");
  expect(await ended).toBe("cut off");
  const other = await connectBy(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  expect((await other.call("find_proteins", { query: "TP53", limit: 1 })).data.results).toHaveLength(1);
  await other.client.close();

  const closed = await start(connected());
  await closed.client.close();
  await waitFor(() => !isRunning(closed.pid));
});

test("a client that ends cancels its work", async () => {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const { client, call } = await start(connected());
  const { data: proteins } = await call("find_proteins", { query: "human", limit: 20 });
  // The only worker is busy with other jobs, so that the scan waits.
  for (const { accession } of proteins.results) {
    const body = JSON.stringify({ accession, allMotifClasses: true });
    await fetch(`${server.url}/api/scoring/jobs`, { method: "POST", headers, body });
  }
  const scan = call(
    "scan_protein",
    { accession: "P04637", variant: "F19A" },
    { onprogress: () => void client.close() },
  );
  await expect(scan).rejects.toThrow();
  await waitFor(async () => {
    const response = await fetch(`${server.url}/api/tasks?kind=job&limit=1`, { headers });
    return ((await response.json()) as Json).results[0].state === "cancelled";
  });
});

test("without a server it scores from the data directory, and changes nothing", async () => {
  using own = scratch();
  const flags = ["--data-dir", own.directory, "--log", "off"];
  await labd(["corpus", "add", PROTEINS, "--data-dir", own.directory]);
  const { client, call } = await start({}, flags);
  const { data: scored } = await call("score_protein", { accession: "TP53", motifClasses: ["MDM2-SWIB"] });
  expect(scored.matches[0].text).toBe("FSDLWKLL");
  expect((await call("order_products", { items: [] })).error?.code).toBe("unauthenticated");
  await client.close();
});

test("a server that cannot be reached, or refuses the token, is named", async () => {
  const unreachable = start({ LABD_URL: "http://127.0.0.1:9", LABD_TOKEN: "x" });
  await expect(unreachable).rejects.toThrow("LABD_URL: no assistant can connect to http://127.0.0.1:9");
  await expect(start({ ...connected(), LABD_TOKEN: "labd_wrong" })).rejects.toThrow("Invalid token");
});
