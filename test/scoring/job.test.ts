import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  after,
  EVENTS,
  isFinal,
  type JobEvent,
  STATES,
  type State,
  TRANSITIONS,
} from "../../src/scoring/job.ts";

/** The full table, written out a second time: state, event, state after it or null where it cannot happen. */
const TABLE: [State, JobEvent, State | null][] = [
  ["queued", "lease", "running"],
  ["queued", "release", null],
  ["queued", "finish", null],
  ["queued", "reuse", "finished"],
  ["queued", "fail", null],
  ["running", "lease", null],
  ["running", "release", "queued"],
  ["running", "finish", "finished"],
  ["running", "reuse", null],
  ["running", "fail", "failed"],
  ["finished", "lease", null],
  ["finished", "release", null],
  ["finished", "finish", null],
  ["finished", "reuse", null],
  ["finished", "fail", null],
  ["failed", "lease", null],
  ["failed", "release", null],
  ["failed", "finish", null],
  ["failed", "reuse", null],
  ["failed", "fail", null],
];

test.each(TABLE)("a job that is %s: %s → %p", (state, event, then) => {
  expect(after(state, event)).toBe(then);
});

test("the table above has every state with every event", () => {
  expect(TABLE.length).toBe(STATES.length * EVENTS.length);
  expect(new Set(TABLE.map(([state, event]) => `${state} ${event}`)).size).toBe(TABLE.length);
});

test("finished and failed are final, the others are not", () => {
  expect(STATES.filter(isFinal)).toEqual(["finished", "failed"]);
});

test("every state can be reached from queued", () => {
  const reached = new Set<State>(["queued"]);
  for (let size = 0; size !== reached.size;) {
    size = reached.size;
    for (const { from, to } of Object.values(TRANSITIONS)) if (reached.has(from)) reached.add(to);
  }
  expect([...reached].sort()).toEqual([...STATES].sort());
});

test("the database allows exactly these states", () => {
  const sql = readFileSync(join(import.meta.dir, "../../db/0001-jobs.sql"), "utf8");
  const allowed = /state TEXT NOT NULL CHECK \(state IN \(([^)]*)\)\)/.exec(sql)![1];
  expect(allowed.split(", ")).toEqual(STATES.map((state) => `'${state}'`));
});

test("docs/jobs.md prints the same table", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/jobs.md"), "utf8");
  for (const event of EVENTS) {
    const { from, to, meaning } = TRANSITIONS[event];
    expect(page).toContain(`| ${event} | ${from} | ${to} | ${meaning} |`);
  }
});
