import { connect, type Socket } from "node:net";

/** HTTP as bytes, for requests that no client library would send. */

/** Bytes to write, or milliseconds to wait. */
export type Piece = string | number;

export interface Exchange {
  /** Everything that came back. */
  received: string;
  /** Status of each answer, in order. */
  statuses: number[];
  /** Whether the server ended the connection. */
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

/** Sends pieces and reads until the server closes, `until` matches, or `patience` milliseconds are over. */
export async function exchange(
  url: string,
  pieces: readonly Piece[],
  { until = /(?!)/ as RegExp, patience = 1500 } = {},
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
