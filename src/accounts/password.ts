import { Semaphore } from "../platform/semaphore.ts";
import { Problem } from "../problem.ts";

/** Argon2id with OWASP's minimum parameters: 19 MiB, two passes. */
const HASHING = { algorithm: "argon2id", memoryCost: 19456, timeCost: 2 } as const;
/** Length in UTF-16 code units. */
const MIN_LENGTH = 8;
const MAX_LENGTH = 1024;

const randomBase64 = (bytes: number): string =>
  crypto.getRandomValues(new Uint8Array(bytes)).toBase64({ omitPadding: true });

/** A hash that no password has, so that an unknown account takes as long as a wrong password. */
const DECOY = `$argon2id$v=19$m=${HASHING.memoryCost},t=${HASHING.timeCost},p=1$${randomBase64(32)}$${randomBase64(32)}`;

/** Hashes at most `limit` passwords at once: each needs memory, and a processor for tens of milliseconds. */
export class Passwords {
  private readonly semaphore: Semaphore;

  constructor(limit: number) {
    this.semaphore = new Semaphore(limit);
  }

  /** The hash to store. @throws Problem invalid_request for an unacceptable password; busy */
  async hash(password: string): Promise<string> {
    const error = passwordError(password);
    if (error !== undefined)
      throw new Problem("invalid_request", `password: ${error}`, { fields: { password: [error] } });
    return this.semaphore.run(() => Bun.password.hash(password, HASHING));
  }

  /** True if the hash matches the password; without a hash false, after the same time. @throws Problem busy */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const isPossible = password !== "" && password.length <= MAX_LENGTH;
    const verify = () => Bun.password.verify(isPossible ? password : "-", hash ?? DECOY);
    return (await this.semaphore.run(verify)) && isPossible && hash !== null;
  }
}

/** The problem of a new password; undefined if there is none. */
export function passwordError(password: string): string | undefined {
  if (password.length < MIN_LENGTH) return `Expected at least ${MIN_LENGTH} characters.`;
  if (password.length > MAX_LENGTH) return `Expected at most ${MAX_LENGTH} characters.`;
  if (/\p{Cc}/u.test(password)) return "Expected one line without control characters.";
  return undefined;
}
