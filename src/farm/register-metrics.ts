import type { Metrics } from "../platform/metrics.ts";
import type { FarmState } from "./status.ts";

/** Registers the farm's metrics for /metrics. */
export function registerFarmMetrics(metrics: Metrics, readFarm: () => FarmState | null): void {
  const gauge = (name: string, help: string, read: (state: FarmState) => number): void =>
    metrics.ask("gauge", name, help, () => {
      const state = readFarm();
      return state === null ? 0 : read(state);
    });
  const perHost = (
    name: string,
    help: string,
    read: (worker: FarmState["workers"][number]) => number,
  ): void => metrics.ask("gauge", name, help, () => sums(readFarm()?.workers ?? [], read), ["host", "fits"]);

  gauge("labd_farm_up", "1 if the queue is reachable and accepts jobs.", ({ state }) =>
    Number(state === "there"),
  );
  gauge("labd_farm_waiting", "Jobs in the queue that no worker has taken.", ({ waiting }) => waiting);
  gauge("labd_farm_running", "Jobs in progress on workers of the farm.", ({ running }) => running);
  gauge("labd_farm_pool_works", "1 if the server's own workers may take jobs.", ({ poolWorks }) =>
    Number(poolWorks),
  );
  perHost("labd_farm_workers", "Workers of the farm by host, and whether they accept jobs.", () => 1);
  perHost(
    "labd_farm_places",
    "Maximum number of concurrent jobs of the farm's workers.",
    ({ concurrency }) => concurrency,
  );
  perHost("labd_farm_places_busy", "Running jobs reported by the farm's workers.", ({ jobs }) => jobs.length);
  metrics.ask(
    "counter",
    "labd_farm_jobs_total",
    "Jobs by outcome since the server started: offered, finished, failed, late (delivered twice), returned (by a worker, or lost with it), lost (from the queue).",
    () => Object.entries(readFarm()?.counts ?? {}).map(([outcome, count]) => [[outcome], count] as const),
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
    const sum = found.get(labels.join(" ")) ?? [labels, 0];
    sum[1] += read(worker);
    found.set(labels.join(" "), sum);
  }
  return [...found.values()];
}
