import type { Clock } from "../platform/clock.ts";

/** For how long a password that came by Basic and was right is not looked at again, and how many of them. */
const MINUTES = 5;
const MOST = 1000;

/** Whose password it was. `hash`: that of the account's own password; null where somebody else knows it. */
export interface Remembered {
  user: number;
  hash: string | null;
}

/** Names and passwords that were right a short while ago, as keyed hashes in memory. */
export class RememberedPasswords {
  private readonly known = new Map<string, Remembered & { until: number }>();
  private readonly secret = crypto.getRandomValues(new Uint8Array(32));

  constructor(private readonly clock: Clock) {}

  /** By what name and password are known here. */
  keyOf(pair: Uint8Array): string {
    return new Bun.CryptoHasher("sha256", this.secret).update(pair).digest("hex");
  }

  /** What was kept, where `holds` says that it still counts; it is forgotten where not. */
  find(key: string, holds: (remembered: Remembered) => boolean): number | undefined {
    const found = this.known.get(key);
    if (found && found.until > this.clock.now() && holds(found)) return found.user;
    this.known.delete(key);
    return undefined;
  }

  keep(key: string, remembered: Remembered): void {
    if (this.known.size >= MOST) this.known.clear();
    this.known.set(key, { ...remembered, until: this.clock.now() + MINUTES * 60_000 });
  }
}
