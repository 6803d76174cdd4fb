import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StoreAccess } from "../../src/platform/object-store.ts";

/** An S3-compatible server of another maker (s3rver), behind a proxy that does harm when it is told to. */

// It ships no types.
// oxlint-disable-next-line typescript/no-require-imports
const S3rver = require("@20minutes/s3rver") as new (options: object) => {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
};

// oxlint-disable-next-line typescript/no-require-imports
const { DUMMY_ACCOUNT } = require("@20minutes/s3rver/lib/models/account") as {
  DUMMY_ACCOUNT: { createKeyPair(name: string, secret: string): void };
};
const KEY = { accessKey: "GKlab", secretKey: "a-secret-of-the-store" };

/** A fault of one request. */
export interface Fault {
  when(method: string, url: string): boolean;
  /** Answer this instead. */
  status?: number;
  code?: string;
  /** Destroy the connection after so many bytes of the request's body, or of the answer's. */
  cutRequest?: number;
  cutAnswer?: number;
  /** Let nothing more through after so many bytes. */
  holdRequest?: number;
  holdAnswer?: number;
  /** Flip a bit of the first byte of the body that is stored. */
  alter?: boolean;
}

export interface ObjectServer extends AsyncDisposable {
  access: StoreAccess;
  /** The settings as environment variables of labd. */
  variables: Record<string, string>;
  /** `s3://lab/…`: a prefix that nobody else uses. */
  address(): string;
  /** Makes an object look as if it had been put there so long ago. */
  age(address: string, name: string, milliseconds: number): void;
  /** Method and address of each request, in order. */
  asked: string[];
  /** Each comes true once, at the first request that it is meant for. */
  faults: Fault[];
}

/** Starts both on free ports. `directory`: where the objects are, to look at them. */
export async function objectServer(): Promise<ObjectServer> {
  const directory = mkdtempSync(join(tmpdir(), "labd-s3-"));
  DUMMY_ACCOUNT.createKeyPair(KEY.accessKey, KEY.secretKey);
  const start = async (lax: boolean) => {
    const server = new S3rver({
      port: 0,
      address: "127.0.0.1",
      silent: true,
      directory,
      allowMismatchedSignatures: lax,
      configureBuckets: [{ name: "lab" }],
    });
    return { server, port: (await server.run()).port };
  };
  const strict = await start(false);
  // s3rver 5.0.0 computes signatures of `/bucket/?list-type=2` for `/bucket`, and so refuses each listing that is signed
  // for the address as it was sent (as AWS has it). Listings alone go to one that does not look at signatures.
  const lax = await start(true);
  const proxy = await harmfulProxy((url) => (/^\/[^/]+\/\?/.test(url) ? lax : strict).port);
  const endpoint = `http://127.0.0.1:${proxy.port}`;
  const access = {
    endpoint,
    region: "us-east-1",
    ...KEY,
    sessionToken: "",
  };
  let prefixes = 0;
  return {
    access,
    variables: {
      LABD_S3_ENDPOINT: endpoint,
      LABD_S3_ACCESS_KEY: access.accessKey,
      LABD_S3_SECRET_KEY: access.secretKey,
    },
    address: () => `s3://lab/p${++prefixes}/deep`,
    age(address, name, milliseconds) {
      const time = new Date(Date.now() - milliseconds);
      utimesSync(join(directory, address.slice("s3://".length), `${name}._S3rver_object`), time, time);
    },
    asked: proxy.asked,
    faults: proxy.faults,
    async [Symbol.asyncDispose]() {
      proxy[Symbol.dispose]();
      await Promise.all([strict.server.close(), lax.server.close()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface HarmfulProxy extends Disposable {
  port: number;
  asked: string[];
  faults: Fault[];
}

/** A proxy on a free port before servers on this machine. */
export async function harmfulProxy(parsePort: (url: string) => number): Promise<HarmfulProxy> {
  const asked: string[] = [];
  const faults: Fault[] = [];
  const proxy = createServer((received, answer) => {
    const { method = "", url = "" } = received;
    asked.push(`${method} ${url}`);
    const index = faults.findIndex((fault) => fault.when(method, url));
    const [fault] = index < 0 ? [] : faults.splice(index, 1);
    pass(received, answer, parsePort(url), fault);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    asked,
    faults,
    [Symbol.dispose]() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

function pass(
  received: IncomingMessage,
  answer: ServerResponse,
  port: number,
  fault: Fault = { when: () => false },
): void {
  if (fault.status !== undefined) {
    received.resume();
    answer.writeHead(fault.status, { "Content-Type": "application/xml" });
    answer.end(
      `<?xml version="1.0"?><Error><Code>${fault.code ?? "InternalError"}</Code><Message>no</Message></Error>`,
    );
    return;
  }
  const { method, url: path, headers } = received;
  const on = ask({ host: "127.0.0.1", port, method, path, headers }, (given) => {
    answer.writeHead(given.statusCode!, given.rawHeaders);
    let bytes = 0;
    given.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (fault.holdAnswer !== undefined && bytes > fault.holdAnswer) return void given.pause();
      if (fault.cutAnswer === undefined || bytes <= fault.cutAnswer) return void answer.write(piece);
      answer.write(piece.subarray(0, piece.length - (bytes - fault.cutAnswer)), () =>
        received.socket.destroy(),
      );
      given.destroy();
    });
    given.on("end", () => answer.end());
    given.on("error", () => answer.destroy());
  });
  on.on("error", () => received.socket.destroy());
  let bytes = 0;
  received.on("data", (piece: Buffer) => {
    if (fault.alter && bytes === 0) piece[0] ^= 1;
    bytes += piece.length;
    if (fault.holdRequest !== undefined && bytes > fault.holdRequest) return void received.pause();
    if (fault.cutRequest !== undefined && bytes > fault.cutRequest) {
      on.destroy();
      received.socket.destroy();
      return;
    }
    on.write(piece);
  });
  received.on("end", () => on.end());
  received.on("error", () => on.destroy());
}
