import { expect, test } from "bun:test";
import { soak } from "../bench/soak/run.ts";
import { courseOf } from "../bench/soak/vitals.ts";
import { scratch } from "./labd.ts";

/** The short form of `test/bench/soak.ts`, whose figures are in docs/reliability.md. */

test("under mixed load and kills every accepted write exists once, and memory is stable", async () => {
  using place = scratch();
  const { faults, checked, kills, requests, told, vitals, counts } = await soak({
    directory: place.directory,
    calm: 6,
    rough: 6,
    killEvery: 1.5,
    least: { calm: 400, kills: 2, between: 20 },
    seed: Date.now() % 1_000_000,
    clients: 2,
    lanes: { records: 4, jobs: 1, readers: 2, signIns: 1 },
  });
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThan(1);
  expect(requests.calm).toBeGreaterThan(100);
  expect(checked.records).toBeGreaterThan(20);
  expect(checked.predictions).toBeGreaterThan(3);
  expect(told).toBeGreaterThan(0);
  // Clients were cut off amid their requests: otherwise the kills would have tried nothing.
  const unknown = Object.values(counts).reduce((sum, of) => sum + (of.unknown ?? 0), 0);
  expect(unknown).toBeGreaterThan(0);
  // What the long form calls flat takes minutes to be seen; this is what would be a leak of every request.
  if (process.platform === "linux") expect(courseOf(vitals, "files").most).toBeLessThan(200);
}, 300_000);
