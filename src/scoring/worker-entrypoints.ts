/** Modules that run as workers, as paths from the top of the project: the build compiles each as an entry point of its own. */
export const WORKER_ENTRYPOINTS = ["src/scoring/worker.ts"] as const;

/**
 * Address of a worker's module. From source it is a file beside this one. In a compiled executable every module has
 * the executable's own address, `file:///$bunfs/root/…` (below `B:/~BUN/` on Windows), and an entry point lies
 * there as it lies under the folder that all entry points share, which is `src/`. An address that is
 * relative to this folder would thus work from source and fail compiled.
 */
export function workerAddress(moduleUrl: string = import.meta.url): string {
  const compiled = moduleUrl.includes("$bunfs") || moduleUrl.includes("~BUN");
  return new URL(compiled ? "./scoring/worker.ts" : "./worker.ts", moduleUrl).href;
}
