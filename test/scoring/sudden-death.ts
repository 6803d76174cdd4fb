/** Ends a worker before it begins with its job: mortal-worker.ts loads this first. */
import type { WorkerTask } from "../../src/scoring/jobs/worker.ts";

declare const self: Worker;

/** A number in 0…999 that looks like chance but follows from the ticket (Knuth's multiplicative hash). */
export const lotOf = (ticket: number): number => (Math.imul(ticket, 0x9e3779b1) >>> 8) % 1000;

self.addEventListener("message", ({ data }: MessageEvent<WorkerTask>) => {
  const lot = lotOf(data.ticket);
  if (lot < 80) process.exit(1);
  if (lot < 160) throw new Error("on purpose");
  // A rejection that nobody hears ends the worker after the job has begun.
  if (lot < 240) void Promise.reject(new Error("on purpose"));
});
