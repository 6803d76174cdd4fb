import { existsSync } from "node:fs";
import { Sealing } from "../platform/encryption.ts";
import { type CheckResult, ok, problem } from "../platform/check-result.ts";
import { openReader } from "../platform/sqlite.ts";

/** Secrets and signatures as the Standard Webhooks specification (1.0.0) defines them. */

const SECRET_PREFIX = "whsec_";

export const newSigningSecret = (): string =>
  SECRET_PREFIX + crypto.getRandomValues(new Uint8Array(32)).toBase64();

/**
 * Headers of one attempt: an HMAC-SHA256 of id, time and body for each secret; receivers accept any of them.
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

const encryptionContext = (id: string): string => `webhook ${id}`;

/** A secret as the database stores it, in base64. @param id of the webhook */
export const encryptSecret = (sealing: Sealing, secret: string, id: string): string =>
  Buffer.from(sealing.seal(Buffer.from(secret), encryptionContext(id))).toString("base64");

/** The secret; null if the key is missing or a different one. */
export function decryptSecret(sealing: Sealing, encrypted: string, id: string): string | null {
  const secret = sealing.open(Buffer.from(encrypted, "base64"), encryptionContext(id));
  return secret === undefined ? null : Buffer.from(secret).toString();
}

/** Checks that the key file decrypts the webhook secrets of a database, for `labd doctor`; empty without secrets. */
export function checkSecrets(path: string, keyFile: string): CheckResult[] {
  if (!existsSync(path)) return [];
  const about = "webhooks";
  const sealing = new Sealing(keyFile);
  try {
    using reader = openReader(path);
    const rows = reader.query("SELECT id, sealed_secret AS secret FROM webhook ORDER BY rid").all() as {
      id: string;
      secret: string;
    }[];
    if (rows.length === 0) return [];
    const unreadable = rows.filter(({ id, secret }) => decryptSecret(sealing, secret, id) === null);
    if (unreadable.length === 0)
      return [ok(about, `The key matches the secrets of ${rows.length} webhooks.`)];
    const ids = unreadable.map(({ id }) => id).join(", ");
    return [
      problem(
        about,
        `${keyFile} ${existsSync(keyFile) ? "does not match" : "is missing"}: deliveries of ${unreadable.length} of ${rows.length} webhooks cannot be signed and are not sent: ${ids}.`,
        "Restore the key file of this database. Otherwise create a new secret for each (labd webhook secret ID) and give it to the receiver; the events in between are then delivered.",
      ),
    ];
  } catch {
    // The database is older or damaged; other checks report that.
    return [];
  }
}
