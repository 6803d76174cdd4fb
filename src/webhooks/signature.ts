/** Signatures as the Standard Webhooks specification (1.0.0) has them, so that its libraries verify them. */

/** How a secret begins, in the clear. */
export const SECRET_PREFIX = "whsec_";

/** A new secret: 32 random bytes. */
export const newSigningSecret = (): string =>
  `${SECRET_PREFIX}${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;

/**
 * The headers of one attempt: HMAC-SHA256 over id, time and body, by each secret; receivers take any of the signatures.
 * @param seconds since 1970-01-01 UTC
 */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  seconds: number,
  body: string,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
    return `v1,${new Bun.CryptoHasher("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  };
}
