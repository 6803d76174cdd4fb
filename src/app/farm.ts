import type { Config } from "../config.ts";
import { Dispatcher, type FarmState } from "../farm/index.ts";
import type { Farm, FarmSurroundings } from "../scoring/index.ts";
import type { Log } from "../shell/log.ts";
import { COMMIT, VERSION } from "../version.ts";

/** The farm of a server that has a queue (setting `queue`); undefined for one that has none. */
export function farmOf(
  config: Config,
  log: Log,
): { open: (surroundings: FarmSurroundings) => Farm; state: () => FarmState | null } | undefined {
  if (config.queue === "") return undefined;
  let dispatcher: Dispatcher | undefined;
  return {
    open(surroundings) {
      const place = { url: config.queue, ca: config.queue_ca };
      const options = { place, mode: config.queue_local, log, version: VERSION, commit: COMMIT };
      return (dispatcher = new Dispatcher(options, surroundings));
    },
    state: () => dispatcher?.state() ?? null,
  };
}
