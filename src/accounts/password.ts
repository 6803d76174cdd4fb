import { Problem } from "../problem.ts";
import { Semaphore } from "../platform/semaphore.ts";

/** Argon2id at the figures of OWASP's cheat sheet: 19 MiB, two passes. */
const HASHING = { algorithm: "argon2id", memoryCost: 19456, timeCost: 2 } as const;
/** UTF-16 units of a password. */
const SHORTEST_PASSWORD = 8;
const LONGEST_PASSWORD = 1024;

const random = (bytes: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)))
    .toString("base64")
    .replace(/=+$/, "");

/**
 * Hash of nothing that anybody knows: an account that is not there costs the same time as a wrong password. In the
 * form of every other hash (PHC string format), with a salt and a result that are random.
 */
const DECOY = `$argon2id$v=19$m=${HASHING.memoryCost},t=${HASHING.timeCost},p=1$${random(32)}$${random(32)}`;

/** Hashes passwords, at most `limit` at once: each takes memory, and a processor for a good part of a second. */
export class Passwords {
  private readonly atOnce: Semaphore;

  constructor(limit: number) {
    this.atOnce = new Semaphore(limit);
  }

  /** The hash to keep. @throws Problem invalid_request for a password that breaks the rule, busy */
  async hash(password: string): Promise<string> {
    const wrong = passwordRule(password);
    if (wrong !== undefined)
      throw new Problem("invalid_request", `password: ${wrong}`, { fields: { password: [wrong] } });
    return this.atOnce.run(() => Bun.password.hash(password, HASHING));
  }

  /** Whether it is the password of this hash; without a hash it takes as long, and is not. @throws Problem busy */
  async verify(password: string, hash: string | null): Promise<boolean> {
    // What cannot be a password is hashed in the place of one, so that it takes as long.
    const usable = password !== "" && password.length <= LONGEST_PASSWORD;
    const right = await this.atOnce.run(() => Bun.password.verify(usable ? password : "-", hash ?? DECOY));
    return right && usable && hash !== null;
  }
}

/** What is wrong with a password, or undefined. */
function passwordRule(password: string): string | undefined {
  if (password.length < SHORTEST_PASSWORD) return `Expected at least ${SHORTEST_PASSWORD} characters.`;
  if (password.length > LONGEST_PASSWORD) return `Expected at most ${LONGEST_PASSWORD} characters.`;
  // Nobody can type them into a form; a line break is one too many in a file.
  if (/\p{Cc}/u.test(password)) return "Expected one line, without control characters.";
  return undefined;
}
