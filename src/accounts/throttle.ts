import type { Clock } from "../platform/clock.ts";
import { Problem } from "../problem.ts";

/** Keys remembered; the least recently used is dropped. */
const MAX_KEYS = 20_000;

/** Failed sign-ins with one account from one address or known browser after which further ones wait, longer each time. */
export const LOGIN_FAILURES = 10;
const FIRST_DELAY = 30_000;
const LONGEST_DELAY = 900_000;
const DAY = 86_400_000;
/** Failed sign-ins with one account from unknown browsers at all addresses, in an hour. */
export const LOGIN_FAILURES_ACCOUNT = 100;
export const ACCOUNT_WINDOW = 3_600_000;
/** Failed sign-ins from one address with unknown browsers in five minutes, over all accounts. */
export const LOGIN_FAILURES_ADDRESS = 100;
export const LOGIN_WINDOW = 300_000;

/** Counts attempts by key, and computes the delay of the next attempt. */
export interface AttemptCounter {
  /** Seconds until another attempt is allowed; 0 if one is allowed now. */
  wait(key: string): number;
  /** Counts an attempt before its outcome is known, so that parallel attempts cannot exceed the limit. */
  count(key: string): void;
  /** Removes an attempt that did not fail. */
  forgive(key: string): void;
  forget(key: string): void;
}

/** One attempt, counted by several counters, each by a key. */
export class Attempt {
  constructor(private readonly counters: readonly (readonly [AttemptCounter, string])[]) {}

  /** Seconds until it is allowed; 0 for now. */
  wait(): number {
    return Math.max(...this.counters.map(([counter, key]) => counter.wait(key)));
  }

  count(): void {
    for (const [counter, key] of this.counters) counter.count(key);
  }

  forgive(): void {
    for (const [counter, key] of this.counters) counter.forgive(key);
  }
}

/** Lets `LOGIN_FAILURES` attempts pass, then one after each delay, which doubles. Forgets after a day without attempts. */
export class GrowingDelay implements AttemptCounter {
  /** Counters in the order of the last attempt. */
  private readonly attempts = new Map<string, { count: number; last: number }>();

  constructor(private readonly clock: Clock) {}

  wait(key: string): number {
    const { count, last } = this.recent(key);
    if (count < LOGIN_FAILURES) return 0;
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (count - LOGIN_FAILURES));
    return Math.max(0, Math.ceil((last + delay - this.clock.now()) / 1000));
  }

  count(key: string): void {
    const { count } = this.recent(key);
    this.attempts.delete(key);
    this.attempts.set(key, { count: count + 1, last: this.clock.now() });
    if (this.attempts.size > MAX_KEYS) this.attempts.delete(this.attempts.keys().next().value!);
  }

  forgive(key: string): void {
    const attempt = this.attempts.get(key);
    if (attempt) attempt.count--;
  }

  forget(key: string): void {
    this.attempts.delete(key);
  }

  private recent(key: string): { count: number; last: number } {
    const now = this.clock.now();
    const attempt = this.attempts.get(key);
    // A time in the future was recorded before the clock was set back.
    return attempt && attempt.last <= now && attempt.last > now - DAY ? attempt : { count: 0, last: now };
  }
}

/** Counts attempts by key (an account, an address) in a sliding window, in memory. */
export class Throttle implements AttemptCounter {
  /** Times of attempts by key, oldest first; keys in the order of their last attempt. */
  private readonly attempts = new Map<string, number[]>();

  /** @param window milliseconds in which `limit` attempts are allowed */
  constructor(
    private readonly limit: number,
    private readonly window: number,
    private readonly clock: Clock,
  ) {}

  wait(key: string): number {
    const times = this.recent(key);
    if (times.length < this.limit) return 0;
    const free = times[times.length - this.limit] + this.window;
    return Math.max(1, Math.ceil((free - this.clock.now()) / 1000));
  }

  count(key: string): void {
    const times = [...this.recent(key), this.clock.now()].slice(-this.limit);
    this.attempts.delete(key);
    this.attempts.set(key, times);
    if (this.attempts.size > MAX_KEYS) this.attempts.delete(this.attempts.keys().next().value!);
  }

  forgive(key: string): void {
    this.attempts.get(key)?.pop();
  }

  forget(key: string): void {
    this.attempts.delete(key);
  }

  private recent(key: string): number[] {
    const now = this.clock.now();
    // A time in the future was recorded before the clock was set back.
    return (this.attempts.get(key) ?? []).filter((time) => time > now - this.window && time <= now);
  }
}

/** 429 worded as in Django REST framework, with Retry-After (RFC 6585, section 4). */
export function throttled(seconds: number): Problem {
  const unit = seconds === 1 ? "second" : "seconds";
  return new Problem("throttled", `Request was throttled. Expected available in ${seconds} ${unit}.`, {
    headers: { "Retry-After": String(seconds) },
  });
}
