import { expect, test } from "bun:test";
import { systemClock } from "../../src/platform/clock.ts";
import type { TaskKind } from "../../src/tasks/task.ts";
import { Tasks } from "../../src/tasks/tasks.ts";
import { openMigrated } from "../database.ts";

/** The example of CONTRIBUTING.md. */
const recount: TaskKind<{ list: string }> = {
  name: "recount",
  title: "Counting",
  readers: "owner",
  whileRunning: "wait",
  keep: { inAll: 50 },
  run: async ({ request }, report) => {
    report.say("Reading the records.");
    report.at(0.5);
    return { message: `All of ${request.list} were counted.`, result: { records: 3 } };
  },
};

test("a kind of task is one declaration", async () => {
  const database = openMigrated();
  const tasks = new Tasks({ database, clock: systemClock, log: { info: () => {}, problem: () => {} } });
  tasks.register(recount);
  const { id } = tasks.start(recount, { subject: "places", client: "user ada", request: { list: "places" } });
  const ended = Promise.withResolvers<void>();
  tasks.changed = () => tasks.find(id).ended !== null && ended.resolve();
  await ended.promise;
  const expected = { state: "finished", message: "All of places were counted.", result: { records: 3 } };
  expect(tasks.listAll(["user ada"], 10, ["recount"])).toMatchObject([expected]);
  expect(tasks.listAll(["user bob"], 10, ["recount"])).toEqual([]);
  await tasks.close();
  database.close();
});
