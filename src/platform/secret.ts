/** Bearer secrets: 32 random bytes, of which the database stores the SHA-256 only. */

/** A new secret with a prefix that people and secret scanners recognise. */
export const newSecret = (beginning: string): string =>
  `${beginning}${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")}`;

/** True if the text has the form of a secret without a prefix. */
export const hasSecretForm = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** SHA-256 in hexadecimal. A fast hash is sufficient for 256 random bits. */
export const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
