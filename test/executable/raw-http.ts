import { connect, type Socket } from "node:net";

/** HTTP as bytes, for requests that no client library would send. */

/** Bytes to write, or milliseconds to wait. */
export type Piece = string | number;

export interface Exchange {
  /** Everything that came back. */
  received: string;
  /** Status of each answer, in order. */
  statuses: number[];
  /** True if the server ended the connection. */
  closed: boolean;
  /** Milliseconds until the connection ended or everything that was waited for had come. */
  milliseconds: number;
}

/** A connection to the server of a URL. Errors are its end, not the test's. */
export function dial(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  return socket;
}

/**
 * Sends pieces and reads until the server closes, `until` matches, or `patience` milliseconds are over: long for a busy
 * machine, and much less than what a connection may rest, so that one that is closed was not closed for that.
 */
export async function exchange(
  url: string,
  pieces: readonly Piece[],
  { until = /(?!)/ as RegExp, patience = 30_000 } = {},
): Promise<Exchange> {
  const socket = dial(url);
  const started = performance.now();
  let received = "";
  let closed = false;
  const done = Promise.withResolvers<void>();
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    received += chunk;
    if (until.test(received)) done.resolve();
  });
  socket.on("close", () => {
    closed = true;
    done.resolve();
  });
  for (const piece of pieces) {
    if (closed) break;
    if (typeof piece === "number") await Bun.sleep(piece);
    else socket.write(Buffer.from(piece, "latin1"));
  }
  const timer = setTimeout(done.resolve, patience);
  await done.promise;
  clearTimeout(timer);
  const milliseconds = performance.now() - started;
  socket.destroy();
  const statuses = [...received.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));
  return { received, statuses, closed, milliseconds };
}

/** A body in chunks of this many bytes. */
export function inChunks(body: string, size: number): string {
  let out = "";
  for (let i = 0; i < body.length; i += size) {
    const chunk = body.slice(i, i + size);
    out += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${out}0\r\n\r\n`;
}

/**
 * Sends a body in chunks as fast as the server takes it, until an answer comes or the connection ends; a server need
 * not read what it has refused.
 * @returns what came back, the milliseconds until then, and how many bytes of the body were sent
 */
export async function pour(
  url: string,
  head: string,
  body: Iterable<string>,
): Promise<Exchange & { sent: number }> {
  const socket = dial(url);
  const started = performance.now();
  let received = "";
  let closed = false;
  let sent = 0;
  const over = Promise.withResolvers<void>();
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    received += chunk;
    if (/<\/\S*Envelope>/.test(received)) over.resolve();
  });
  socket.on("close", () => {
    closed = true;
    over.resolve();
  });
  const isOver = (): boolean => closed || received !== "";
  const write = async (text: string): Promise<void> => {
    if (socket.write(text, "latin1")) return;
    await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), over.promise]);
  };
  await write(head);
  for (const part of body) {
    if (isOver()) break;
    await write(`${part.length.toString(16)}\r\n${part}\r\n`);
    sent += part.length;
  }
  if (!isOver()) await write("0\r\n\r\n");
  await over.promise;
  const milliseconds = performance.now() - started;
  socket.destroy();
  const statuses = [...received.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));
  return { received, statuses, closed, milliseconds, sent };
}
