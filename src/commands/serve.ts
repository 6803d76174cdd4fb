import { listen, type Listening } from "../app/listen.ts";
import { notifySystemd } from "../platform/systemd.ts";
import { VERSION } from "../version.ts";
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
    const service = await listen(call.configuration().config);
    const { stderr } = call.streams;
    // Signals count from before the message: its reader may answer it with one.
    const stopped = untilStopped(service, stderr);
    stderr.write(`labd ${VERSION} serves ${service.url}\n`);
    void notifyWhenReady(service);
    if (service.setUp !== null) stderr.write(`${serviceHint(service.setUp)}\n`);
    await stopped;
  },
};

/** Milliseconds between checks whether the service takes requests. */
const READY_INTERVAL = 250;

/** Tells systemd once `/readyz` would say that the service takes requests, and why not until then. */
async function notifyWhenReady({ notReadyReasons, log }: Listening): Promise<void> {
  const socket = process.env.NOTIFY_SOCKET;
  if (!socket) return;
  let said = "";
  for (let why = notReadyReasons().join(" "); why !== ""; why = notReadyReasons().join(" ")) {
    if (why !== said) notifySystemd(`STATUS=Not ready: ${why}`);
    said = why;
    await Bun.sleep(READY_INTERVAL);
  }
  if (!notifySystemd("READY=1\nSTATUS=Ready")) log.problem("systemd not notified", { socket });
}
