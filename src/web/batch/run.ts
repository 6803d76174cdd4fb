import { readScan } from "../score/scan.ts";
import { bestRows } from "../../scoring/table/rows.ts";
import { ApiError, call } from "../request.ts";
import type { Scan, ScanMatch } from "../score/scan.ts";
import type { Item } from "./batch.ts";

/** The state of one job of a batch. */
export type Outcome =
  | { kind: "unsent" }
  | { kind: "active"; state: "queued" | "running" }
  | { kind: "done"; protein: Scan["protein"]; best: ScanMatch[] }
  | { kind: "failed"; message: string };

/** Results and states that are requested at once. */
const REQUESTS = 6;
/** Milliseconds between requests, and after a temporary error. */
const PAUSE_MILLISECONDS = 800;
const RETRY = 3000;

const isTemporary = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 0 || error.status >= 429);
const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Reads the next jobs of a batch from a position. @throws ApiError */
export const readItems = async (id: string, offset: number): Promise<Item[]> =>
  (await call("GET /api/scoring/batches/:id/items", { params: { id }, query: { offset } })).items;

const hasEnded = (state: Item["state"]): boolean => !["waiting", "queued", "running"].includes(state);

/** Follows the jobs of a batch until all have ended, and reads their results. */
export class BatchRun {
  readonly outcomes: Outcome[];
  #isStopped = false;

  /** @param items states of the jobs; `onChange` is called after each update */
  constructor(
    private readonly id: string,
    readonly items: Item[],
    private readonly onChange: () => void,
  ) {
    this.outcomes = items.map(() => ({ kind: "unsent" }));
  }

  /** Stops following; jobs go on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Follows all jobs to their ends. */
  async start(): Promise<void> {
    while (!this.#isStopped) {
      const next = this.outcomes.findIndex(({ kind }) => kind === "unsent" || kind === "active");
      if (next < 0) return;
      let wait = PAUSE_MILLISECONDS;
      try {
        const found = await readItems(this.id, next);
        for (const item of found) this.items[item.position] = item;
        if (await this.#takeAll(found)) wait = 0;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        wait = error.retryAfter === null ? RETRY : error.retryAfter * 1000;
      }
      await sleep(wait);
    }
  }

  /** @returns whether a job has ended */
  async #takeAll(items: readonly Item[]): Promise<boolean> {
    const ended = items.filter(({ state, position }) => hasEnded(state) && !this.#isKnown(position));
    for (const item of items)
      if (item.state === "running" || item.state === "queued")
        this.outcomes[item.position] = { kind: "active", state: item.state };
    this.onChange();
    const queue = [...ended];
    const work = async (): Promise<void> => {
      for (let item = queue.shift(); item && !this.#isStopped; item = queue.shift()) {
        this.outcomes[item.position] = await readOutcome(item);
        this.onChange();
      }
    };
    await Promise.all(Array.from({ length: REQUESTS }, work));
    return ended.length > 0;
  }

  #isKnown(position: number): boolean {
    const { kind } = this.outcomes[position];
    return kind === "done" || kind === "failed";
  }
}

/** The result of a job that has ended. @throws ApiError if the server does not respond */
async function readOutcome({ job, state, failure }: Item): Promise<Outcome> {
  if (state !== "finished" || job === null)
    return { kind: "failed", message: failure ?? `The job is ${state}.` };
  try {
    const { protein, matches } = await readScan(job);
    return { kind: "done", protein, best: bestRows(matches) };
  } catch (error) {
    if (isTemporary(error)) throw error;
    return { kind: "failed", message: (error as Error).message };
  }
}
