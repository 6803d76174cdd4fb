import { chmodSync, lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { Problem } from "../problem.ts";
import { type Pair, type PairFiles, readPair, stampOf } from "./certificate.ts";
import { type Behind, type Gate, openGate } from "./gate.ts";
import type { Answer } from "./http.ts";
import { IDLE, withoutIdleTimeout } from "./idle-timeout.ts";

/** Where to listen. */
export interface SocketOptions extends PairFiles {
  host: string;
  port: number;
  /** Path of a Unix socket, instead of host and port; else empty. */
  unix: string;
  /** Descriptors of sockets that listen already, instead of all of these; else empty. */
  inherited: readonly number[];
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

/**
 * Listens. `certificate` and `key` are both empty for HTTP without TLS.
 * @throws Problem invalid_setting where the address cannot be had, or certificate and key cannot be used
 */
export async function openSocket(options: SocketOptions, answer: Answer): Promise<Socket> {
  if (options.inherited.length > 0 || options.certificate !== "") return openGated(options, answer);
  if (options.unix !== "") return openUnix(options.unix, answer);
  const server = trying(options, (port) =>
    // With Bun's default, a second instance would share the port in silence.
    serveOn({ hostname: options.host, port, reusePort: false }, answer),
  );
  const port = server.port ?? options.port;
  return {
    url: `http://${authority(options.host, port)}`,
    port,
    outdated: () => undefined,
    reload() {},
    stop: (cut) => server.stop(cut),
  };
}

/** Milliseconds that a stop waits for what clients that are connected ask next. */
const LAST_WORDS = 1000;

/** A server behind a gate, of which there is one for each certificate. */
interface Inner extends Behind {
  server: Bun.Server<undefined>;
  /** Each answer is the last on its connection. */
  retired: boolean;
}

/**
 * Behind a gate: with sockets of systemd, and with a certificate, which is changed by another server behind the same
 * gate. The one before answers whoever is connected to it, and ends with the last of them: nobody is cut off.
 */
function openGated(options: SocketOptions, answer: Answer): Socket {
  const { inherited } = options;
  let pair = options.certificate === "" ? undefined : readPair(options);
  let url = "";
  const inners = new Set<Inner>();
  const open = (): Inner => {
    const inner: Inner = { passages: new Map(), count: 0, retired: false, port: 0, left, server: undefined! };
    inner.server = serveOn(
      { hostname: "127.0.0.1", port: 0, reusePort: false, ...(pair ? { tls: pair } : {}) },
      async (request, arrival) => {
        const passage = inner.passages.get(inner.server.requestIP(request)?.port ?? 0);
        // The port is for the gate alone, whoever else on this machine finds it.
        if (!passage) return new Response(null, { status: 403, headers: { Connection: "close" } });
        const { address } = passage;
        const response = await answer(request, {
          ...arrival,
          address: () => address,
          isUnix: address === null,
          origin: () => url,
        });
        if (inner.retired) response.headers.set("Connection", "close");
        return response;
      },
    );
    inner.port = inner.server.port!;
    inners.add(inner);
    return inner;
  };
  let done = (): void => {};
  function left(inner: Behind): void {
    if (inner.count > 0) return;
    done();
    if (inner === current || !inners.delete(inner as Inner)) return;
    void (inner as Inner).server.stop(true);
  }
  let current = open();
  let gates: Gate[];
  try {
    gates =
      inherited.length > 0
        ? inherited.map((fd) => openGate({ fd }, () => current))
        : [trying(options, (port) => openGate({ hostname: options.host, port }, () => current))];
  } catch (error) {
    void current.server.stop(true);
    throw error;
  }
  const scheme = pair ? "https" : "http";
  const at = gates.find(({ hostname }) => hostname !== undefined);
  url = at ? `${scheme}://${authority(at.hostname!, at.port)}` : "http://localhost";
  const isQuiet = (): boolean => [...inners].every(({ count }) => count === 0);
  return {
    url: at ? url : `unix:${options.unix}`,
    port: at?.port ?? 0,
    outdated() {
      const stamp = pair && stampOf(options);
      return stamp === pair?.stamp ? undefined : stamp;
    },
    reload() {
      if (!pair) return;
      pair = readPair(options);
      const before = current;
      current = open();
      before.retired = true;
      left(before);
    },
    async stop(cut) {
      for (const gate of gates) gate.close();
      for (const inner of inners) inner.retired = true;
      if (!cut && !isQuiet()) {
        // Whoever is connected and about to ask is answered, and told that this was the last on that connection.
        const quiet = Promise.withResolvers<void>();
        done = () => isQuiet() && quiet.resolve();
        const timer = setTimeout(quiet.resolve, LAST_WORDS);
        await quiet.promise;
        clearTimeout(timer);
      }
      await Promise.all([...inners].map(({ server }) => server.stop(cut)));
      await Promise.all(gates.map((gate) => (cut ? gate.cut() : gate.emptied())));
    },
  };
}

const authority = (host: string, port: number): string => {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
};

type Place =
  { hostname: string; port: number; reusePort: boolean; tls?: Pick<Pair, "cert" | "key"> } | { unix: string };

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

/** What listens at the first port that is free. @throws Problem invalid_setting */
function trying<T>({ host, port: first, attempts }: SocketOptions, listen: (port: number) => T): T {
  for (let port = first; ; port++) {
    try {
      return listen(port);
    } catch (error) {
      const taken = (error as { code?: string }).code === "EADDRINUSE";
      if (taken && port + 1 < first + attempts && port > 0) continue;
      const code = String((error as { code?: string }).code);
      const hint = taken
        ? `port ${port} is in use; choose another with --port`
        : code === "EACCES"
          ? "this account may not take a port below 1024; choose another with --port, have systemd listen there (labd install --systemd --socket), or put a reverse proxy before it"
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
