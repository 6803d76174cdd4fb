/**
 * The real worker, but mortal: at one job in three it ends, in one of four ways, before it scores, or just after it
 * has said what it found. Which job that is follows from the ticket, so that every run has the same deaths.
 */
import { lotOf } from "./sudden-death.ts";
import "../../src/scoring/jobs/worker.ts";
import type { WorkerTask } from "../../src/scoring/jobs/worker.ts";

declare const self: Worker;

// Listeners are called in the order in which they came: this one when the job has been scored.
self.addEventListener("message", ({ data }: MessageEvent<WorkerTask>) => {
  const lot = lotOf(data.ticket);
  if (lot >= 240 && lot < 330) process.exit(0);
});
