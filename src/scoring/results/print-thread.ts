import { ThreadQueue } from "../../platform/thread-queue.ts";
import { resolveWorkerUrl } from "../../platform/worker-address.ts";
import { type AnyTask, printResult } from "./result-format.ts";

/** Seconds that printing may take. */
const MAX_SECONDS = 60;
/** Results that may wait to be printed. */
const MAX_WAITING = 20;

/** The text of results; that of long ones, and of several, is made in a thread. @throws Problem as printInThread */
export async function print(task: AnyTask): Promise<string | Uint8Array<ArrayBuffer>> {
  const isLong = "joint" in task || "compared" in task || task.parts.length > 1;
  return isLong ? printInThread(task) : printResult(task);
}

const queue = new ThreadQueue<AnyTask, Uint8Array<ArrayBuffer>>({
  url: resolveWorkerUrl("scoring/results/print-worker.ts"),
  seconds: MAX_SECONDS,
  slow: `Printing the result took more than ${MAX_SECONDS} seconds. Fetch it as JSON or XML.`,
  waiting: MAX_WAITING,
  busy: `${MAX_WAITING} long results wait to be printed. Try again later, or fetch the result as JSON.`,
});

/**
 * Prints a long result in a thread, where it delays no other request; one at a time.
 * @throws Problem busy, too_expensive
 */
export const printInThread = (task: AnyTask): Promise<Uint8Array<ArrayBuffer>> => queue.run(task);
