import type { Hit } from "../../motif/index.ts";

/** A part after the last one of any corpus. */
const EXHAUSTED_COUNTER = 1 << 30;

/**
 * A search by several workers at once. Each takes the next part of the corpus when it has finished one, so that any may
 * join while parts are left. The hits do not depend on who takes which part.
 */
export class JointSearch {
  /** Next part of the corpus, in shared memory. */
  readonly counter = new Int32Array(new SharedArrayBuffer(4));
  readonly #hits: Hit[][];
  readonly #joined = new Set<unknown>();
  #searching = 0;
  #isExhausted = false;
  #isIncomplete = false;

  constructor(queries: number) {
    this.#hits = Array.from({ length: queries }, () => []);
  }

  /** Adds a worker, which then has to search. @returns false if no part is left, or it has joined before */
  join(worker: unknown): boolean {
    if (this.#isExhausted || this.#joined.has(worker)) return false;
    this.#joined.add(worker);
    this.#searching++;
    return true;
  }

  /** Adds the hits of a worker for each query; null if it died. */
  gather(hits: readonly Hit[][] | null): void {
    this.#searching--;
    // No part is left, or parts are lost and the others are useless.
    this.#isExhausted = true;
    if (hits === null) {
      this.#isIncomplete = true;
      Atomics.store(this.counter, 0, EXHAUSTED_COUNTER);
    } else for (const [i, own] of hits.entries()) this.#hits[i] = this.#hits[i].concat(own);
  }

  /** True if all workers have finished. */
  get isOver(): boolean {
    return this.#isExhausted && this.#searching === 0;
  }

  /** The hits of one query, once; null if a worker died with its parts. */
  take(query: number): Hit[] | null {
    const hits = this.#hits[query];
    this.#hits[query] = [];
    return this.#isIncomplete ? null : hits;
  }
}
