/** Values that whoever has them is believed: 32 random bytes, of which the database keeps the SHA-256 only. */

/** A new one, with a beginning by which people and scanners of source code recognise it. */
export const newSecret = (beginning: string): string =>
  `${beginning}${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")}`;

/** Whether the text could be one without a beginning. */
export const hasSecretForm = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** In hexadecimal. A fast hash is enough: nobody guesses 256 bits. */
export const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
