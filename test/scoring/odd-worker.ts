/** A worker that does what the job's identifier says: how pool.test.ts makes workers die, hang and fail on demand. */
import { existsSync, writeFileSync } from "node:fs";
import type { WorkerReport, WorkerTask } from "../../src/scoring/worker.ts";

declare const self: Worker;

function say(report: WorkerReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage(report);
}

self.addEventListener("message", ({ data }: MessageEvent<WorkerTask>) => {
  const { ticket, request, corpusPath } = data;
  const finish = (): void => {
    const prediction = JSON.stringify({ query: request.query, corpusPath });
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
    default:
      throw new Error(`no such word: ${word}`);
  }
});
