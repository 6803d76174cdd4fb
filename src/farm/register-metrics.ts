import type { Metrics } from "../platform/metrics.ts";
import type { FarmState } from "./state.ts";

/** Declares the figures of the farm for /metrics. */
export function registerFarmMetrics(metrics: Metrics, stateOf: () => FarmState | null): void {
  const gauge = metrics.ask.bind(metrics, "gauge");
  const of =
    <T>(read: (state: FarmState) => T, none: T) =>
    (): T => {
      const state = stateOf();
      return state === null ? none : read(state);
    };
  gauge(
    "labd_farm_up",
    "1 where the queue between server and workers is there and takes jobs.",
    of(({ state }) => (state === "there" ? 1 : 0), 0),
  );
  gauge(
    "labd_farm_waiting",
    "Jobs in the queue that no worker has.",
    of(({ waiting }) => waiting, 0),
  );
  gauge(
    "labd_farm_running",
    "Jobs that workers of the farm have.",
    of(({ running }) => running, 0),
  );
  gauge(
    "labd_farm_pool_works",
    "1 where the workers of the server's own process may take jobs.",
    of(({ poolWorks }) => (poolWorks ? 1 : 0), 0),
  );
  gauge(
    "labd_farm_workers",
    "Workers of the farm by host, and whether they take work.",
    of(({ workers }) => sums(workers, () => 1), []),
    ["host", "fits"],
  );
  gauge(
    "labd_farm_places",
    "Jobs that workers of the farm can have at a time.",
    of(({ workers }) => sums(workers, ({ concurrency }) => concurrency), []),
    ["host", "fits"],
  );
  gauge(
    "labd_farm_places_busy",
    "Jobs that workers of the farm say they have.",
    of(({ workers }) => sums(workers, ({ jobs }) => jobs.length), []),
    ["host", "fits"],
  );
  metrics.ask(
    "counter",
    "labd_farm_jobs_total",
    "Jobs by what became of them in the farm since the server began: offered, finished, failed, late (handed in twice), returned (by a worker, or lost with it), lost (from the queue).",
    of(({ counts }) => Object.entries(counts).map(([outcome, n]) => [[outcome], n] as const), []),
    ["outcome"],
  );
}

function sums(
  workers: FarmState["workers"],
  read: (worker: FarmState["workers"][number]) => number,
): [string[], number][] {
  const found = new Map<string, [string[], number]>();
  for (const worker of workers) {
    const labels = [worker.host, String(worker.fits)];
    const known = found.get(labels.join(" ")) ?? [labels, 0];
    known[1] += read(worker);
    found.set(labels.join(" "), known);
  }
  return [...found.values()];
}
