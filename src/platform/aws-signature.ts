import { createHash, createHmac } from "node:crypto";

export interface SigningKey {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  sessionToken?: string | undefined;
}

/** SHA-256 of nothing: the body of a GET. */
const NOTHING = createHash("sha256").update("").digest("hex");

/**
 * The headers of a GET that S3 answers: AWS Signature Version 4 in the header Authorization. Bun 1.4.5 signs addresses
 * too, but wrongly where the name of the key has a colon, as those of OpenStack Swift have.
 * @param url as it is sent, without a query
 * @param headers further ones, with names in lower case; they are signed
 * @param now milliseconds since 1970-01-01 UTC
 */
export function signedGet(
  url: URL,
  { accessKeyId, secretAccessKey, region, sessionToken }: SigningKey,
  headers: Record<string, string>,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const all: Record<string, string> = {
    ...headers,
    host: url.host,
    "x-amz-content-sha256": NOTHING,
    "x-amz-date": time,
    ...(sessionToken ? { "x-amz-security-token": sessionToken } : {}),
  };
  const names = Object.keys(all).sort();
  const signed = names.join(";");
  const lines = names.map((name) => `${name}:${all[name]}\n`).join("");
  const canonical = ["GET", url.pathname, "", lines, signed, NOTHING].join("\n");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const hash = createHash("sha256").update(canonical).digest("hex");
  const key = scope
    .split("/")
    .reduce<string | Buffer>(
      (last, part) => createHmac("sha256", last).update(part).digest(),
      `AWS4${secretAccessKey}`,
    );
  const signature = createHmac("sha256", key)
    .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash}`)
    .digest("hex");
  // The host is the connection's own.
  const { host: _host, ...sent } = all;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}

/** A key as it stands in an address: what S3 wants encoded (RFC 3986) is, and slashes stay. */
export const encodedKey = (key: string): string =>
  key
    .split("/")
    .map((part) =>
      encodeURIComponent(part).replace(
        /[!'()*]/g,
        (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join("/");
