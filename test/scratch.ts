import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that goes when the test does. */
export function scratch(): { directory: string } & Disposable {
  const directory = mkdtempSync(join(tmpdir(), "labd-test-"));
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}
