import { systemClock } from "../../src/platform/clock.ts";
import { type Answer, type HttpOptions, openHttp } from "../../src/platform/http.ts";
import { openLog } from "../../src/platform/log.ts";

/** The HTTP service with some routes, without accounts and log. */
export const openBare = (services: HttpOptions["services"], options: Partial<HttpOptions> = {}): Answer =>
  openHttp({
    log: openLog("off", () => {}, Date.now),
    clock: systemClock,
    maxMessageBytes: 5000,
    admit: () => {},
    notReadyReasons: () => [],
    documentation: { version: "0", introduction: "", tags: [] },
    services,
    ...options,
  });
