import { chmodSync, lstatSync, rmSync } from "node:fs";
import http from "node:http";
import { connect } from "node:net";
import { Problem } from "../problem.ts";
import { type CertificateFiles, readCertificate, stampFiles } from "./certificate.ts";
import type { Answer } from "./http.ts";
import { IDLE_SECONDS, IdleTimeouts } from "./idle-timeout.ts";

/** The address to listen on. `certificate` and `key` are both empty for HTTP without TLS. */
export interface SocketOptions extends CertificateFiles {
  host: string;
  port: number;
  /** Path of a Unix socket, instead of host and port; else empty. */
  unix: string;
  /** Number of ports to try, from `port` on. */
  attempts: number;
}

export interface Socket {
  /** Address to open on this machine, or `unix:` and the path. */
  url: string;
  /** 0 for a Unix socket. */
  port: number;
  /** A name for the state of the certificate files, where they have changed since they were read. */
  outdated(): string | undefined;
  /** Reads certificate and key again. Running requests finish. @throws Problem invalid_setting */
  reload(): void;
  /** Takes no more connections; resolves when running requests are answered. With `true` they are cut off. */
  stop(cut: boolean): Promise<void>;
}

/** @throws Problem cannot_listen, invalid_setting */
export async function openSocket(options: SocketOptions, answer: Answer): Promise<Socket> {
  if (options.unix !== "") return openUnix(options.unix, answer);
  if (options.certificate !== "") return openTls(options, answer);
  const listener = firstFree(options, (port) => serveOn({ hostname: options.host, port }, answer));
  const port = listener.server.port!;
  return {
    url: `http://${authority(options.host, port)}`,
    port,
    outdated: () => undefined,
    reload() {},
    stop: (cut) => stop(listener, cut),
  };
}

/** Bun.serve keeps the certificate it started with: for a new one a second server takes over the port. */
function openTls(options: SocketOptions, answer: Answer): Socket {
  let certificate = readCertificate(options);
  const start = (port: number, reusePort: boolean): Listener =>
    serveOn({ hostname: options.host, port, reusePort, tls: certificate }, answer);
  // Servers that share a port do not notice each other: another process on it is found before sharing begins.
  const probe = firstFree(options, (port) => start(port, false));
  const port = probe.server.port!;
  void probe.server.stop(true);
  let current = start(port, true);
  const draining = new Set<Listener>();
  return {
    url: `https://${authority(options.host, port)}`,
    port,
    outdated() {
      const stamp = stampFiles(options);
      return stamp === certificate.stamp ? undefined : stamp;
    },
    reload() {
      certificate = readCertificate(options);
      const old = current;
      current = start(port, true);
      draining.add(old);
      void old.server.stop(false).then(() => draining.delete(old));
    },
    stop: async (cut) => {
      await Promise.all([current, ...draining].map((listener) => stop(listener, cut)));
    },
  };
}

const authority = (host: string, port: number): string => {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
};

type Place =
  | { hostname: string; port: number; reusePort?: boolean; tls?: { cert: string; key: string } }
  | { unix: string };

/** Bytes of a request line with its headers; Bun answers longer ones with 431 and no body. */
const MAX_HEAD = 131_072;

interface Listener {
  server: Bun.Server<undefined>;
  timeouts: IdleTimeouts;
}

function stop({ server, timeouts }: Listener, cut: boolean): Promise<void> {
  timeouts.shorten(server);
  return server.stop(cut);
}

function serveOn(place: Place, answer: Answer): Listener {
  const timeouts = new IdleTimeouts();
  const isUnix = "unix" in place;
  // Bun.serve takes it from here; its default is 16 KB.
  Object.assign(http, { maxHeaderSize: MAX_HEAD });
  const server = Bun.serve({
    // With Bun's default a second instance would share the port without notice.
    reusePort: false,
    ...place,
    // Each service counts the bytes it reads and answers in its own form before Bun's limit applies.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE_SECONDS,
    fetch: (request: Request, server: Bun.Server<undefined>) =>
      timeouts.whileAnswered(
        server,
        request,
        answer(request, {
          address: () => server.requestIP(request)?.address ?? null,
          isUnix,
          reads: (isReading) => timeouts.reads(request, isReading),
          origin: () => (isUnix ? "http://localhost" : server.url.origin),
        }),
      ),
    error: () => new Response("Internal error", { status: 500 }),
  } as Bun.Serve.Options<undefined>);
  return { server, timeouts };
}

/** Listens at the first port that is free. @throws Problem cannot_listen, invalid_setting */
function firstFree<T>({ host, port: first, attempts }: SocketOptions, listen: (port: number) => T): T {
  for (let port = first; ; port++) {
    try {
      return listen(port);
    } catch (error) {
      const code = String((error as { code?: string }).code);
      if (code === "EADDRINUSE" && port + 1 < first + attempts && port > 0) continue;
      const hint = listenHint(code, port) ?? (error as Error).message;
      // Another process may free the port, and an address may come up after the start of the machine.
      const passes = code === "EADDRINUSE" || code === "EADDRNOTAVAIL";
      throw new Problem(
        passes ? "cannot_listen" : "invalid_setting",
        `Cannot listen on ${host}:${port}: ${hint}.`,
        { cause: error },
      );
    }
  }
}

/** The reason why this machine cannot listen on a host at any port; undefined if it can. */
export function hostMistake(host: string): string | undefined {
  try {
    void serveOn({ hostname: host, port: 0 }, async () => new Response()).server.stop(true);
    return undefined;
  } catch (error) {
    const hint = listenHint(String((error as { code?: string }).code), 0) ?? (error as Error).message;
    return `host: cannot listen on ${host}: ${hint}.`;
  }
}

function listenHint(code: string, port: number): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is in use; choose another with --port`;
    case "EACCES":
      return "this account may not use a port below 1024; choose another with --port, or put a reverse proxy in front";
    case "EADDRNOTAVAIL":
    case "EINVAL":
    case "ENOTFOUND":
      return "this machine has no such address; --host accepts 127.0.0.1, ::1, 0.0.0.0, or an address of this machine";
    default:
      return undefined;
  }
}

/** Only owner and group may connect: add the proxy's account to the group. */
const SOCKET_MODE = 0o660;

async function openUnix(path: string, answer: Answer): Promise<Socket> {
  const refuse = (why: string, cause?: unknown): Problem =>
    new Problem("invalid_setting", `host: cannot listen on ${path}: ${why}.`, { cause });
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (existing && !existing.isSocket()) throw refuse("a file that is not a socket exists there");
  if (existing && (await isAnswered(path)))
    throw new Problem("cannot_listen", `host: cannot listen on ${path}: another process listens there.`);
  // Left behind by a killed process.
  if (existing) rmSync(path);
  try {
    const listener = serveOn({ unix: path }, answer);
    chmodSync(path, SOCKET_MODE);
    return {
      url: `unix:${path}`,
      port: 0,
      outdated: () => undefined,
      reload() {},
      async stop(cut) {
        await stop(listener, cut);
        rmSync(path, { force: true });
      },
    };
  } catch (error) {
    throw refuse((error as Error).message, error);
  }
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", () => resolve(false));
  });
}
