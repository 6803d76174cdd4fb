/** Clock and id source, the only fakes in tests. Times are milliseconds since 1970-01-01 UTC. */
export interface Clock {
  now(): number;
  /** A random identifier (UUID version 4, lower case) that cannot be guessed. */
  newId(): string;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  newId: () => crypto.randomUUID(),
};
