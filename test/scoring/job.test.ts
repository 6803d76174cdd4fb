import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  nextState,
  EVENTS,
  hasEnded,
  jobId,
  type JobEvent,
  STATES,
  type State,
  TRANSITIONS,
} from "../../src/scoring/jobs/job.ts";

/** The full table, written out a second time: state, event, state after it or null where it cannot happen. */
const TABLE: [State, JobEvent, State | null][] = [
  ["queued", "lease", "running"],
  ["queued", "release", null],
  ["queued", "finish", null],
  ["queued", "reuse", "finished"],
  ["queued", "fail", null],
  ["queued", "inherit", "failed"],
  ["queued", "cancel", "cancelled"],
  ["queued", "expire", null],
  ["running", "lease", null],
  ["running", "release", "queued"],
  ["running", "finish", "finished"],
  ["running", "reuse", null],
  ["running", "fail", "failed"],
  ["running", "inherit", null],
  ["running", "cancel", "cancelled"],
  ["running", "expire", null],
  ["finished", "lease", null],
  ["finished", "release", null],
  ["finished", "finish", null],
  ["finished", "reuse", null],
  ["finished", "fail", null],
  ["finished", "inherit", null],
  ["finished", "cancel", null],
  ["finished", "expire", "expired"],
  ["failed", "lease", null],
  ["failed", "release", null],
  ["failed", "finish", null],
  ["failed", "reuse", null],
  ["failed", "fail", null],
  ["failed", "inherit", null],
  ["failed", "cancel", null],
  ["failed", "expire", "expired"],
  ["cancelled", "lease", null],
  ["cancelled", "release", null],
  ["cancelled", "finish", null],
  ["cancelled", "reuse", null],
  ["cancelled", "fail", null],
  ["cancelled", "inherit", null],
  ["cancelled", "cancel", null],
  ["cancelled", "expire", "expired"],
  ["expired", "lease", null],
  ["expired", "release", null],
  ["expired", "finish", null],
  ["expired", "reuse", null],
  ["expired", "fail", null],
  ["expired", "inherit", null],
  ["expired", "cancel", null],
  ["expired", "expire", null],
];

test.each(TABLE)("a job that is %s: %s → %p", (state, event, then) => {
  expect(nextState(state, event)).toBe(then);
});

test("the table above has every state with every event", () => {
  expect(TABLE.length).toBe(STATES.length * EVENTS.length);
  expect(new Set(TABLE.map(([state, event]) => `${state} ${event}`)).size).toBe(TABLE.length);
});

test("expired is final; a job has ended in every state but queued and running", () => {
  expect(STATES.filter((state) => EVENTS.every((event) => nextState(state, event) === null))).toEqual([
    "expired",
  ]);
  expect(STATES.filter((state) => !hasEnded(state))).toEqual(["queued", "running"]);
  for (const state of STATES.filter(hasEnded)) {
    const then = EVENTS.map((event) => nextState(state, event)).filter((next) => next !== null);
    expect(then).toEqual(state === "expired" ? [] : ["expired"]);
  }
});

test("every state can be reached from queued", () => {
  const reached = new Set<State>(["queued"]);
  for (let size = 0; size !== reached.size;) {
    size = reached.size;
    for (const { from, to } of Object.values(TRANSITIONS))
      if (from.some((state) => reached.has(state))) reached.add(to);
  }
  expect([...reached].sort()).toEqual([...STATES].sort());
});

test("the database allows exactly these states", () => {
  const sql = readFileSync(join(import.meta.dir, "../../db/0001-baseline.sql"), "utf8");
  const allowed = /state TEXT NOT NULL CHECK \(state IN \(([^)]*)\)\)/.exec(sql)![1];
  expect(allowed.split(", ")).toEqual(STATES.map((state) => `'${state}'`));
});

test("identifiers are UUIDs of version 7, in the order of time, and all different", () => {
  const at = Date.UTC(2026, 5, 1);
  const ids = Array.from({ length: 1000 }, (_, i) => jobId(at + i, crypto.randomUUID()));
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  expect([...ids].sort()).toEqual(ids);
  expect(Number.parseInt(ids[0].replace("-", "").slice(0, 12), 16)).toBe(at);
  const random = Array.from({ length: 1000 }, () => jobId(at, crypto.randomUUID()).slice(14));
  expect(new Set(random).size).toBe(1000);
});
