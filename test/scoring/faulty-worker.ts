/** A worker that dies, hangs and fails as the job's identifier says, for pool.test.ts. */
import { existsSync, writeFileSync } from "node:fs";
import type { FamiliesReport, FamiliesTask } from "../../src/scoring/jobs/worker-messages.ts";
import type { SearchTask, WorkerReport, WorkerTask } from "../../src/scoring/jobs/worker-messages.ts";

declare const self: Worker;

function report(message: WorkerReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage(message);
}

/** True if this worker has had a job. Of two workers the first gets it; the other only helps with searches. */
let hasHadJob = false;

/** A search does what its query says, but only in the worker that helps. */
function search({ ticket, queries: [query] }: SearchTask): void {
  if (!hasHadJob) {
    if (query.startsWith("DIE")) throw new Error("on purpose");
    if (query.startsWith("FAIL"))
      return report({ ticket, kind: "failed", reason: null, cause: "on purpose" });
    if (query.startsWith("SPIN")) for (;;);
  }
  const hit = { index: hasHadJob ? 0 : 1, rawScore: 0, bitScore: 0, eValue: 0 };
  report({ ticket, kind: "searched", hits: [[hit]] });
}

function finish({ ticket, request, corpusPath, hits }: WorkerTask): void {
  const found = hits?.map(({ index }) => index).sort();
  const text = JSON.stringify({ query: request.query, corpusPath, hits: found });
  const prediction = new Uint8Array(Bun.zstdCompressSync(text));
  report({ ticket, kind: "finished", prediction });
}

/** Keeps reads from being optimized away. */
let sum = 0;

const BEHAVIOURS: Record<string, (task: WorkerTask, path: string) => void> = {
  finish,
  progress: ({ ticket }) => report({ ticket, kind: "progress", stage: "homologs", fraction: 0.25 }),
  fail: ({ ticket }) => report({ ticket, kind: "failed", reason: null, cause: "secret stack" }),
  "fail-with": ({ ticket }) =>
    report({ ticket, kind: "failed", reason: "The corpus is gone.", cause: "secret stack" }),
  throw() {
    throw new Error("on purpose");
  },
  reject: () => void Promise.reject(new Error("on purpose")),
  exit: () => process.exit(0),
  "die-once"(task, path) {
    if (existsSync(path)) return finish(task);
    writeFileSync(path, "");
    throw new Error("on purpose");
  },
  spin() {
    for (;;);
  },
  grow() {
    const chunks: Uint8Array[] = [];
    for (; ; Bun.sleepSync(10)) chunks.push(new Uint8Array(16 * 1024 * 1024).fill(1));
  },
  wait() {},
  /** Maps and reads the file at `path` 16 times, as workers map a corpus, until it is removed. */
  map(task, path) {
    const copies = Array.from({ length: 16 }, () => Bun.mmap(path, { shared: false }));
    for (const bytes of copies) for (let at = 0; at < bytes.length; at += 4096) sum += bytes[at];
    report({ ticket: task.ticket, kind: "progress", stage: "homologs", fraction: 0.5 });
    while (existsSync(path)) Bun.sleepSync(5);
    finish(task);
  },
  until(task, path) {
    while (!existsSync(path)) Bun.sleepSync(5);
    finish(task);
  },
};

/** Works in the background until it is interrupted. */
function waitForInterruption({ ticket, stop }: FamiliesTask): void {
  while (Atomics.load(stop!, 0) === 0) Bun.sleepSync(1);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage({ ticket, kind: "families", families: [], isInterrupted: true } satisfies FamiliesReport);
}

self.addEventListener("message", ({ data }: MessageEvent<WorkerTask | SearchTask | FamiliesTask>) => {
  if ("members" in data) return waitForInterruption(data);
  if ("counter" in data) return search(data);
  hasHadJob = true;
  const [name, path] = data.request.identifier.split(" ");
  BEHAVIOURS[name](data, path);
});
