import { Problem } from "../../problem.ts";
import type { WorkerReport } from "./worker-messages.ts";
import { workerAddress } from "./worker-entrypoints.ts";
import { WorkerGroup } from "./worker-group.ts";

/** The report of a worker on a task; `ticket` is the task's number. */
type Report<Kind extends string> = { ticket: number; kind: Kind };
type Failure = Extract<WorkerReport, { kind: "failed" }>;

/**
 * Runs tasks on several threads and yields their reports in the order of the tasks, whichever worker is first.
 * @throws Problem if a task fails for a reason that the user can remedy
 */
export async function* resultsInOrder<Done extends Report<string>>(
  tasks: readonly { ticket: number }[],
  workers: number,
): AsyncGenerator<Done> {
  const results = tasks.map(() => Promise.withResolvers<Done>());
  // A result that nobody waits for any more may fail silently.
  for (const { promise } of results) promise.catch(() => {});
  let next = 0;
  const assign = (worker: Worker): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have one
    if (next < tasks.length) worker.postMessage({ ...tasks[next], ticket: next++ });
  };
  const group = new WorkerGroup<Done | Failure>(Math.min(workers, tasks.length), workerAddress(), {
    onReport(worker, report) {
      if (isFailure(report)) {
        const { reason, code = "bad_corpus", cause } = report;
        results[report.ticket].reject(reason === null ? new Error(cause) : new Problem(code, reason));
      } else results[report.ticket].resolve(report);
      assign(worker);
    },
    onFailure(error) {
      for (const { reject } of results) reject(error);
    },
  });
  try {
    for (const worker of group.workers) assign(worker);
    for (const { promise } of results) yield await promise;
  } finally {
    group.terminate();
  }
}

const isFailure = (report: Report<string>): report is Failure => report.kind === "failed";
