import { FAMILY_METHOD } from "../motif/index.ts";
import type { Log } from "../platform/log.ts";
import type { FamiliesReport, FamiliesTask, IdleTask, IdleWork } from "../scoring/index.ts";
import { describeCause } from "./connection.ts";
import { encodeDelivery, type FamilyMessages, type FamilyRequest, mismatch } from "./family-messages.ts";

/** Milliseconds in which the server answers a delivery with the next task. */
const NEXT_DELAY = 50;

interface FamilyWorkerOptions {
  /** Name of the worker. */
  name: string;
  log: Log;
  /** Threads without a job. */
  idle: () => number;
  /** The pool may take a task. */
  wake: () => void;
}

type Outcome = Pick<FamiliesReport, "families" | "isInterrupted"> & { failure: string | null };

/** Computes families for the server while the pool of this process has no job. */
export class FamilyWorker implements IdleWork {
  readonly #tasks = new Map<string, RemoteTask>();
  readonly #deliveries = new Set<Promise<void>>();
  #waiting: RemoteTask[] = [];
  #isTaking = false;
  /** The source of tasks, and the corpus for them. */
  #source: { messages: FamilyMessages; corpus: { hash: string; path: string } } | null = null;

  constructor(private readonly options: FamilyWorkerOptions) {}

  take(): IdleTask | null {
    return this.#waiting.shift() ?? null;
  }

  /** Ids of the tasks that the worker has. */
  get ids(): string[] {
    return [...this.#tasks.keys()];
  }

  /** Takes tasks for idle threads, and returns tasks that no thread has started if jobs need all threads. */
  async turn(messages: FamilyMessages, corpus: { hash: string; path: string }): Promise<void> {
    this.#source = { messages, corpus };
    if (this.options.idle() === 0) for (const task of this.#waiting.splice(0)) task.abandon();
    await this.#take();
  }

  /** The server does not need a task any more. */
  drop(id: string): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#waiting = this.#waiting.filter((one) => one !== task);
    task.abandon();
  }

  /** Takes no more tasks, and delivers complete results. */
  async stop(): Promise<void> {
    this.#source = null;
    for (const id of this.ids) this.drop(id);
    await Promise.all(this.#deliveries);
  }

  async #take(): Promise<void> {
    if (this.#isTaking) return;
    this.#isTaking = true;
    try {
      while (this.#source && this.#tasks.size < this.options.idle()) {
        const { messages, corpus } = this.#source;
        const text = await messages.take();
        if (text === null) return;
        const delivery = this.#compute(JSON.parse(text) as FamilyRequest, messages, corpus);
        this.#deliveries.add(delivery);
        void delivery.then(() => this.#deliveries.delete(delivery));
      }
    } finally {
      this.#isTaking = false;
    }
  }

  async #compute(
    request: FamilyRequest,
    messages: FamilyMessages,
    corpus: { hash: string; path: string },
  ): Promise<void> {
    const { name, log, wake } = this.options;
    const { id, members } = request;
    const failure = mismatch(request, corpus.hash);
    try {
      const task = new RemoteTask({ ticket: 0, corpusPath: corpus.path, members });
      this.#tasks.set(id, task);
      if (failure !== null) task.fail(failure);
      // Work may have ended while the task was taken.
      else if (!this.#source) task.abandon();
      else this.#waiting.push(task);
      wake();
      const { isInterrupted = false, ...outcome } = await task.done;
      const facts = { id, worker: name, corpus: corpus.hash, method: FAMILY_METHOD };
      await messages.deliver(encodeDelivery({ ...facts, ...outcome, isInterrupted }));
    } catch (error) {
      // The server gives the task out again.
      log.problem("families", { cause: describeCause(error) });
    } finally {
      this.#tasks.delete(id);
    }
    setTimeout(() => void this.#take().catch(() => {}), NEXT_DELAY).unref();
  }
}

/** A task of the server in the pool of this process, which reports once: also if a job interrupts it. */
class RemoteTask implements IdleTask {
  readonly #done = Promise.withResolvers<Outcome>();
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  #isStarted = false;

  constructor(private readonly task: FamiliesTask) {}

  get done(): Promise<Outcome> {
    return this.#done.promise;
  }

  message(ticket: number): FamiliesTask {
    this.#isStarted = true;
    return { ...this.task, ticket, stop: this.#stop };
  }

  interrupt(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  /** Ends as soon as possible. */
  abandon(): void {
    if (this.#isStarted) this.interrupt();
    else this.lose(null);
  }

  report(report: Parameters<IdleTask["report"]>[0]): void {
    if (report.kind === "families") this.#done.resolve({ ...report, failure: null });
    else if (report.kind === "failed") this.fail(report.reason ?? report.cause);
  }

  /** Without families the server gives the whole task to another worker. */
  lose(cause: string | null): void {
    this.#done.resolve({ families: [], failure: cause });
  }

  fail(cause: string): void {
    this.lose(cause);
  }
}
