/** Run by store.test.ts: stores one job in the database that is named, says its identifier, and hangs until it is killed. */
import { MIGRATIONS } from "../../db/index.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";

const store = new JobStore({
  database: openDatabase(process.argv[2], MIGRATIONS),
  clock: systemClock,
  scoringVersion: () => ({ corpus: "", method: "" }),
});
const id = await store.insert({ identifier: "", query: "MKILLED", model: "continuous", patterns: [] });
process.stdout.write(`${id}\n`);
for (;;) Bun.sleepSync(1000);
