import { type ImportReport, runImport, type Watch } from "./import.ts";
import { readTable } from "./import-file.ts";
import type { ImportNews, ImportTask, Outcome } from "./import-thread.ts";
import { openStore } from "../records/store.ts";
import { DECLARED } from "../resources/index.ts";
import { Problem } from "../../problem.ts";
import { systemClock } from "../../platform/clock.ts";
import { causeOf } from "../../platform/log.ts";
import { withinOrigin } from "../../platform/request-context.ts";
import { openWriter } from "../../platform/sqlite.ts";

/** The thread of one import: reads the file, waits for its turn, writes all rows in one transaction, and ends. */

/** Rows between two words about how far it is. */
const STRIDE = 250;
/** Rows after which what they left behind is collected: left to itself the heap grows to several times what is in use. */
const SWEEP = 4000;

const say = (news: ImportNews): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  globalThis.postMessage(news);
};
const turn = Promise.withResolvers<void>();
let begun = false;

globalThis.addEventListener("message", ({ data }: MessageEvent<ImportTask>) => {
  if (begun) return turn.resolve();
  begun = true;
  work(data).catch((error: unknown) => {
    const problem = Problem.from(error);
    say({ kind: "failed", code: problem.code, message: problem.message, cause: causeOf(problem) });
  });
});

async function work(task: ImportTask): Promise<void> {
  const off = new Int32Array(task.off);
  const goOn = (): void => {
    if (Atomics.load(off, 0) !== 0) throw new Problem("import_cancelled", "The import was called off.");
  };
  const table = await readTable(task.bytes, (rows) => {
    goOn();
    say({ kind: "read", rows });
    if (rows % SWEEP === 0) Bun.gc(true);
  });
  say({ kind: "ready", rows: table.count });
  await turn.promise;
  const database = openWriter(task.path);
  let report: ImportReport;
  try {
    const store = openStore(database, systemClock);
    const watch: Watch = {
      row(sofar, rows) {
        if (rows % STRIDE !== 0) return;
        goOn();
        if (rows % SWEEP === 0) Bun.gc(true);
        say({ kind: "wrote", checked: rows, written: sofar.created + sofar.updated });
      },
      written(done) {
        if (task.stored === null) return;
        // With the records or not at all: an import that was accepted is done once, whatever ends the process.
        const outcome: Outcome = { state: "finished", ended: Date.now(), report: done, message: null };
        store.statements.run({
          text: "UPDATE import_file SET file = NULL, outcome = ? WHERE id = ?",
          args: [JSON.stringify(outcome), task.stored],
        });
      },
    };
    report = withinOrigin(task.origin, () =>
      runImport(store, DECLARED.get(task.resource)!, table, task.options, task.actor, watch),
    );
    store.statements.release();
  } finally {
    database.close();
  }
  say({ kind: "done", report });
}
