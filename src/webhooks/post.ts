import { lookup } from "node:dns/promises";
import { type BlockList, connect, isIP, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { isAllowedAddress } from "./address.ts";

export interface PostOptions {
  /** Networks that may be called besides public addresses. */
  allowed: BlockList;
  /** Milliseconds for all of it, from looking the name up to the answer. */
  timeout: number;
  /** Addresses of a name; by default as the operating system says. */
  resolve?: (name: string) => Promise<string[]>;
  /** Who vouches for certificates (PEM), where not those that the runtime brings. */
  ca?: string;
}

/** What was answered: its status, whether to wait (milliseconds; undefined where it does not say), its first bytes. */
export interface WebhookResponse {
  status: number;
  wait: number | undefined;
  text: string;
}

/** Bytes of an answer that are read, header and all, and characters of its body that are kept. */
const MOST_BYTES = 16_384;
const KEPT = 500;

const resolveName = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Posts a body. The name is looked up here, once, and the connection is made to the very address that was looked at:
 * a name that says something else the next time gains nothing. Redirections are answers like any other.
 * HTTP/1.1 over a plain socket, because no client of the runtime takes an address and a name at once.
 * @throws Error that says in a sentence why there was no answer
 */
export async function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  { allowed, timeout, resolve = resolveName, ca }: PostOptions,
): Promise<WebhookResponse> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`There was no answer within ${timeout / 1000} s.`)),
    timeout,
  );
  let socket: Socket | undefined;
  try {
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const found = isIP(name) === 0 ? await Promise.race([resolve(name), late.promise]) : [name];
    const address = found.find((one) => isAllowedAddress(one, allowed));
    if (address === undefined)
      throw new Error(
        `${name} is at ${found.join(", ") || "no address"}, which is not allowed to be called.`,
      );
    const secure = url.protocol === "https:";
    const port = Number(url.port) || (secure ? 443 : 80);
    const opened = (socket = secure
      ? connectSecurely({
          host: address,
          port,
          ...(isIP(name) === 0 ? { servername: name } : {}),
          ...(ca === undefined ? {} : { ca }),
        })
      : connect({ host: address, port }));
    const fields = {
      Host: url.host,
      "Content-Length": String(Buffer.byteLength(body)),
      Connection: "close",
      ...headers,
    };
    const head = Object.entries(fields).map(([field, value]) => `${field}: ${value}\r\n`);
    const request = `POST ${url.pathname}${url.search} HTTP/1.1\r\n${head.join("")}\r\n${body}`;
    return parseAnswer(await Promise.race([exchange(opened, secure, request), late.promise]));
  } finally {
    clearTimeout(timer);
    socket?.destroy();
  }
}

/** Sends the request once connected (and, with TLS, once the certificate is found to be that of the name). */
function exchange(socket: Socket, secure: boolean, request: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const end = (): void => resolve(Buffer.concat(chunks));
  socket.on(secure ? "secureConnect" : "connect", () => socket.write(request));
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MOST_BYTES || isWhole(Buffer.concat(chunks))) end();
  });
  socket.on("end", end);
  socket.on("close", end);
  socket.on("error", reject);
  return promise;
}

const headOf = (text: string): string | undefined => /^([\s\S]*?)\r\n\r\n/.exec(text)?.[1];
const fieldOf = (head: string, name: string): string | undefined =>
  new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, "im").exec(head)?.[1];

/** Whether all has come, where the header says how much that is; else the end of the connection tells. */
function isWhole(bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  const head = headOf(text);
  if (head === undefined) return false;
  if (/^HTTP\/1\.[01] 204/.test(head)) return true;
  const rest = text.slice(head.length + 4);
  if (/chunked/i.test(fieldOf(head, "transfer-encoding") ?? "")) return rest.endsWith("0\r\n\r\n");
  const length = fieldOf(head, "content-length");
  return length !== undefined && rest.length >= Number(length);
}

function parseAnswer(bytes: Buffer): WebhookResponse {
  const text = bytes.toString("latin1");
  const head = headOf(text);
  const status = head === undefined ? undefined : /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (head === undefined || status === undefined) throw new Error("What was answered is not HTTP.");
  let body = bytes.subarray(head.length + 4);
  if (/chunked/i.test(fieldOf(head, "transfer-encoding") ?? "")) body = dechunked(body);
  const seconds = fieldOf(head, "retry-after");
  return {
    status: Number(status),
    wait: seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined,
    text: body.toString("utf8").slice(0, KEPT),
  };
}

/** The content of chunks (RFC 9112, section 7.1), as far as it came. */
function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf("\r\n", at);
    const size = end < 0 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
