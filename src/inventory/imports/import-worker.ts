import { type Imported, type ImportWatcher, runImport } from "./import.ts";
import { readTable } from "./import-file.ts";
import type { ImportMessage, ImportTask, Outcome } from "./import-thread.ts";
import { openStore } from "../records/store.ts";
import { DECLARED } from "../resources/index.ts";
import { Problem } from "../../problem.ts";
import { systemClock } from "../../platform/clock.ts";
import { findCause } from "../../platform/log.ts";
import { runWithOrigin } from "../../platform/request-context.ts";
import { checkpoint, openWriter } from "../../platform/sqlite.ts";

/** The thread of one import: reads the file, waits until it may write, writes all rows in one transaction, and ends. */

/** Rows between two progress messages. */
const PROGRESS_ROWS = 250;
/** Rows between two garbage collections: without them the heap grows to several times its content. */
const COLLECT_ROWS = 4000;

const send = (message: ImportMessage): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin
  globalThis.postMessage(message);
};
const turn = Promise.withResolvers<void>();
let isStarted = false;

globalThis.addEventListener("message", ({ data }: MessageEvent<ImportTask>) => {
  if (isStarted) return turn.resolve();
  isStarted = true;
  work(data).catch((error: unknown) => {
    const problem = Problem.from(error);
    send({ kind: "failed", code: problem.code, message: problem.message, cause: findCause(problem) });
  });
});

async function work(task: ImportTask): Promise<void> {
  const cancelled = new Int32Array(task.cancelled);
  const check = (): void => {
    if (Atomics.load(cancelled, 0) !== 0) throw new Problem("import_cancelled", "The import was cancelled.");
  };
  const collect = (rows: number): void => {
    if (rows % COLLECT_ROWS === 0) Bun.gc(true);
  };
  const table = await readTable(task.bytes, {
    onProgress(rows) {
      check();
      collect(rows);
      send({ kind: "progress", status: { rows_read: rows } });
    },
    check,
    stores: !task.options.dryRun,
    sheet: task.options.sheet,
  });
  send({ kind: "ready", rows: table.count });
  await turn.promise;
  const database = openWriter(task.path);
  let imported: Imported;
  try {
    const store = openStore(database, systemClock);
    const watcher: ImportWatcher = {
      check,
      onRow({ created, updated }, rows) {
        if (rows % PROGRESS_ROWS !== 0) return;
        collect(rows);
        send({ kind: "progress", status: { rows_checked: rows, rows_written: created + updated } });
      },
      onWritten(written) {
        if (task.stored === null) return;
        // Runs in the transaction of the records: an accepted import is done exactly once, however the process ends.
        const outcome: Outcome = { state: "finished", ended: Date.now(), report: written, message: null };
        store.statements.run({
          text: "UPDATE import_file SET file = NULL, outcome = ? WHERE id = ?",
          args: [JSON.stringify(outcome), task.stored],
        });
      },
    };
    const resource = DECLARED.get(task.resource)!;
    imported = runWithOrigin(task.origin, () =>
      runImport(store, resource, table, task.options, { actor: task.actor, watcher }),
    );
    if (task.checkpoints) checkpoint(database);
  } finally {
    database.close();
    table.close();
  }
  send({ kind: "done", imported });
}
