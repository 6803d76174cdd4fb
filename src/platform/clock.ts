/** Clock and id source, the only fakes in tests. Times are milliseconds since 1970-01-01 UTC. */
export interface Clock {
  now(): number;
  /** Time in microseconds; without it, thousands of milliseconds. */
  microseconds?(): number;
  /** A random identifier (UUID version 4, lower case) that cannot be guessed. */
  newId(): string;
  /** One that begins with the time, so that indexes grow at their ends (UUID version 7, 74 random bits); by default `newId`. */
  newOrderedId?(): string;
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
  newOrderedId() {
    const time = Date.now().toString(16).padStart(12, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
  },
};

/** Microseconds since 1970-01-01 UTC. */
export const readMicroseconds = (clock: Clock): number =>
  clock.microseconds?.() ?? Math.round(clock.now() * 1000);

/** A time in milliseconds since 1970-01-01 UTC as RFC 3339. */
export const timestamp = (time: number): string => new Date(time).toISOString();
export const timestampOrNull = (time: number | null): string | null =>
  time === null ? null : timestamp(time);

/** An identifier for a row of a large table. */
export const newRowId = (clock: Clock): string => clock.newOrderedId?.() ?? clock.newId();
