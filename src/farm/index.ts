/** The farm: jobs that workers on other machines take from a queue in Redis (docs/farm.md). */
export { Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
export { FarmWorker, type FarmWorkerOptions } from "./farm-worker.ts";
export { declareFarm } from "./figures.ts";
export { type FarmStatus, readStatus } from "./farm-status.ts";
export { type Place, placeOf } from "./link.ts";
export { lookAtQueue } from "./check-queue.ts";
export { type FarmState, POOL_MODES, type PoolMode } from "./state.ts";
