import { statSync } from "node:fs";
import { Problem } from "../problem.ts";
import { download, type DownloadOptions } from "./download.ts";

/** The settings that begin with `s3_`; empty ones come from `AWS_…` variables. */
export interface StoreAccess {
  endpoint: string;
  accessKey: string;
  secretKey: string;
}

export interface StoredObject {
  /** Path from the prefix of the store. */
  name: string;
  bytes: number;
  /** Milliseconds since 1970-01-01 UTC. */
  modified: number;
}

/** Bytes of a part of an upload: S3 wants 5 MiB or more, and takes 10,000 parts at most. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS = 9000;
/** Parts uploaded at the same time. */
const CONCURRENT_PARTS = 2;
/** Attempts for each part. */
const RETRIES = 5;
/** Seconds that a signed address is valid. */
const SIGNED_SECONDS = 600;
/** Milliseconds in which parts under way have to arrive. */
const STALL_MILLISECONDS = 120_000;

export const isStoreAddress = (text: string): boolean => /^s3:/i.test(text);

/** Progress and cancellation of a transfer. */
export interface Transfer {
  report?: ((bytes: number, total: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Objects below a prefix of a bucket, in AWS S3 or compatible stores (Garage, MinIO, Ceph). Buckets are named in the
 * path. An object is there whole or not at all. Every method throws Problem store_failed, which says what to do.
 */
export class ObjectStore {
  readonly address: string;
  readonly #client: Bun.S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #at: string;
  readonly #secrets: readonly string[];

  /** @param address `s3://bucket` or `s3://bucket/prefix`. @throws Problem invalid_request for another, store_failed */
  constructor(
    address: string,
    access: StoreAccess,
    environment: Record<string, string | undefined> = process.env,
  ) {
    const { bucket, prefix } = parseAddress(address);
    this.#bucket = bucket;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.address = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
    const { endpoint, ...credentials } = findCredentials(access, environment, this.address);
    const { region, secretAccessKey, sessionToken } = credentials;
    this.#at = endpoint ?? `AWS (${region})`;
    this.#secrets = [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
    this.#client = new Bun.S3Client({
      ...credentials,
      bucket,
      // Without an endpoint Bun would take one from the environment.
      endpoint: (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, ""),
    });
  }

  /** Address of an object, for messages. */
  where(name: string): string {
    return `${this.address}/${name}`;
  }

  /** Everything below `folder`, in order of names. */
  async list(folder = ""): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    const prefix = this.#prefix + folder;
    let continuationToken: string | undefined;
    do {
      const page = await this.#settled(this.address, () =>
        this.#client.list({ prefix, ...(continuationToken ? { continuationToken } : {}) }),
      );
      for (const { key, size, lastModified } of page.contents ?? []) {
        if (!key.startsWith(this.#prefix)) continue;
        const modified = lastModified === undefined ? Number.NaN : new Date(lastModified).getTime();
        found.push({ name: key.slice(this.#prefix.length), bytes: size ?? Number.NaN, modified });
      }
      continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
    } while (continuationToken);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Size of an object; null if it does not exist. */
  async size(name: string): Promise<number | null> {
    const what = this.where(name);
    try {
      return await this.#settled(what, async () => {
        // Not HEAD, whose response cannot say why it is refused.
        const answer = await this.#get(name, "bytes=0-0", AbortSignal.timeout(STALL_MILLISECONDS));
        if (answer.status === 416) return 0;
        const text = answer.ok ? "" : await answer.text();
        await answer.body?.cancel().catch(() => {});
        if (!answer.ok) throw Object.assign(new Error(), { code: parseErrorCode(answer.status, text) });
        return Number(
          answer.headers.get("content-range")?.split("/")[1] ?? answer.headers.get("content-length"),
        );
      });
    } catch (error) {
      if (error instanceof Problem && error.code === "not_found") return null;
      throw error;
    }
  }

  /** A GET by a signed address: Bun's client does not show why a store refuses a read. */
  #get(name: string, range: string | undefined, signal: AbortSignal): Promise<Response> {
    return fetch(this.#client.presign(this.#prefix + name, { expiresIn: SIGNED_SECONDS }), {
      signal,
      redirect: "manual",
      headers: { ...(range === undefined ? {} : { Range: range }), "Accept-Encoding": "identity" },
    });
  }

  /** Bytes of an object from `from` on, through cut connections. @throws Problem not_found, store_failed */
  read(name: string, options: Omit<DownloadOptions, "what" | "refused"> = {}): AsyncGenerator<Uint8Array> {
    const what = this.where(name);
    const open = (from: number, signal: AbortSignal): Promise<Response> =>
      this.#get(name, from > 0 ? `bytes=${from}-` : undefined, signal);
    const refused = (status: number, body: string): Problem | undefined =>
      status === 429 || status >= 500
        ? undefined
        : this.#problem(what, { code: parseErrorCode(status, body) });
    return download(open, { what, refused, ...options });
  }

  /** A small object as text. @throws Problem not_found, store_failed */
  async text(name: string): Promise<string> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.read(name)) pieces.push(piece);
    return Buffer.concat(pieces).toString("utf8");
  }

  /**
   * Uploads a file in parts, unless it exists already, and reads it back; an object without this SHA-256 is removed.
   * Memory: a few parts.
   */
  async put(name: string, path: string, sha256: string, transfer: Transfer = {}): Promise<"new" | "there"> {
    const bytes = statSync(path).size;
    if ((await this.size(name)) === bytes && (await this.#hash(name)) === sha256) return "there";
    // Each part is tried several times within one attempt.
    await this.#settled(this.where(name), () => this.#upload(name, path, bytes, transfer), 2);
    if ((await this.#hash(name)) === sha256) return "new";
    await this.remove(name);
    throw new Problem(
      "store_failed",
      `${this.where(name)} was read back and differs from the data that was sent: the store or the connection altered it. The object was removed.`,
    );
  }

  async #upload(name: string, path: string, bytes: number, { report, signal }: Transfer): Promise<void> {
    const partSize = Math.max(PART_BYTES, Math.ceil(bytes / PARTS));
    const writer = this.#client
      .file(this.#prefix + name, { type: "application/octet-stream" })
      .writer({ partSize, queueSize: CONCURRENT_PARTS, retry: RETRIES });
    let sent = 0;
    let waiting = 0;
    for await (const piece of Bun.file(path).stream()) {
      signal?.throwIfAborted();
      writer.write(piece);
      waiting += piece.length;
      // The writer buffers without limit.
      if (waiting < CONCURRENT_PARTS * partSize) continue;
      await within(STALL_MILLISECONDS, writer.flush());
      sent += waiting;
      waiting = 0;
      report?.(sent, bytes);
    }
    await within(STALL_MILLISECONDS, writer.end());
    report?.(bytes, bytes);
  }

  /** Uploads a small text atomically. */
  async uploadText(name: string, text: string): Promise<void> {
    await this.#settled(this.where(name), () =>
      within(
        STALL_MILLISECONDS,
        this.#client.write(this.#prefix + name, text, { type: "application/json", retry: RETRIES }),
      ),
    );
    if ((await this.text(name)) !== text)
      throw new Problem(
        "store_failed",
        `${this.where(name)} was read back and differs from the data that was sent.`,
      );
  }

  /** Removes an object, if it exists. */
  async remove(name: string): Promise<void> {
    await this.#settled(this.where(name), () => this.#client.delete(this.#prefix + name));
  }

  async #hash(name: string): Promise<string> {
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const piece of this.read(name)) hasher.update(piece);
    return hasher.digest("hex");
  }

  /** Retries temporary errors of Bun's client, and throws the others as Problems. */
  async #settled<T>(what: string, act: () => Promise<T>, attempts = 4): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await act();
      } catch (error) {
        if (error instanceof Problem || !(error instanceof Error)) throw error;
        const { code = "" } = error as { code?: string };
        if (
          attempt < attempts &&
          /^(SlowDown|ServiceUnavailable|InternalError|Connection(Closed|Reset)|ECONNRESET|RequestTimeout|UnknownError|429|5\d\d)$/.test(
            code,
          )
        ) {
          await Bun.sleep(200 * 3 ** attempt);
          continue;
        }
        const message = this.#masked(error.message);
        const cause = message === error.message ? error : new Error(message);
        throw this.#problem(what, { code, message, cause });
      }
    }
  }

  /** The store's text without our secrets: some stores repeat the request. */
  #masked(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, "********"), text);
  }

  /** The problem and what to do. Responses of stores are not shown: they may contain keys. */
  #problem(
    what: string,
    { code, message, cause }: { code: string; message?: string; cause?: unknown },
  ): Problem {
    if (/^(NoSuchKey|404|NotFound)$/.test(code))
      return new Problem("not_found", `${what} does not exist.`, { cause });
    const say = (text: string): Problem => new Problem("store_failed", `${what}: ${text}`, { cause });
    if (code === "NoSuchBucket")
      return say(`there is no bucket ${this.#bucket} at ${this.#at}. Create it, or name another.`);
    if (
      /^(SignatureDoesNotMatch|InvalidAccessKeyId|AccessDenied|InvalidToken|ExpiredToken|AuthorizationHeaderMalformed|RequestTimeTooSkewed|40[13])$/.test(
        code,
      )
    )
      return say(
        `${this.#at} rejects the keys (${code}). Check s3_access_key, s3_secret_key, AWS_REGION and the clock, and that the keys may read, write, list and delete there.`,
      );
    if (
      /^(ConnectionRefused|ConnectionClosed|FailedToOpenSocket|ECONN\w+|ETIMEDOUT|DNS\w+|ENOTFOUND|UnableToConnect|timeout)$/i.test(
        code,
      )
    )
      return say(`${this.#at} does not respond (${code}). Check s3_endpoint and the network, and try again.`);
    return say(
      `${this.#at} returned ${code || "an error"}${message ? ` (${message})` : ""}. Try again, or check its log.`,
    );
  }
}

function parseAddress(address: string): { bucket: string; prefix: string } {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^?#\s\\]*))?$/.exec(address);
  if (!match || /(^|\/)\.\.?(\/|$)|^\/|\/\//.test(match[2] ?? ""))
    throw new Problem(
      "invalid_request",
      `${address} is not the address of a store. Expected s3://bucket or s3://bucket/prefix; the setting s3_endpoint names the server.`,
    );
  return { bucket: match[1], prefix: (match[2] ?? "").replace(/\/$/, "") };
}

/** Settings first, then the variables that AWS tools read. @throws Problem store_failed without keys */
function findCredentials(
  { endpoint, accessKey, secretKey }: StoreAccess,
  environment: Record<string, string | undefined>,
  address: string,
) {
  const first = (...values: (string | undefined)[]): string | undefined => values.find(Boolean);
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment;
  const accessKeyId = first(accessKey, AWS_ACCESS_KEY_ID);
  const secretAccessKey = first(secretKey, AWS_SECRET_ACCESS_KEY);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Problem(
      "store_failed",
      `${address}: no keys. Set s3_access_key and s3_secret_key (LABD_S3_ACCESS_KEY, LABD_S3_SECRET_KEY, or AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).`,
    );
  const sessionToken = accessKey === "" ? first(AWS_SESSION_TOKEN) : undefined;
  return {
    endpoint: first(endpoint, environment.AWS_ENDPOINT_URL_S3, environment.AWS_ENDPOINT_URL),
    region: first(environment.AWS_REGION, environment.AWS_DEFAULT_REGION) ?? "us-east-1",
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

/** The store's error code, else the status. */
const parseErrorCode = (status: number, body: string): string =>
  /<Code>(\w+)<\/Code>/.exec(body)?.[1] ?? String(status);

/** @throws Error with the code `timeout` */
async function within<T>(milliseconds: number, work: Promise<T> | T): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      late.reject(
        Object.assign(new Error(`no data was transferred for ${milliseconds / 1000} s`), { code: "timeout" }),
      ),
    milliseconds,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
