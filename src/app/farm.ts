import { existsSync, readFileSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import type { Config } from "../config.ts";
import { Dispatcher, type FarmState } from "../farm/index.ts";
import type { Farm, FarmDependencies } from "../scoring/index.ts";
import type { Log } from "../platform/log.ts";
import { COMMIT, VERSION } from "../version.ts";

/** Identifies the server of a data directory; a copy of the directory gets another identity. */
function identifyOwner(dataDirectory: string): string {
  const file = "/etc/machine-id";
  const machine = existsSync(file) ? readFileSync(file, "utf8") : "";
  const words = JSON.stringify([machine, hostname(), realpathSync(dataDirectory)]);
  return new Bun.CryptoHasher("sha256").update(words).digest("hex");
}

/** The farm of a server with a queue (setting `queue`); else undefined. */
export function prepareFarm(
  config: Config,
  log: Log,
): { open: (dependencies: FarmDependencies) => Farm; state: () => FarmState | null } | undefined {
  if (config.queue === "") return undefined;
  let dispatcher: Dispatcher | undefined;
  return {
    open(dependencies) {
      const address = { url: config.queue, ca: config.ca_file };
      const owner = identifyOwner(config.data_dir);
      const options = { address, mode: config.queue_local, log, version: VERSION, commit: COMMIT, owner };
      return (dispatcher = new Dispatcher(options, dependencies));
    },
    state: () => dispatcher?.state() ?? null,
  };
}
