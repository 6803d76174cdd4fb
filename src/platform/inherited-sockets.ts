/** Descriptors that systemd passes begin here (sd_listen_fds(3)). */
const FIRST = 3;

/**
 * The listening sockets that systemd passed to this process, as descriptors. They are taken once: what is started from
 * here must not think that they are its own.
 */
export function takeInheritedSockets(
  environment: Record<string, string | undefined> = process.env,
  pid = process.pid,
): number[] {
  const { LISTEN_PID, LISTEN_FDS } = environment;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete environment[name];
  const count = LISTEN_PID === String(pid) ? Number(LISTEN_FDS ?? 0) : 0;
  return Array.from({ length: Number.isSafeInteger(count) ? count : 0 }, (_, index) => FIRST + index);
}
