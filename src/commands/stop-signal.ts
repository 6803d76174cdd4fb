import type { Listening } from "../app/listen.ts";
import { notifySystemd } from "../platform/systemd.ts";
import { announce } from "./announcement.ts";
import type { Streams } from "./command.ts";

/** Waits for SIGINT or SIGTERM; a second one ends the process at once. */
export async function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = false;
  const stop = (): void => {
    if (received) process.exit(1);
    received = true;
    resolve();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  await promise;
}

/** Waits for a stop signal and lets running requests finish; SIGHUP reloads the certificate. */
export async function untilStopped(service: Listening, streams: Streams): Promise<void> {
  process.on("SIGHUP", () => service.reload());
  await stopSignal();
  notifySystemd("STOPPING=1");
  announce(streams, "stop", "Stopping: running requests finish, running jobs go back to the queue.");
  await service.stop();
}

/** The request to set up the first administrator. */
export const serviceHint = (setUp: string): string =>
  `There is no administrator yet. To add one, open ${setUp} ${setUp.startsWith("/") ? "at the reverse proxy's address " : ""}within 24 hours.`;
