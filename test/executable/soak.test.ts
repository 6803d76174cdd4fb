import { expect, test } from "bun:test";
import { fitTrend } from "../bench/soak/process-samples.ts";
import { soak } from "../bench/soak/run.ts";
import { scratch } from "./labd.ts";

/** The short form of `test/bench/soak.ts`, whose figures are in docs/reliability.md. */

test("under mixed load and kills every accepted write exists exactly once and memory is stable", async () => {
  using place = scratch();
  const { failures, checked, kills, requests, deliveries, samples, counts } = await soak({
    directory: place.directory,
    seconds: { steady: 6, kills: 6 },
    killInterval: 1.5,
    minimum: { requests: 400, kills: 2, requestsBetweenKills: 20 },
    seed: Date.now() % 1_000_000,
    clients: 2,
    lanes: { records: 4, jobs: 1, readers: 2, signIns: 1 },
  });
  expect(failures).toEqual([]);
  expect(kills).toBeGreaterThan(1);
  expect(requests.steady).toBeGreaterThan(100);
  expect(checked.records).toBeGreaterThan(20);
  expect(checked.predictions).toBeGreaterThan(3);
  expect(deliveries).toBeGreaterThan(0);
  // Otherwise the kills would have interrupted nothing.
  const unknown = Object.values(counts).reduce((sum, outcomes) => sum + (outcomes.unknown ?? 0), 0);
  expect(unknown).toBeGreaterThan(0);
  // Slow leaks show only in the long form; this detects a leak in every request.
  if (process.platform === "linux") expect(fitTrend(samples, "files").max).toBeLessThan(200);
}, 300_000);
