import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSocket, type SocketOptions } from "../../src/platform/socket.ts";
import { certify } from "../executable/certificate.ts";

const folder = mkdtempSync(join(tmpdir(), "labd-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FREE = { host: "127.0.0.1", port: 0, unix: "", attempts: 1, certificate: "", key: "" };
const open = (options: Partial<SocketOptions> = {}) =>
  openSocket({ ...FREE, ...options }, async (request, arrival) => {
    const { pathname } = new URL(request.url);
    return new Response([pathname, arrival?.address(), arrival?.isUnix, arrival?.origin()].join(" "));
  });

test.each([
  ["127.0.0.1", "127.0.0.1", "127.0.0.1"],
  ["0.0.0.0", "localhost", "127.0.0.1"],
  ["::1", "[::1]", "::1"],
  ["::", "localhost", "::1"],
])("on %s responds at %s and determines the caller's address", async (host, name) => {
  const socket = await open({ host });
  try {
    expect(socket.url).toBe(`http://${name}:${socket.port}`);
    const text = await (await fetch(`${socket.url}/x`)).text();
    expect(text).toMatch(/^\/x (127\.0\.0\.1|::1|::ffff:127\.0\.0\.1) false http:/);
    expect(socket.outdated()).toBeUndefined();
  } finally {
    await socket.stop(true);
  }
});

test("accepts a request line with headers of 128 KB, and rejects longer headers", async () => {
  const socket = await open();
  try {
    const status = async (length: number) => (await fetch(`${socket.url}/x?${"y".repeat(length)}`)).status;
    expect([await status(20_000), await status(120_000), await status(131_072)]).toEqual([200, 200, 431]);
  } finally {
    await socket.stop(true);
  }
});

test("selects the next free port within the allowed number of attempts", async () => {
  const first = await open();
  try {
    const { port } = first;
    const refused = `127.0.0.1:${port}: port ${port} is in use; choose another with --port.`;
    await expect(open({ port })).rejects.toThrow(refused);
    const next = await open({ port, attempts: 50 });
    expect(next.port).toBeGreaterThan(port);
    expect(next.port).toBeLessThan(port + 50);
    await next.stop(true);
  } finally {
    await first.stop(true);
  }
});

test.each(["203.0.113.1", "no-such-host.invalid"])("rejects the address %s", async (host) => {
  const refused = `Cannot listen on ${host}:0: this machine has no such address`;
  await expect(open({ host })).rejects.toThrow(refused);
});

test("a Unix socket is accessible to owner and group, replaces a stale one, and is removed when it is closed", async () => {
  const unix = join(folder, "labd.sock");
  const socket = await open({ unix });
  expect([socket.url, socket.port, statSync(unix).mode & 0o777]).toEqual([`unix:${unix}`, 0, 0o660]);
  const answer = await fetch("http://lab/x", { unix });
  expect(await answer.text()).toBe("/x  true http://localhost");
  await expect(open({ unix })).rejects.toThrow("another process listens there");
  await socket.stop(true);
  expect(statSync(unix, { throwIfNoEntry: false })).toBeUndefined();
  const killed = Bun.spawnSync([
    process.execPath,
    "-e",
    `Bun.serve({ unix: ${JSON.stringify(unix)}, fetch: () => new Response() }); process.kill(process.pid, "SIGKILL")`,
  ]);
  expect([killed.signalCode, statSync(unix).isSocket()]).toEqual(["SIGKILL", true]);
  await (await open({ unix })).stop(true);
  writeFileSync(unix, "");
  await expect(open({ unix })).rejects.toThrow("a file that is not a socket exists there");
});

test("with TLS a new certificate is served after a reload, on the same port", async () => {
  const files = { certificate: join(folder, "lab-cert.pem"), key: join(folder, "lab-key.pem") };
  const certified = () => {
    certify(folder, "lab");
    return readFileSync(join(folder, "lab-ca.pem"), "utf8");
  };
  const first = certified();
  const socket = await open(files);
  const ask = async (ca: string) =>
    (await fetch(`${socket.url}/x`, { tls: { ca }, keepalive: false } as RequestInit)).status;
  try {
    expect(socket.url).toBe(`https://127.0.0.1:${socket.port}`);
    expect(await ask(first)).toBe(200);
    expect(socket.outdated()).toBeUndefined();
    await expect(open({ ...files, port: socket.port })).rejects.toThrow("is in use");
    const next = certified();
    expect(socket.outdated()).toBeString();
    socket.reload();
    expect(socket.outdated()).toBeUndefined();
    expect(await ask(next)).toBe(200);
    await expect(ask(first)).rejects.toThrow();
  } finally {
    await socket.stop(true);
  }
});

test("certificate and key must be readable PEM and belong together", async () => {
  certify(folder, "a");
  certify(folder, "b");
  const [certificate, key] = [join(folder, "a-cert.pem"), join(folder, "b-key.pem")];
  for (const [files, text] of [
    [{ certificate, key }, `tls_key: ${key} is not the key of the first certificate`],
    [{ certificate: join(folder, "none"), key }, "tls_certificate: cannot read"],
    [{ certificate, key: certificate }, "is not PEM"],
  ] as const)
    await expect(open(files)).rejects.toThrow(text);
});
