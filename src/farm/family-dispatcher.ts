import { FAMILY_METHOD } from "../motif/index.ts";
import type { Log } from "../platform/log.ts";
import type { BackgroundQueue, BackgroundTask, FamiliesTask } from "../scoring/index.ts";
import {
  decodeDelivery,
  type FamilyDelivery,
  type FamilyMessages,
  type FamilyRequest,
  mismatch,
} from "./family-messages.ts";
import type { WorkerRecord } from "./redis-records.ts";

/** A task that a remote worker may take or has. */
interface OfferedTask {
  task: BackgroundTask;
  request: FamilyRequest;
  /** The request as the client sent it. */
  text: string;
  /** Time of performance.now() at which the task was last seen, waiting or at a worker. */
  seen: number;
}

/** Milliseconds after which a task that nobody seems to have is given out again. A worker's record is up to 2 s old. */
const LOST_AFTER = 5000;

/**
 * Gives tasks of builds to idle workers of the farm. Offers are only in memory: after a restart the build computes
 * families again that it has not stored.
 */
export class FamilyDispatcher {
  readonly #offered = new Map<string, OfferedTask>();
  #queue = "";

  constructor(
    private readonly background: BackgroundQueue,
    private readonly log: Log,
    private readonly lostAfter = LOST_AFTER,
  ) {}

  /**
   * Collects families, and offers tasks until every idle worker has one.
   * @param corpus the one that the queue is for
   * @param workers those that take work from the queue
   * @param idle how many tasks they may have
   */
  async turn(
    messages: FamilyMessages,
    corpus: { hash: string; path: string },
    workers: readonly WorkerRecord[],
    idle: number,
  ): Promise<void> {
    if (this.#queue !== messages.queue) {
      this.#giveBack();
      await messages.clear();
      this.#queue = messages.queue;
    }
    if (this.#offered.size > 0) {
      await this.#collect(messages);
      await this.#follow(messages, workers, idle);
    }
    for (let task; this.#offered.size < idle && (task = this.background.takeRemote(corpus.path));)
      await this.#offer(messages, corpus.hash, task);
  }

  /** Offers lost tasks again. Works without Redis. */
  expire(): void {
    const now = performance.now();
    for (const [id, { task, seen }] of this.#offered) {
      if (now - seen < this.lostAfter) continue;
      this.#offered.delete(id);
      this.log.info("families lost by a worker", { task: id });
      task.releaseRemote();
    }
  }

  async #offer(messages: FamilyMessages, corpus: string, task: BackgroundTask): Promise<void> {
    const { members } = task.message(0) as FamiliesTask;
    const request = { id: crypto.randomUUID(), corpus, method: FAMILY_METHOD, members };
    const text = JSON.stringify(request);
    try {
      await messages.offer(text);
      this.#offered.set(request.id, { task, request, text, seen: performance.now() });
    } catch (error) {
      task.lose(null);
      throw error;
    }
  }

  async #collect(messages: FamilyMessages): Promise<void> {
    for (let all; (all = await messages.collect()).length > 0;) {
      for (const bytes of all) {
        const delivery = decodeDelivery(bytes);
        const offered = delivery && this.#offered.get(delivery.id);
        // Results of a task that was given out again are equal.
        if (!offered) continue;
        this.#offered.delete(delivery.id);
        this.#report(offered, delivery);
      }
    }
  }

  #report({ task, request }: OfferedTask, delivery: FamilyDelivery): void {
    const { worker, families, isInterrupted } = delivery;
    const isOrdered = families.every(({ protein }, i) => protein === request.members[i]);
    const cause =
      delivery.failure ??
      mismatch(request, delivery.corpus, delivery.method) ??
      (isOrdered ? null : "The worker delivered families of other proteins.");
    if (cause === null) return task.report({ ticket: 0, kind: "families", families, isInterrupted });
    this.log.problem("families of a worker", { worker, cause });
    task.releaseRemote();
  }

  /** Locates tasks; takes back tasks that no worker has time for, and tasks of ended builds. */
  async #follow(messages: FamilyMessages, workers: readonly WorkerRecord[], idle: number): Promise<void> {
    const waiting = new Set(await messages.waiting());
    const holders = new Map(workers.flatMap(({ name, families }) => families.map((id) => [id, name])));
    const now = performance.now();
    for (const [id, offered] of this.#offered) {
      const { task, text } = offered;
      const isWaiting = waiting.has(text);
      const holder = holders.get(id);
      if (isWaiting || holder !== undefined) offered.seen = now;
      const isSurplus = isWaiting && this.#offered.size > idle;
      if (!isSurplus && !task.isInterrupted) continue;
      if (isWaiting && (await messages.withdraw(text))) task.lose(null);
      else if (!task.isInterrupted) continue;
      else if (holder !== undefined) await messages.drop(holder, id);
      this.#offered.delete(id);
    }
  }

  #giveBack(): void {
    for (const { task } of this.#offered.values()) task.lose(null);
    this.#offered.clear();
  }
}
