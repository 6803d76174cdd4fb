import { lookup } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type BlockList, isIP } from "node:net";
import { isAllowedAddress } from "./address.ts";

export interface PostOptions {
  allowed: BlockList;
  /** Milliseconds for everything from name resolution to the end of the response. */
  timeout: number;
  resolve?: (name: string) => Promise<string[]>;
  ca?: string;
}

export interface WebhookResponse {
  status: number;
  /** Milliseconds from Retry-After; undefined without one. */
  retryAfter: number | undefined;
  text: string;
}

const MAX_BYTES = 16_384;
const KEPT_CHARACTERS = 500;

const resolveName = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Posts a body. The name is resolved once, and the connection goes to the address that was checked, so DNS rebinding
 * cannot reach a private network. Redirects are not followed.
 * @throws Error whose message says why there was no response
 */
export async function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  { allowed, timeout, resolve = resolveName, ca }: PostOptions,
): Promise<WebhookResponse> {
  const late = Promise.withResolvers<never>();
  let request: ClientRequest | undefined;
  const timer = setTimeout(() => {
    late.reject(new Error(`There was no response within ${timeout / 1000} s.`));
  }, timeout);
  try {
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const found = isIP(name) === 0 ? await Promise.race([resolve(name), late.promise]) : [name];
    const address = found.find((one) => isAllowedAddress(one, allowed));
    if (address === undefined)
      throw new Error(
        `${name} has no allowed address. Allowed are public addresses, and those in networks of the setting webhook_allow.`,
        { cause: `It resolves to ${found.join(", ") || "nothing"}.` },
      );
    request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      method: "POST",
      agent: false,
      headers: { "Content-Length": Buffer.byteLength(body), ...headers },
      lookup: (_name, _options, done) => done(null, [{ address, family: isIP(address) }]),
      ...(ca === undefined ? {} : { ca }),
    });
    const response = readResponse(request);
    request.end(body);
    return await Promise.race([response, late.promise]);
  } catch (error) {
    throw withoutAddress(error as NodeJS.ErrnoException);
  } finally {
    clearTimeout(timer);
    request?.destroy();
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was closed before the response.",
  EHOSTUNREACH: "There is no route to the host.",
  ENETUNREACH: "There is no route to the host.",
  ENOTFOUND: "The host name does not exist.",
  ETIMEDOUT: "The connection timed out.",
};

/** The error as its owner may see it: messages of the system name addresses of the internal network. */
function withoutAddress(error: NodeJS.ErrnoException): Error {
  if (error.code === undefined) return error;
  const isTls = /CERT|SIGN|TLS|SSL/.test(error.code);
  const text = isTls
    ? `Its certificate is not accepted (${error.code}).`
    : `The connection failed (${error.code}).`;
  return new Error(FAILURES[error.code] ?? text, { cause: error.message });
}

function readResponse(request: ClientRequest): Promise<WebhookResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<WebhookResponse>();
  request.on("error", reject);
  request.on("response", (response: IncomingMessage) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      const seconds = response.headers["retry-after"] ?? "";
      resolve({
        status: response.statusCode!,
        retryAfter: /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined,
        text: Buffer.concat(chunks).toString().slice(0, KEPT_CHARACTERS),
      });
    };
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BYTES) finish();
    });
    response.on("end", finish);
    response.on("error", reject);
  });
  return promise;
}
