import { timingSafeEqual } from "node:crypto";

/** Codes by time, RFC 6238, at the values that every app knows: HMAC-SHA-1, 30 seconds, 6 digits. */

/** Milliseconds for which a code is shown. */
const STEP = 30_000;
const DIGITS = 6;
/** Steps before and after the present one whose codes are good: clocks differ, and people type slowly (section 5.2). */
const MAX_DRIFT = 1;

/** A new secret: 160 bits, as RFC 4226, section 4, recommends. */
export const newTotpSecret = (): Uint8Array => crypto.getRandomValues(new Uint8Array(20));

/** The step that a time lies in. @param at milliseconds since 1970-01-01 UTC */
export const toTimeStep = (at: number): number => Math.floor(at / STEP);

/** The code of a step (RFC 4226, section 5.3). */
export function computeCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = Buffer.from(new Bun.CryptoHasher("sha1", secret).update(counter).digest());
  const from = mac[mac.length - 1] & 15;
  const number = mac.readUInt32BE(from) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The time step near a time that produces this code; undefined if no step does. @param at milliseconds */
export function matchingStep(secret: Uint8Array, code: string, at: number): number | undefined {
  const given = Buffer.from(code);
  let found: number | undefined;
  for (let step = Math.max(0, toTimeStep(at) - MAX_DRIFT); step <= toTimeStep(at) + MAX_DRIFT; step++) {
    const wanted = Buffer.from(computeCode(secret, step));
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) found = step;
  }
  return found;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes in base 32 without padding (RFC 4648, section 6), as people type secrets. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let rest = 0;
  let bits = 0;
  for (const byte of bytes) {
    rest = (rest << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(rest >> (bits - 5)) & 31];
    rest &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET[(rest << (5 - bits)) & 31] : text;
}

/** The address that apps read from a QR code (Google Authenticator's "Key URI Format"). @param issuer where the account is */
export function otpauthUri(secret: Uint8Array, issuer: string, username: string): string {
  // The colon separates user and password: neither may contain a colon.
  const label = [issuer, username].map((part) => encodeURIComponent(part.replaceAll(":", " "))).join(":");
  const parameters = {
    secret: base32(secret),
    issuer,
    algorithm: "SHA1",
    digits: DIGITS,
    period: STEP / 1000,
  };
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `otpauth://totp/${label}?${query.join("&")}`;
}
