import { Database } from "bun:sqlite";
import { join } from "node:path";

/**
 * Keeps every job that waits where it is, from now on and until the end of the block: no worker gets one. What is seen
 * of jobs that wait does not depend on how many workers a machine has and how quick they are. The pool finds out within
 * its five seconds, or with the next job, that it may go on.
 */
export function heldQueue(dataDirectory: string): Disposable & { release(): void } {
  const database = new Database(join(dataDirectory, "labd.sqlite"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run(
    "CREATE TRIGGER held BEFORE UPDATE ON job WHEN new.state = 'running' BEGIN SELECT RAISE(ABORT, 'held by a test'); END",
  );
  let isHeld = true;
  const release = (): void => {
    if (isHeld) database.run("DROP TRIGGER held");
    if (isHeld) database.close();
    isHeld = false;
  };
  return { release, [Symbol.dispose]: release };
}
