import { resolveWorkerUrl } from "../../platform/worker-address.ts";

/** Modules that run as workers; the build compiles each as an entry point. */
export const WORKER_ENTRYPOINTS = [
  "src/scoring/worker.ts",
  "src/scoring/results/print-worker.ts",
  "src/scoring/api/proteome-search-thread.ts",
  "src/scoring/structure/model-worker.ts",
] as const;

/** Address of the worker that scores. */
export const workerAddress = (): string => resolveWorkerUrl("scoring/worker.ts");
