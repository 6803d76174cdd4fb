/**
 * URL of a worker's module. From source it is a file. In a compiled executable all modules share the URL
 * `file:///$bunfs/root/…` (`B:/~BUN/` on Windows), and entry points keep their path below `src/`.
 * @param path relative to `src/`
 * @param moduleUrl that of this module; tests replace it
 */
export function resolveWorkerUrl(path: string, moduleUrl: string = import.meta.url): string {
  const compiled = moduleUrl.includes("$bunfs") || moduleUrl.includes("~BUN");
  return new URL(compiled ? `./${path}` : `../${path}`, moduleUrl).href;
}
