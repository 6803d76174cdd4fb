/** The farm: jobs that workers on other machines take from a queue in Redis (docs/farm.md). */
export {
  Dispatcher,
  type DispatcherOptions,
  type FarmState,
  POOL_MODES,
  type PoolMode,
} from "./dispatcher.ts";
export { FarmWorker, type FarmWorkerOptions } from "./farm-worker.ts";
export { type Place, placeOf } from "./link.ts";
