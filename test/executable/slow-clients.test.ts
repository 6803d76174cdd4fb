import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { labd, scratch, serve, type Server } from "./labd.ts";
import { dial } from "./raw-http.ts";
import { waitFor } from "../wait.ts";

/**
 * Clients that take their time: with a body, with a header, with reading what they asked for. They are given up, or
 * wait, in bounded memory, and nobody else notices. `LABD_SLOW=1` adds what takes longer than a minute.
 */

const IS_LONG = process.env.LABD_SLOW === "1";
const RECORDS = 4000;
/** Megabytes by which the process may grow for readers that hold 16 of 40 answers of 12 MB open. */
const FLAT = 250;

const place = scratch();
let server: Server;
let authorization = "";
beforeAll(async () => {
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "a password\n" });
  authorization = `Token ${(await labd(["token", "add", "ada"], { env })).stdout.trim()}`;
  server = await serve(place.directory, ["--workers", "1", "--log", "problems"]);
  const records = Array.from({ length: RECORDS }, (_, i) => ({
    label: `Box ${i}`,
    // Does not shrink much: else little would be left to wait for.
    description: randomBytes(2250).toString("base64"),
  }));
  const made = await fetch(`${server.url}/api/v2/locations/`, {
    method: "POST",
    headers: { Authorization: authorization, "Content-Type": "application/json" },
    body: JSON.stringify(records),
  });
  expect(made.status).toBe(201);
  await made.arrayBuffer();
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const get = (path: string): Promise<Response> =>
  fetch(server.url + path, { headers: { Authorization: authorization } });

/** Sends a head, then a part now and then; what came back once the connection ends or `until` matches. */
function trickle(
  head: string,
  part: string,
  { every = 200, times = Infinity, until = /(?!)/ as RegExp, patience = 10_000 } = {},
): Promise<{ text: string; milliseconds: number }> {
  const socket = dial(server.url);
  const begun = performance.now();
  const done = Promise.withResolvers<void>();
  let text = "";
  let sent = 0;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    if (until.test(text)) done.resolve();
  });
  socket.on("close", done.resolve);
  socket.write(head.replaceAll("\n", "\r\n"));
  const timer = setInterval(() => {
    if (sent++ < times) socket.write(part);
  }, every);
  const late = setTimeout(done.resolve, patience);
  return done.promise.then(() => {
    clearInterval(timer);
    clearTimeout(late);
    socket.destroy();
    return { text, milliseconds: performance.now() - begun };
  });
}

const makeHead = (path: string, type = "application/json", length = 100_000): string =>
  `POST ${path} HTTP/1.1\nHost: lab\nAuthorization: ${authorization}\nContent-Type: ${type}\nContent-Length: ${length}\n\n`;

test("endless headers delay no other client", async () => {
  const sockets = Array.from({ length: 300 }, () => dial(server.url));
  for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nHost: lab\r\nX-A");
  for (let i = 0; i < 20; i++) {
    for (const socket of sockets) socket.write("a");
    expect((await get("/api/v2/locations/")).status).toBe(200);
  }
  for (const socket of sockets) socket.destroy();
});

/** Megabytes of memory now; 0 where the system does not tell. */
const memory = (): number =>
  process.platform === "linux"
    ? Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.process.pid}/status`, "utf8"))![1]) / 1024
    : 0;

test("clients that stop reading use bounded memory and delay no page", async () => {
  const list = "page_size=max&fields=label,description";
  for (const [query, more = ""] of [
    [list],
    ["format=csv"],
    ["format=xlsx"],
    [list, "Accept-Encoding: gzip\r\n"],
  ]) {
    const before = memory();
    const statuses: Record<string, number> = {};
    const sockets: Socket[] = [];
    for (let i = 0; i < 40; i++) {
      const socket = dial(server.url);
      sockets.push(socket);
      socket.once("data", (chunk) => {
        const status = chunk.toString("latin1").slice(9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === "200") socket.pause();
      });
      socket.write(
        `GET /api/v2/locations/?${query} HTTP/1.1\r\nHost: lab\r\nAuthorization: ${authorization}\r\n${more}\r\n`,
      );
    }
    await waitFor(async () => {
      expect((await get("/api/v2/locations/?page_size=5")).status).toBe(200);
      return (statuses["200"] ?? 0) + (statuses["503"] ?? 0) >= 40;
    });
    expect([query, Object.keys(statuses)]).toEqual([query, ["200", "503"]]);
    const grown = memory() - before;
    expect({ query, more, isFlat: grown < FLAT, grown }).toMatchObject({ query, more, isFlat: true });
    for (const socket of sockets) socket.destroy();
    // Their places are free again.
    await waitFor(
      async () => (await (await get(`/api/v2/locations/?${query}`)).arrayBuffer()).byteLength >= 10_000,
    );
  }
}, 300_000);

test("120 unfinished bodies of 16 MB cost less than 200 MB, and small writes go on", async () => {
  const before = memory();
  const statuses: string[] = [];
  const head = makeHead("/api/v2/locations/", "application/json", 16_777_216).replaceAll("\n", "\r\n");
  const piece = Buffer.alloc(1_048_576, " ");
  const sockets = Array.from({ length: 120 }, () => {
    const socket = dial(server.url);
    socket.on("data", (chunk) => statuses.push(chunk.toString("latin1").slice(9, 12)));
    socket.write(head);
    return socket;
  });
  for (let i = 0; i < 15; i++) {
    for (const socket of sockets) if (socket.writable && socket.writableLength === 0) socket.write(piece);
    const small = await fetch(`${server.url}/api/v2/locations/`, {
      method: "POST",
      headers: { Authorization: authorization, "Content-Type": "application/json" },
      body: JSON.stringify({ label: `Small ${i}` }),
    });
    expect(small.status).toBe(201);
    await small.arrayBuffer();
  }
  await waitFor(() => statuses.length >= 110);
  expect(new Set(statuses)).toEqual(new Set(["503"]));
  expect(memory() - before).toBeLessThan(200);
  for (const socket of sockets) socket.destroy();
}, 60_000);

test.skipIf(!IS_LONG)(
  "accepts slow uploads, and closes silent connections and connections with endless headers (LABD_SLOW=1)",
  async () => {
    const record = ">sp|P1|A\nMKLVAC\n";
    const upload = `${makeHead("/api/admin/corpora?name=slow", "text/plain", record.length * 25)}`;
    const [silent, head, unread] = await Promise.all([
      trickle(upload.replace("slow", "silent"), record, { times: 2, until: /code"/, patience: 120_000 }),
      trickle("GET / HTTP/1.1\nHost: lab\n", "X-A: b\r\n", { every: 3000, patience: 120_000 }),
      trickle(makeHead("/healthz"), " ", { every: 3000, patience: 120_000 }),
    ]);
    expect(silent.text).toContain("No data of the body arrived for 60 seconds.");
    expect(head.text).toBe("");
    expect(head.milliseconds).toBeLessThan(30_000);
    expect(unread.milliseconds).toBeLessThan(70_000);
    const steady = await trickle(upload, record, { every: 3000, until: /\r\n\r\n/, patience: 120_000 });
    expect(steady.text.slice(0, 12)).toBe("HTTP/1.1 202");
    expect(steady.milliseconds).toBeGreaterThan(70_000);
  },
  300_000,
);

test("stopping waits for clients that read slowly, but not for clients that do not read", async () => {
  const request = `GET /api/v2/locations/?page_size=max&fields=label,description HTTP/1.1\r\nHost: lab\r\nAuthorization: ${authorization}\r\n\r\n`;
  const begin = async (): Promise<Socket> => {
    const socket = dial(server.url);
    socket.write(request);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    return socket;
  };
  const [unread, slow] = [await begin(), await begin()];
  let tail = "";
  slow.on("data", (chunk) => {
    tail = (tail + chunk.toString("latin1")).slice(-10);
    slow.pause();
    setTimeout(() => slow.resume(), 30);
  });
  const begun = performance.now();
  const end = server.end("SIGTERM");
  slow.resume();
  expect(await end).toBe(0);
  // Bun checks for idle connections every four seconds.
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(tail).toEndWith("0\r\n\r\n");
  unread.destroy();
}, 60_000);
