import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type Behind, type Gate, openGate } from "../../src/platform/gate.ts";

/** The gate before a server: every byte, in both directions, and nothing left behind. */

const opened: { stop(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.stop();
});

function behindOf(
  answer: (request: Request) => Response | Promise<Response>,
): Behind & { empty(): Promise<void> } {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer, maxRequestBodySize: 1e9 });
  opened.push({ stop: () => void server.stop(true) });
  let told = (): void => {};
  return {
    port: server.port!,
    passages: new Map(),
    count: 0,
    left: () => told(),
    async empty() {
      while (this.count > 0) await new Promise<void>((resolve) => (told = resolve));
    },
  };
}

function gateOf(behind: () => Behind): Gate {
  const gate = openGate({ hostname: "127.0.0.1", port: 0 }, behind);
  opened.push({ stop: () => (gate.close(), gate.cut()) });
  return gate;
}

const open = (gate: Gate): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(gate.port, "127.0.0.1", () => resolve(socket));
    socket.on("error", reject);
  });

test("30 MB go there and come back through a client that takes nothing for a while", async () => {
  const sent = Buffer.from(new Uint8Array(30_000_000).map((_, index) => (index * 2654435761) >>> 24));
  const taken = Promise.withResolvers<void>();
  const behind = behindOf(async (request) => {
    const body = await request.bytes();
    taken.resolve();
    return new Response(body);
  });
  const gate = gateOf(() => behind);
  const socket = await open(gate);
  socket.pause();
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${sent.length}\r\n\r\n`);
  socket.write(sent);
  await taken.promise;
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const got = Buffer.concat(chunks);
  expect(got.subarray(0, 15).toString()).toBe("HTTP/1.1 200 OK");
  expect(Bun.hash(got.subarray(-sent.length))).toBe(Bun.hash(sent));
  await behind.empty();
  await gate.emptied();
  expect(behind.passages.size).toBe(0);
});

test("a client that goes amid an answer, or amid its request, leaves nothing behind", async () => {
  const body = new Uint8Array(20_000_000);
  const behind = behindOf(() => new Response(body));
  const gate = gateOf(() => behind);
  const reader = await open(gate);
  await new Promise((resolve) => {
    reader.once("data", resolve);
    reader.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  });
  expect([...behind.passages.values()]).toEqual([{ address: "127.0.0.1" }]);
  reader.destroy();
  const writer = await open(gate);
  await new Promise((resolve) =>
    writer.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1", resolve),
  );
  writer.destroy();
  const silent = await open(gate);
  silent.end();
  await behind.empty();
  expect(behind.passages.size).toBe(0);
});

test("who is connected stays with what was behind the gate when it came; where nothing is, it is let go", async () => {
  const [first, second] = ["first", "second"].map((name) => behindOf(() => new Response(name)));
  let now = first;
  const gate = gateOf(() => now);
  const ask = (socket: Socket): Promise<string> =>
    new Promise((resolve) => {
      socket.once("data", (chunk) => resolve(String(chunk).split("\r\n\r\n")[1]));
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    });
  const early = await open(gate);
  expect(await ask(early)).toBe("first");
  now = second;
  const late = await open(gate);
  expect(await ask(late)).toBe("second");
  expect(await ask(early)).toBe("first");
  now = { port: 1, passages: new Map(), count: 0, left: () => {} } as unknown as typeof first;
  const nowhere = await open(gate);
  await new Promise((resolve) => nowhere.once("close", resolve));
  expect(now.count).toBe(0);
  early.destroy();
  late.destroy();
});
