import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hasEnded, jobId, STATES, TRANSITIONS } from "../../src/scoring/jobs/job.ts";

test("a job allows exactly these transitions", () => {
  const rows = Object.entries(TRANSITIONS).flatMap(([event, { from, to }]) =>
    from.map((state) => `${state} ${event} ${to}`),
  );
  expect(rows).toEqual([
    "queued lease running",
    "running release queued",
    "running finish finished",
    "queued reuse finished",
    "running fail failed",
    "queued inherit failed",
    "queued cancel cancelled",
    "running cancel cancelled",
    "finished expire expired",
    "failed expire expired",
    "cancelled expire expired",
  ]);
});

test("every state of a job except queued and running is final", () => {
  expect(STATES.filter((state) => !hasEnded(state))).toEqual(["queued", "running"]);
});

test("the database allows exactly these states", () => {
  const sql = readFileSync(join(import.meta.dir, "../../db/0001-baseline.sql"), "utf8");
  const allowed = /state TEXT NOT NULL CHECK \(state IN \(([^)]*)\)\)/.exec(sql)![1];
  expect(allowed.split(", ")).toEqual(STATES.map((state) => `'${state}'`));
});

test("identifiers are distinct UUIDs of version 7 in the order of time", () => {
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
