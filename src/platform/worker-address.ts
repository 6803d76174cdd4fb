/**
 * URL of a worker's module; `path` is relative to `src/`. From source it is a file next to the calling module. In a
 * compiled executable all modules share the URL `file:///$bunfs/root/…` (`B:/~BUN/` on Windows), and entry points keep
 * their path below `src/`, so that a URL relative to the calling module would fail.
 */
export function workerUrlOf(moduleUrl: string, path: string): string {
  const compiled = moduleUrl.includes("$bunfs") || moduleUrl.includes("~BUN");
  return new URL(compiled ? `./${path}` : `./${path.split("/").at(-1)}`, moduleUrl).href;
}
