import { Problem } from "../problem.ts";

/** The value of a task as the thread sends it, or why there is none. */
export type ThreadReply<Value> =
  { value: Value } | { problem: Pick<Problem, "code" | "reason" | "path"> & { cause: string } };

interface ThreadQueueOptions {
  /** Address of the worker's module. */
  url: string;
  /** Seconds that a task may take, and the problem after them. */
  seconds: number;
  slow: string;
  /** Tasks that may wait, and the problem beyond. */
  waiting: number;
  busy: string;
}

/** Tasks that would delay other requests: each is done by a thread of its own, one at a time. */
export class ThreadQueue<Task, Value> {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ThreadQueueOptions) {}

  /** @throws Problem busy, too_expensive, and that of the task */
  async run(task: Task): Promise<Value> {
    if (this.#waiting >= this.options.waiting)
      throw new Problem("busy", this.options.busy, { headers: { "Retry-After": "10" } });
    this.#waiting++;
    const done = this.#last.then(() => this.#work(task)).finally(() => void this.#waiting--);
    this.#last = done.catch(() => {});
    return done;
  }

  #work(task: Task): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const worker = new Worker(this.options.url);
    const timer = setTimeout(
      () => reject(new Problem("too_expensive", this.options.slow)),
      this.options.seconds * 1000,
    );
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadReply<Value>>) => {
      if ("value" in data) return resolve(data.value);
      const { code, reason, path, cause } = data.problem;
      reject(new Problem(code, reason, { ...(path && { path }), cause }));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    worker.postMessage(task);
    return promise.finally(() => {
      clearTimeout(timer);
      worker.terminate();
    });
  }
}

declare const self: Worker;

/** A value, and the buffers that are moved with it instead of copied. */
interface Answered<Value> {
  value: Value;
  transfer: Transferable[];
}

/** Answers the tasks of a ThreadQueue, in its thread. */
export function answerTasks<Task, Value>(
  work: (task: Task) => Answered<Value> | Promise<Answered<Value>>,
): void {
  self.addEventListener("message", async ({ data }: MessageEvent<Task>) => {
    try {
      const { value, transfer } = await work(data);
      self.postMessage({ value }, transfer);
    } catch (error) {
      const { code, reason, path } = Problem.from(error);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
      self.postMessage({ problem: { code, reason, path, cause: String(error) } });
    }
  });
}
