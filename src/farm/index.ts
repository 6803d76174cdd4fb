/** The farm: workers on other machines take jobs from a queue in Redis (docs/farm.md). */
export { checkQueue } from "./check-queue.ts";
export { connectionOptions, redactedAddress } from "./connection.ts";
export { Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
export { FarmWorker, type FarmWorkerOptions } from "./farm-worker.ts";
export { registerFarmMetrics } from "./register-metrics.ts";
export { type FarmState, type FarmStatus, POOL_MODES, readStatus } from "./status.ts";
