/** The farm: jobs that workers on other machines take from a queue in Redis (docs/farm.md). */
export { Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
export { FarmWorker, type FarmWorkerOptions } from "./farm-worker.ts";
export { registerFarmMetrics } from "./register-metrics.ts";
export { type FarmStatus, readStatus } from "./farm-status.ts";
export { type QueueAddress, redactedAddress } from "./connection.ts";
export { checkQueue } from "./check-queue.ts";
export { type FarmState, POOL_MODES, type PoolMode } from "./state.ts";
