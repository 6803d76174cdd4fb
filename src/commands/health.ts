import type { Command } from "./command.ts";
import { askReadiness } from "./with-inventory.ts";

/** Exit code of a server that takes no requests; sysexits.h: try again later. */
const NOT_READY = 75;

export const health: Command = {
  name: "health",
  summary: "Ask the running server whether it takes requests, as /readyz says.",
  settings: ["data_dir", "host", "port", "tls_certificate"],
  example:
    "labd health --config /etc/labd/labd.toml\n" +
    "For the health checks of containers. Exit codes: 0 ready, 75 not ready, or no response.",
  async run(call) {
    const { isReady, reasons } = await askReadiness(call.configuration().config);
    await call.print(`${[isReady ? "ready" : "not ready", ...reasons].join(": ")}\n`);
    return isReady ? 0 : NOT_READY;
  },
};
