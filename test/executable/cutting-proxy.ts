import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy that answers every request with 503 at first: each method and path so many times. */
export function busyProxy(target: string, times: number) {
  const refused = new Map<string, number>();
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const key = `${request.method} ${pathname}`;
      refused.set(key, (refused.get(key) ?? 0) + 1);
      if (refused.get(key)! <= times)
        return Response.json(
          { message: "Busy. Try again.", code: "busy" },
          { status: 503, headers: { "Retry-After": "0" } },
        );
      const { method, headers } = request;
      const body = method === "GET" ? null : await request.arrayBuffer();
      return fetch(target + pathname + search, { method, headers, body, decompress: false });
    },
  });
  return { url: server.url.origin, refused, [Symbol.dispose]: () => void server.stop(true) };
}

/**
 * A proxy that passes everything on, but cuts the connection of the first request that contains a text: after the
 * server has answered it, and before the client sees the answer.
 */
export async function cuttingProxy(target: string, text: string) {
  const { port } = new URL(target);
  /** Requests that contained the text. */
  const seen: string[] = [];
  const server = createServer((client: Socket) => {
    const upstream = connect(Number(port), "127.0.0.1");
    let isDoomed = false;
    client.on("data", (data) => {
      if (data.includes(text)) {
        isDoomed = seen.length === 0;
        seen.push(data.toString());
      }
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (isDoomed) client.destroy();
      else client.write(data);
    });
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("close", end).on("error", end);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    [Symbol.dispose]: () => void server.close(),
  };
}
