import { X509Certificate, createPrivateKey } from "node:crypto";
import { chmodSync, lstatSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { Problem } from "../problem.ts";
import type { Answer } from "./http.ts";
import { IDLE, withoutIdleTimeout } from "./idle-timeout.ts";

/** Where to listen. */
export interface SocketOptions {
  host: string;
  port: number;
  /** Path of a Unix socket, instead of host and port; else empty. */
  unix: string;
  /** Files in PEM: the certificate with its chain, and its key; both empty for HTTP without TLS. */
  certificate: string;
  key: string;
  /** How many ports to try, from `port` on. */
  attempts: number;
}

export interface Socket {
  /** Address to open on this machine, or `unix:` and the path. */
  url: string;
  /** 0 for a Unix socket. */
  port: number;
  /** A name for the state of the files of certificate and key, where they are others than those in use. */
  outdated(): string | undefined;
  /** Takes certificate and key from their files again. What is connected stays connected. @throws Problem invalid_setting */
  reload(): void;
  /** Takes no more connections; ends when those there are have been answered. With `true` they are cut. */
  stop(cut: boolean): Promise<void>;
}

interface Pair {
  cert: string;
  key: string;
  /** Changes when either file does. */
  stamp: string;
}

/** Listens. @throws Problem invalid_setting where the address cannot be had, or certificate and key cannot be used */
export async function openSocket(options: SocketOptions, answer: Answer): Promise<Socket> {
  if (options.unix !== "") return openUnix(options.unix, answer);
  let pair = options.certificate === "" ? undefined : readPair(options);
  let server = bind(options, answer, pair);
  // Those whose certificate was replaced: they answer what is under way.
  const former = new Set<Bun.Server<undefined>>();
  const host = options.host === "0.0.0.0" || options.host === "::" ? "localhost" : options.host;
  const port = server.port ?? options.port;
  return {
    url: `${pair ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    outdated() {
      const stamp = pair && stampOf(options);
      return stamp === pair?.stamp ? undefined : stamp;
    },
    reload() {
      if (!pair) return;
      pair = readPair(options);
      const old = server;
      // Bun has no way to change the certificate of a server (1.4.5): the next one shares the port, then the first goes.
      server = serveOn({ hostname: options.host, port, reusePort: true, tls: pair }, answer);
      former.add(old);
      void old.stop(false).then(() => former.delete(old));
    },
    async stop(cut) {
      await Promise.all([server, ...former].map((one) => one.stop(cut)));
    },
  };
}

type Place = { hostname: string; port: number; reusePort: boolean; tls?: Pair } | { unix: string };

function serveOn(place: Place, answer: Answer): Bun.Server<undefined> {
  const { tls, ...where } = { tls: undefined, ...place };
  return Bun.serve({
    ...where,
    ...(tls ? { tls: { cert: tls.cert, key: tls.key } } : {}),
    // Each service counts what it reads and answers in its own form, which Bun's own limit would cut short.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE,
    fetch: (request: Request, own: Bun.Server<undefined>) =>
      withoutIdleTimeout(
        own,
        request,
        answer(request, {
          address: () => own.requestIP(request)?.address ?? null,
          // A Unix socket has no host.
          isUnix: "unix" in place,
          origin: () => ("unix" in place ? "http://localhost" : own.url.origin),
        }),
      ),
    error: () => new Response("Internal error", { status: 500 }),
  } as Bun.Serve.Options<undefined>);
}

function bind(options: SocketOptions, answer: Answer, pair: Pair | undefined): Bun.Server<undefined> {
  const { host, attempts } = options;
  for (let port = options.port; ; port++) {
    try {
      // With Bun's default, a second instance would share the port in silence.
      const alone = serveOn(
        { hostname: host, port, reusePort: false, ...(pair ? { tls: pair } : {}) },
        answer,
      );
      if (!pair) return alone;
      // Nobody else has the port: now it is taken so that a next certificate can share it.
      const taken = alone.port ?? port;
      void alone.stop(true);
      return serveOn({ hostname: host, port: taken, reusePort: true, tls: pair }, answer);
    } catch (error) {
      const taken = (error as { code?: string }).code === "EADDRINUSE";
      if (taken && port + 1 < options.port + attempts && port > 0) continue;
      const code = String((error as { code?: string }).code);
      const hint = taken
        ? `port ${port} is in use; choose another with --port`
        : code === "EACCES"
          ? "this account may not take a port below 1024; choose another with --port, or put a reverse proxy before it"
          : /^(EADDRNOTAVAIL|EINVAL|ENOTFOUND)$/.test(code)
            ? "this machine has no such address; --host takes 127.0.0.1, ::1, 0.0.0.0, or an address of its own"
            : (error as Error).message;
      throw new Problem("invalid_setting", `Cannot listen on ${host}:${port}: ${hint}.`, { cause: error });
    }
  }
}

/** Only owner and group may connect: the proxy's account belongs into the group. */
const SOCKET_MODE = 0o660;

async function openUnix(path: string, answer: Answer): Promise<Socket> {
  const refuse = (why: string, cause?: unknown): Problem =>
    new Problem("invalid_setting", `listen: cannot listen on ${path}: ${why}.`, { cause });
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there && !there.isSocket()) throw refuse("there is a file, which is no socket");
  if (there && (await isAnswered(path))) throw refuse("another process listens there");
  // What a killed process left.
  if (there) rmSync(path);
  try {
    const server = serveOn({ unix: path }, answer);
    chmodSync(path, SOCKET_MODE);
    return {
      url: `unix:${path}`,
      port: 0,
      outdated: () => undefined,
      reload() {},
      async stop(cut) {
        await server.stop(cut);
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

/** @throws Problem invalid_setting where the files cannot be read or do not belong together */
function readPair({ certificate, key }: SocketOptions): Pair {
  const read = (setting: string, path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new Problem(
        "invalid_setting",
        `${setting}: ${path} cannot be read: ${(error as Error).message}.`,
        {
          cause: error,
        },
      );
    }
  };
  const stamp = stampOf({ certificate, key });
  const pair = { cert: read("tls_certificate", certificate), key: read("tls_key", key), stamp };
  let belongs: boolean;
  try {
    // The first of the file is the server's own, those behind it are its chain.
    belongs = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key));
  } catch (error) {
    throw new Problem(
      "invalid_setting",
      `tls_certificate, tls_key: ${certificate} or ${key} is not in PEM, or the key has a password: ${(error as Error).message}.`,
      { cause: error },
    );
  }
  if (!belongs)
    throw new Problem(
      "invalid_setting",
      `tls_key: ${key} is not the key of the first certificate in ${certificate}; the server's own comes first, its chain behind it.`,
    );
  return pair;
}

function stampOf({ certificate, key }: Pick<SocketOptions, "certificate" | "key">): string {
  return [certificate, key]
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : "";
    })
    .join(" ");
}
