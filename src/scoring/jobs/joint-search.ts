import type { Hit } from "../../motif/index.ts";

/** A part behind the last one of any corpus. */
const BEYOND = 1 << 30;

/**
 * One search for the hits of some queries by several workers at once: each takes parts of the corpus as it is done with
 * others, so that any may join while parts are left. Who takes what cannot show in the hits.
 */
export class JointSearch {
  /** Next part of the corpus, in memory that the workers share. */
  readonly counter = new Int32Array(new SharedArrayBuffer(4));
  readonly #hits: Hit[][];
  readonly #joined = new Set<unknown>();
  #searching = 0;
  #isExhausted = false;
  #isIncomplete = false;

  constructor(queries: number) {
    this.#hits = Array.from({ length: queries }, () => []);
  }

  /** Whether this worker may begin with it now, which it then has to. */
  join(worker: unknown): boolean {
    if (this.#isExhausted || this.#joined.has(worker)) return false;
    this.#joined.add(worker);
    this.#searching++;
    return true;
  }

  /** What one that has joined found for each query; null where it ended before it could say. */
  gather(hits: readonly Hit[][] | null): void {
    this.#searching--;
    // One has found that no part is left to begin with; or parts are lost, and more of them would be of no use.
    this.#isExhausted = true;
    if (hits === null) {
      this.#isIncomplete = true;
      Atomics.store(this.counter, 0, BEYOND);
    } else for (const [i, own] of hits.entries()) this.#hits[i] = this.#hits[i].concat(own);
  }

  /** Whether all who joined are through. */
  get isOver(): boolean {
    return this.#isExhausted && this.#searching === 0;
  }

  /** The hits of one query, handed out once; null where parts of the corpus were lost with a worker. */
  take(query: number): Hit[] | null {
    const hits = this.#hits[query];
    this.#hits[query] = [];
    return this.#isIncomplete ? null : hits;
  }
}
