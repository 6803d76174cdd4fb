/** Several workers with one message handler; the first error or early exit of any of them fails the whole group. */
export class WorkerGroup<Report> {
  readonly workers: Worker[] = [];
  readonly #onExit: () => void;

  constructor(
    count: number,
    url: string,
    handlers: { onReport: (worker: Worker, report: Report) => void; onFailure: (error: Error) => void },
  ) {
    this.#onExit = () => handlers.onFailure(new Error("A worker exited before its work was done."));
    for (let i = 0; i < count; i++) {
      const worker = new Worker(url);
      worker.addEventListener("message", ({ data }: MessageEvent<Report>) => handlers.onReport(worker, data));
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        handlers.onFailure(new Error(event.message));
      });
      worker.addEventListener("close", this.#onExit);
      this.workers.push(worker);
    }
  }

  terminate(): void {
    for (const worker of this.workers) {
      worker.removeEventListener("close", this.#onExit);
      worker.terminate();
    }
  }
}
