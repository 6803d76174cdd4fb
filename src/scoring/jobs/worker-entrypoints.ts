import { workerUrlOf } from "../../platform/worker-address.ts";

/** Modules that run as workers; the build compiles each as an entry point. */
export const WORKER_ENTRYPOINTS = [
  "src/scoring/jobs/worker.ts",
  "src/scoring/api/print-worker.ts",
  "src/scoring/proteome/search-thread.ts",
  "src/scoring/structure/model-worker.ts",
] as const;

/** Address of the worker that scores. */
export const workerAddress = (moduleUrl: string = import.meta.url): string =>
  workerUrlOf(moduleUrl, "scoring/jobs/worker.ts");
