/**
 * Address of a worker's module; `path` from `src/`. From source it is a file beside the module that asks. In a compiled
 * executable every module has the executable's own address, `file:///$bunfs/root/…` (below `B:/~BUN/` on Windows), and
 * an entry point lies there as it lies under the folder that all entry points share, which is `src/`. An address that
 * is relative to its own folder would thus work from source and fail compiled.
 */
export function addressOfWorker(moduleUrl: string, path: string): string {
  const compiled = moduleUrl.includes("$bunfs") || moduleUrl.includes("~BUN");
  return new URL(compiled ? `./${path}` : `./${path.split("/").at(-1)}`, moduleUrl).href;
}
