import { listen, type Listening } from "../app/listen.ts";
import { ALL_SETTINGS, type Command } from "./command-line.ts";
import { VERSION } from "../version.ts";

export const serve: Command = {
  name: "serve",
  summary: "Serve both faces from a data directory until told to stop.",
  flags: [],
  settings: ALL_SETTINGS,
  example:
    "labd serve --data-dir /var/lib/labd --port 8480\n" +
    "SOAP answers at /soap/ConservationScorer, REST below /api/v2/, the reference at /docs.",
  async run(call) {
    const service = await listen(call.configuration().config);
    // Who reads that it serves may tell it to stop.
    const stopped = untilToldToStop(service);
    process.stderr.write(`labd ${VERSION} serves ${service.url}\n`);
    if (service.setUp !== null) process.stderr.write(`${invitation(service.setUp)}\n`);
    await stopped;
    return 0;
  },
};

/** What to do where there is no administrator yet. */
export const invitation = (setUp: string): string =>
  `There is no administrator yet. To make one, open within 24 hours${setUp.startsWith("/") ? ", behind the address of the reverse proxy" : ""}: ${setUp}`;

/** Waits for SIGINT or SIGTERM, then lets running requests finish; a second signal ends at once. SIGHUP reads the certificate again. */
export async function untilToldToStop(service: Listening): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let asked = false;
  const stop = (): void => {
    if (asked) process.exit(1);
    asked = true;
    process.stderr.write("Stopping: running requests finish, running jobs go back to the queue.\n");
    void service.stop().then(resolve, reject);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  process.on("SIGHUP", () => service.reload());
  await promise;
}
