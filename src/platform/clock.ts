/** Clock and id source, the only fakes in tests. Times are milliseconds since 1970-01-01 UTC. */
export interface Clock {
  now(): number;
  /** Time in microseconds; without it, thousands of milliseconds. */
  microseconds?(): number;
  /** A random identifier (UUID version 4, lower case) that cannot be guessed. */
  newId(): string;
}

/** Milliseconds between the monotonic clock, which counts microseconds, and the clock of the system, which may be set. */
let offset = performance.timeOrigin;

export const systemClock: Clock = {
  now: () => Date.now(),
  microseconds() {
    const [monotonic, wall] = [performance.now(), Date.now()];
    const time = Math.min(Math.max(offset + monotonic, wall), wall + 0.999);
    offset = time - monotonic;
    return Math.floor(time * 1000);
  },
  newId: () => crypto.randomUUID(),
};

/** Microseconds since 1970-01-01 UTC. */
export const readMicroseconds = (clock: Clock): number =>
  clock.microseconds?.() ?? Math.round(clock.now() * 1000);

/** A time in milliseconds since 1970-01-01 UTC as RFC 3339. */
export const timestamp = (time: number): string => new Date(time).toISOString();
export const timestampOrNull = (time: number | null): string | null =>
  time === null ? null : timestamp(time);
