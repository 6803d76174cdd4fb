import { workerUrlOf } from "../../platform/worker-address.ts";
import { Problem } from "../../problem.ts";
import type { PrintReport } from "./print-worker.ts";
import type { PrintTask } from "./result-format.ts";

/** Seconds that printing may take. */
const MAX_SECONDS = 60;
/** Results that may wait to be printed. */
const MAX_WAITING = 20;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Prints a long result in a thread, where it delays no other request; one at a time.
 * @throws Problem busy, too_expensive
 */
export async function printInThread(task: PrintTask): Promise<Uint8Array<ArrayBuffer>> {
  if (waiting >= MAX_WAITING) {
    const text = `${MAX_WAITING} long results wait to be printed. Try again later, or fetch the result as JSON.`;
    throw new Problem("busy", text, { headers: { "Retry-After": "10" } });
  }
  waiting++;
  const printed = last.then(() => print(task)).finally(() => void waiting--);
  last = printed.catch(() => {});
  return printed;
}

function print(task: PrintTask): Promise<Uint8Array<ArrayBuffer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  const worker = new Worker(workerUrlOf(import.meta.url, "scoring/api/print-worker.ts"));
  const timer = setTimeout(() => {
    const text = `Printing the result took more than ${MAX_SECONDS} seconds. Fetch it as JSON or XML.`;
    reject(new Problem("too_expensive", text));
  }, MAX_SECONDS * 1000);
  worker.addEventListener("message", ({ data }: MessageEvent<PrintReport>) => {
    if (data.bytes) resolve(data.bytes);
    else reject(new Problem(data.code, data.message, { cause: data.cause }));
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
