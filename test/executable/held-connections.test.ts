import { dlopen, ptr } from "bun:ffi";
import { expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { labd, LABD, scratch, serve } from "./labd.ts";

/** Connections that are there while a certificate is renewed or the service restarts: none of them is lost. */

const onLinux = process.platform === "linux";
const OPENSSL = Bun.which("openssl");

const request = (path: string, close = false): string =>
  `GET ${path} HTTP/1.1\r\nHost: lab.example\r\n${close ? "Connection: close\r\n" : ""}\r\n`;

/** The beginning of what is answered. @throws where the connection ends without an answer */
function answered(socket: Socket, message: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const start = text.indexOf("\r\n\r\n") + 4;
      if (length !== undefined && start > 3 && text.length >= start + Number(length)) resolve(text);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after ${JSON.stringify(text)}`)));
    socket.write(message);
  });
}

const opened = <T extends Socket>(socket: T, event = "connect"): Promise<T> =>
  new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once("error", reject);
  });

const overTls = (socket: Socket): Promise<ReturnType<typeof connectTls>> =>
  opened(connectTls({ socket, rejectUnauthorized: false }), "secureConnect");

test.skipIf(OPENSSL === null || !onLinux)(
  "renewing the certificate loses no connection, at whatever point it is (SKIPPED without openssl)",
  async () => {
    using data = scratch();
    const file = (name: string): string => join(data.directory, name);
    for (const name of ["old", "new"]) {
      const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
      const out = ["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`), "-subj", `/CN=${name}`];
      const made = Bun.spawnSync([OPENSSL!, ...words, ...out]);
      expect(made.exitCode).toBe(0);
    }
    const use = (name: string): void => {
      copyFileSync(file(`${name}.crt`), file("lab.crt"));
      copyFileSync(file(`${name}.key`), file("lab.key"));
    };
    use("old");
    const pair = ["--tls-certificate", file("lab.crt"), "--tls-key", file("lab.key")];
    await using server = await serve(data.directory, pair);
    const where = { port: Number(new URL(server.url).port), host: "127.0.0.1" };
    const plain = (): Promise<Socket> => opened(connectPlain(where));
    const nameOf = (socket: ReturnType<typeof connectTls>): string =>
      String(socket.getPeerCertificate().subject.CN);
    const renewed = async (times: number): Promise<void> => {
      while (server.log().split("certificate read again").length <= times) await Bun.sleep(5);
    };

    const unspoken = await plain();
    const silent = await overTls(await plain());
    const resting = await overTls(await plain());
    expect(await answered(resting, request("/healthz"))).toStartWith("HTTP/1.1 200");
    const begun = await overTls(await plain());
    await new Promise((resolve) => begun.write(request("/healthz").slice(0, 20), resolve));
    // Those that the process has not accepted yet wait in the kernel.
    server.process.kill("SIGSTOP");
    const queued = await Promise.all(Array.from({ length: 40 }, plain));
    use("new");
    server.process.kill("SIGHUP");
    server.process.kill("SIGCONT");
    await renewed(1);
    const last = await overTls(await plain());
    expect(nameOf(last)).toBe("new");
    expect(await answered(last, request("/healthz"))).toStartWith("HTTP/1.1 200");
    // Each is told that its connection ends with this answer, so that the next has the new certificate.
    for (const [socket, message] of [
      [silent, request("/healthz")],
      [resting, request("/healthz")],
      [begun, request("/healthz").slice(20)],
    ] as const) {
      expect(nameOf(socket)).toBe("old");
      const text = await answered(socket, message);
      expect(text).toStartWith("HTTP/1.1 200");
      expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
    }
    for (const socket of [unspoken, ...queued])
      expect(await answered(await overTls(socket), request("/healthz"))).toStartWith("HTTP/1.1 200");

    // Clients that connect without pause, while it is renewed again and again.
    const load = { connections: 0, going: true };
    const client = async (): Promise<void> => {
      while (load.going) {
        const socket = await overTls(await plain());
        expect(await answered(socket, request("/healthz", true))).toStartWith("HTTP/1.1 200");
        socket.destroy();
        load.connections++;
      }
    };
    const clients = Promise.all(Array.from({ length: 4 }, client));
    for (let time = 2; time <= 12; time++) {
      const wanted = load.connections + 4;
      while (load.connections < wanted) await Bun.sleep(1);
      server.process.kill("SIGHUP");
      await renewed(time);
    }
    load.going = false;
    await clients;
    expect(load.connections).toBeGreaterThan(40);
    expect(await server.end("SIGTERM")).toBe(0);
  },
);

/** A socket that listens and that nobody accepts from, as systemd holds it. */
function heldSocket(): { fd: number; port: number } {
  const { symbols: libc } = dlopen("libc.so.6", {
    socket: { args: ["int", "int", "int"], returns: "int" },
    bind: { args: ["int", "ptr", "int"], returns: "int" },
    listen: { args: ["int", "int"], returns: "int" },
    getsockname: { args: ["int", "ptr", "ptr"], returns: "int" },
  });
  // AF_INET, SOCK_STREAM | SOCK_CLOEXEC; struct sockaddr_in of 127.0.0.1, port 0.
  const fd = libc.socket(2, 1 | 0o2000000, 0);
  const address = new Uint8Array([2, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(libc.bind(fd, ptr(address), address.length)).toBe(0);
  expect(libc.listen(fd, 128)).toBe(0);
  expect(libc.getsockname(fd, ptr(address), ptr(new Uint32Array([address.length])))).toBe(0);
  return { fd, port: address[2] * 256 + address[3] };
}

/** TCP ports (IPv4) at which a process listens. */
function listeningPorts(pid: number): number[] {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkOf(`/proc/${pid}/fd/${fd}`)));
  return readFileSync(`/proc/${pid}/net/tcp`, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === "0A" && own.has(`socket:[${inode}]`))
    .map(([, address]) => Number.parseInt(address.split(":")[1], 16));
}

const readlinkOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    // Closed since it was listed.
    return "";
  }
};

test.skipIf(!onLinux)(
  "with a socket of systemd clients wait while the service is away, and their addresses are known",
  async () => {
    using data = scratch();
    const held = heldSocket();
    const start = async (): Promise<{ process: Bun.Subprocess; log: () => string }> => {
      const run = Bun.spawn(
        // The number of a process is known to itself alone: so the shell says it and becomes labd.
        ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', LABD, "serve", "--data-dir", data.directory].concat(
          "--login-failures-address 2 --backup-hours 0".split(" "),
        ),
        { stdio: ["ignore", "ignore", "pipe", held.fd], env: { PATH: "", LISTEN_FDS: "1" } },
      );
      let said = "";
      const { promise, resolve } = Promise.withResolvers<void>();
      void (async () => {
        for await (const chunk of run.stderr as ReadableStream<Uint8Array>) {
          said += new TextDecoder().decode(chunk);
          if (said.includes(" serves ")) resolve();
        }
        resolve();
      })();
      await promise;
      expect(said).toContain(` serves http://127.0.0.1:${held.port}`);
      return { process: run, log: () => said };
    };
    const asked = async (path: string): Promise<Socket> => {
      const socket = await opened(connectPlain(held.port, "127.0.0.1"));
      await new Promise((resolve) => socket.write(request(path, true), resolve));
      return socket;
    };
    const first = await start();
    expect(await (await fetch(`http://127.0.0.1:${held.port}/healthz`)).text()).toContain("ok");
    first.process.kill("SIGTERM");
    expect(await first.process.exited).toBe(0);
    const waiting = await Promise.all(Array.from({ length: 30 }, () => asked("/healthz")));
    const second = await start();
    for (const socket of waiting) expect(await answered(socket, "")).toStartWith("HTTP/1.1 200");
    // Killed: what it had accepted is gone, what comes then waits.
    second.process.kill("SIGKILL");
    await second.process.exited;
    const later = await Promise.all(Array.from({ length: 30 }, () => asked("/healthz")));
    const third = await start();
    for (const socket of later) expect(await answered(socket, "")).toStartWith("HTTP/1.1 200");

    // The port behind the gate answers nobody else.
    const inner = listeningPorts(third.process.pid).filter((port) => port !== held.port);
    expect(inner).toHaveLength(1);
    expect((await fetch(`http://127.0.0.1:${inner[0]}/healthz`)).status).toBe(403);

    // Each address has attempts of its own: neither is the other's, nor do all count as one.
    const attempt = async (from: string, name: string): Promise<string> => {
      const body = JSON.stringify({ username: name, password: "wrong" });
      const socket = await opened(connectPlain({ port: held.port, host: "127.0.0.1", localAddress: from }));
      const head = `POST /api/v2/token-auth/ HTTP/1.1\r\nHost: lab.example\r\nConnection: close\r\n`;
      return answered(
        socket,
        `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ).then((text) => text.slice(9, 12));
    };
    const statuses = [];
    for (const [index, from] of ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2"].entries())
      statuses.push(await attempt(from, `nobody${index}`));
    expect(statuses).toEqual([statuses[0], statuses[0], "429", statuses[0]]);
    expect(statuses[0]).not.toBe("429");
    third.process.kill("SIGTERM");
    expect(await third.process.exited).toBe(0);
    const log = await labd(["audit", "export", "--data-dir", data.directory]);
    const addresses = log.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { action: string; address: string | null })
      .filter(({ action }) => action === "sign_in")
      .map(({ address }) => address);
    expect(new Set(addresses)).toEqual(new Set(["127.0.0.1", "127.0.0.2"]));
  },
);
