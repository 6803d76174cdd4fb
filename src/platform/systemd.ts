import { dlopen } from "bun:ffi";

/** State for systemd; see sd_notify(3). */
export type ServiceState = `READY=1\nSTATUS=${string}` | `STATUS=${string}` | "STOPPING=1" | "WATCHDOG=1";

const [AF_UNIX, SOCK_DGRAM] = [1, 2];
/** Bytes of a path in sockaddr_un. */
const LONGEST_PATH = 108;

/**
 * Sends the state to the socket that systemd names in NOTIFY_SOCKET, for units with `Type=notify`. Does nothing without
 * one. Bun has no datagram sockets of the Unix domain, so that the C library is called.
 * @returns whether it was sent
 */
export function notifySystemd(state: ServiceState, path = process.env.NOTIFY_SOCKET ?? ""): boolean {
  // An abstract socket is shown with @ and begins with a zero byte.
  const name = Buffer.from(path.replace(/^@/, "\0"));
  if (process.platform !== "linux" || name.length === 0 || name.length >= LONGEST_PATH) return false;
  library ??= openLibrary();
  if (library === undefined) return false;
  const { socket, sendto, close } = library.symbols;
  const address = Buffer.concat([Buffer.from(new Uint16Array([AF_UNIX]).buffer), name]);
  // The path of a file ends with a zero byte, the name of an abstract socket with its length.
  const terminated = name[0] === 0 ? address : Buffer.concat([address, Buffer.alloc(1)]);
  const message = Buffer.from(state);
  const handle = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (handle < 0) return false;
  try {
    return sendto(handle, message, message.length, 0, terminated, terminated.length) === message.length;
  } finally {
    close(handle);
  }
}

/**
 * Tells systemd twice in each period of `WatchdogSec` that requests are handled. systemd restarts a service that is silent
 * for a whole period.
 */
export function feedWatchdog(): void {
  const period = Number(process.env.WATCHDOG_USEC ?? 0) / 1000;
  const pid = process.env.WATCHDOG_PID ?? String(process.pid);
  if (!(period > 0) || pid !== String(process.pid)) return;
  setInterval(() => notifySystemd("WATCHDOG=1"), period / 2).unref();
}

let library: ReturnType<typeof openLibrary>;

/** The C library, of glibc or musl. */
function openLibrary() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        socket: { args: ["i32", "i32", "i32"], returns: "i32" },
        sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i32" },
        close: { args: ["i32"], returns: "i32" },
      });
    } catch {
      // The next one.
    }
  }
  return undefined;
}
