import { workerUrlOf } from "../../platform/worker-address.ts";
import { Problem } from "../../problem.ts";
import type { PrintReport } from "./print-worker.ts";
import { type AnyTask, printResult } from "./result-format.ts";

/** Seconds that printing may take. */
const MAX_SECONDS = 60;
/** Results that may wait to be printed. */
const MAX_WAITING = 20;

/** The text of results; that of long ones is made in a thread. @throws Problem as printInThread */
export async function print(task: AnyTask): Promise<string | Uint8Array<ArrayBuffer>> {
  if ("joint" in task) return printInThread(task);
  const lengths = "compared" in task ? task.compared.map(({ parts }) => parts.length) : [task.parts.length];
  return lengths.some((length) => length > 1) ? printInThread(task) : printResult(task);
}

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Prints a long result in a thread, where it delays no other request; one at a time.
 * @throws Problem busy, too_expensive
 */
export async function printInThread(task: AnyTask): Promise<Uint8Array<ArrayBuffer>> {
  if (waiting >= MAX_WAITING) {
    const text = `${MAX_WAITING} long results wait to be printed. Try again later, or fetch the result as JSON.`;
    throw new Problem("busy", text, { headers: { "Retry-After": "10" } });
  }
  waiting++;
  const printed = last.then(() => runThread(task)).finally(() => void waiting--);
  last = printed.catch(() => {});
  return printed;
}

function runThread(task: AnyTask): Promise<Uint8Array<ArrayBuffer>> {
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
