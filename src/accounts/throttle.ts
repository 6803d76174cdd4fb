import type { Clock } from "../platform/clock.ts";
import { Problem } from "../problem.ts";

/** Keys remembered; the least recently used is dropped. */
const MAX_KEYS = 20_000;

/** Failed sign-ins of one account, and from one address, after which further ones wait. */
export const LOGIN_FAILURES = 10;
export const LOGIN_FAILURES_ADDRESS = 100;
export const LOGIN_WINDOW = 300_000;

/** Counts attempts by key (an account, an address) in a sliding window, in memory. */
export class Throttle {
  /** Times of attempts by key, oldest first; keys in the order of their last attempt. */
  private readonly attempts = new Map<string, number[]>();

  /** @param window milliseconds in which `limit` attempts are allowed */
  constructor(
    private readonly limit: number,
    private readonly window: number,
    private readonly clock: Clock,
  ) {}

  /** Seconds until another attempt is allowed; 0 if one is allowed now. */
  wait(key: string): number {
    const times = this.recent(key);
    if (times.length < this.limit) return 0;
    const free = times[times.length - this.limit] + this.window;
    return Math.max(1, Math.ceil((free - this.clock.now()) / 1000));
  }

  /** Counts an attempt before its outcome is known, so that parallel attempts cannot exceed the limit. */
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
