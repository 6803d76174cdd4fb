import { listen, type Listening } from "../app/listen.ts";
import { feedWatchdog, notifySystemd } from "../platform/systemd.ts";
import { COMMIT, VERSION } from "../version.ts";
import { announce, logEverything } from "./announcement.ts";
import { ALL_SETTINGS, type Command } from "./command.ts";
import { serviceHint, untilStopped } from "./stop-signal.ts";

export const serve: Command = {
  name: "serve",
  summary: "Serve both services from a data directory until stopped.",
  settings: ALL_SETTINGS,
  example:
    "labd serve --data-dir /var/lib/labd --port 8480\n" +
    "SOAP is at /soap/ConservationScorer, REST below /api/v2/, the API reference at /docs.",
  async run(call) {
    const { config } = call.configuration();
    logEverything(call.streams);
    const service = await listen(config);
    // Signals are handled before the message is printed: its reader may answer with a signal.
    const stopped = untilStopped(service, call.streams);
    const about = { version: VERSION, commit: COMMIT, url: service.url };
    announce(call.streams, "start", `labd ${VERSION} serves ${service.url} from ${config.data_dir}`, about);
    void notifyWhenReady(service);
    if (service.setUp !== null) announce(call.streams, "set-up link", serviceHint(service.setUp));
    await stopped;
  },
};

/** Milliseconds between checks whether the service takes requests. */
const READY_INTERVAL = 250;

/** Tells systemd once `/readyz` would say that the service takes requests, and why not until then. */
async function notifyWhenReady({ notReadyReasons, log }: Listening): Promise<void> {
  const socket = process.env.NOTIFY_SOCKET;
  if (!socket) return;
  let status = "";
  for (let why = notReadyReasons().join(" "); why !== ""; why = notReadyReasons().join(" ")) {
    if (why !== status) notifySystemd(`STATUS=Not ready: ${why}`);
    status = why;
    await Bun.sleep(READY_INTERVAL);
  }
  feedWatchdog();
  if (!notifySystemd("READY=1\nSTATUS=Ready")) log.problem("systemd not notified", { socket });
}
