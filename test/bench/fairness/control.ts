/** A server that does nothing: the waits for it are those that the machine causes. */
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("{}") });
process.stdout.write(`${server.url.href}\n`);
