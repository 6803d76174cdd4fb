/** A worker that does what the job's identifier says: how pool.test.ts makes workers die, hang and fail on demand. */
import { existsSync, writeFileSync } from "node:fs";
import type { SearchTask, WorkerReport, WorkerTask } from "../../src/scoring/jobs/worker.ts";

declare const self: Worker;

function say(report: WorkerReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage(report);
}

/** Whether this worker has had a job of its own: of two the first gets it, and is no mere helper the next time either. */
let isSeasoned = false;

/** A search does what its query says, but only where this worker helps. */
function search({ ticket, queries: [query] }: SearchTask): void {
  if (!isSeasoned) {
    if (query.startsWith("DIE")) throw new Error("on purpose");
    if (query.startsWith("FAIL")) return say({ ticket, kind: "failed", reason: null, cause: "on purpose" });
    if (query.startsWith("SPIN")) for (;;);
  }
  const hit = { index: isSeasoned ? 0 : 1, rawScore: 0, bitScore: 0, eValue: 0 };
  say({ ticket, kind: "searched", hits: [[hit]] });
}

self.addEventListener("message", ({ data }: MessageEvent<WorkerTask | SearchTask>) => {
  if ("counter" in data) return search(data);
  const { ticket, request, corpusPath, hits } = data;
  isSeasoned = true;
  const finish = (): void => {
    const found = hits?.map(({ index }) => index).sort();
    const prediction = JSON.stringify({ query: request.query, corpusPath, hits: found });
    say({ ticket, kind: "finished", prediction });
  };
  const [word, argument] = request.identifier.split(" ");
  switch (word) {
    case "finish":
      return finish();
    case "progress":
      say({ ticket, kind: "progress", stage: "homologs", fraction: 0.25 });
      return;
    case "fail":
      return say({ ticket, kind: "failed", reason: null, cause: "secret stack" });
    case "fail-with":
      return say({ ticket, kind: "failed", reason: "The corpus is gone.", cause: "secret stack" });
    case "throw":
      throw new Error("on purpose");
    case "reject":
      void Promise.reject(new Error("on purpose"));
      return;
    case "exit":
      return process.exit(0);
    case "die-once":
      if (existsSync(argument)) return finish();
      writeFileSync(argument, "");
      throw new Error("on purpose");
    case "spin":
      for (;;);
    case "grow": {
      const pile: Uint8Array[] = [];
      for (; ; Bun.sleepSync(10)) pile.push(new Uint8Array(16 * 1024 * 1024).fill(1));
    }
    case "wait":
      return;
    case "until":
      while (!existsSync(argument)) Bun.sleepSync(5);
      return finish();
    default:
      throw new Error(`no such word: ${word}`);
  }
});
