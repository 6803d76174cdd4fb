import { closeSync, openSync } from "node:fs";

/**
 * Machines that are none: network namespaces of Linux, each with an address of its own, behind one switch, to which this
 * process is connected too. What runs in one sees the others over the network only. Taken away when the test ends.
 */

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const PROGRAMS = ["ip", "iptables"];
const missing = PROGRAMS.filter((name) => !Bun.which(name, { PATH }));

async function run(command: string[]): Promise<void> {
  const ended = Bun.spawn(command, { env: { PATH }, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const complaint = await Bun.readableStreamToText(ended.stderr);
  if ((await ended.exited) !== 0) throw new Error(`${command.join(" ")}: ${complaint.trim()}`);
}

/** Why there can be no such machines here; null where there can. */
export async function whyNoHosts(): Promise<string | null> {
  if (missing.length > 0) return `${missing.join(", ")} missing: apt-get install iproute2 iptables`;
  const trial = `labd-${process.pid}-trial`;
  try {
    await run(["ip", "netns", "add", trial]);
    await run(["ip", "netns", "del", trial]);
    return null;
  } catch (error) {
    return `no network namespaces: ${(error as Error).message}`;
  }
}

/** How a machine can be cut off: its cable is out, or everything that it sends or is sent vanishes. */
export type Cut = "unplugged" | "black hole";

export interface Host {
  name: string;
  address: string;
  /** Starts a program on it; `log` is the file for what it says. Its process is the program itself, so that signals reach it. */
  start(command: string[], log: string, env?: Record<string, string>): Bun.Subprocess;
  cut(how: Cut): Promise<void>;
  heal(): Promise<void>;
}

export interface Hosts extends AsyncDisposable {
  /** Address of this process in the network. */
  address: string;
  host(name: string): Host;
}

/** Makes machines of these names, of at most eight characters. */
export async function makeHosts(names: readonly string[]): Promise<Hosts> {
  const mark = `lb${process.pid.toString(36)}`;
  const network = `10.213.${process.pid % 254}`;
  const inside = (name: string): string => `${mark}-${name}`;
  const hub = inside("hub");
  const outside = `${mark}-out`;
  const made: string[] = [];
  const started: Bun.Subprocess[] = [];
  const dispose = async (): Promise<void> => {
    for (const process of started) process.kill("SIGKILL");
    await Promise.all(started.map(({ exited }) => exited));
    for (const name of made) await run(["ip", "netns", "del", name]);
  };
  const namespace = async (name: string): Promise<void> => {
    await run(["ip", "netns", "add", name]);
    made.push(name);
    await run(["ip", "-n", name, "link", "set", "lo", "up"]);
  };
  try {
    await namespace(hub);
    await run(["ip", "-n", hub, "link", "add", "switch", "type", "bridge"]);
    await run(["ip", "-n", hub, "link", "set", "switch", "up"]);
    // The end outside goes with the one in the switch.
    await run(["ip", "link", "add", outside, "type", "veth", "peer", "name", "outside", "netns", hub]);
    await run(["ip", "-n", hub, "link", "set", "outside", "master", "switch", "up"]);
    await run(["ip", "addr", "add", `${network}.1/24`, "dev", outside]);
    await run(["ip", "link", "set", outside, "up"]);
    const hosts = new Map<string, Host>();
    for (const [i, name] of names.entries()) {
      const own = inside(name);
      const address = `${network}.${i + 2}`;
      await namespace(own);
      await run([
        "ip",
        "link",
        "add",
        name,
        "netns",
        hub,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        own,
      ]);
      await run(["ip", "-n", hub, "link", "set", name, "master", "switch", "up"]);
      await run(["ip", "-n", own, "addr", "add", `${address}/24`, "dev", "eth0"]);
      await run(["ip", "-n", own, "link", "set", "eth0", "up"]);
      const drop = async (action: "-A" | "-D"): Promise<void> => {
        const rule = (chain: string, way: string): Promise<void> =>
          run(["ip", "netns", "exec", own, "iptables", "-w", action, chain, "!", way, "lo", "-j", "DROP"]);
        await rule("INPUT", "-i");
        await rule("OUTPUT", "-o");
      };
      let state: Cut | null = null;
      hosts.set(name, {
        name,
        address,
        start(command, log, env = {}) {
          const file = openSync(log, "a");
          const process = Bun.spawn(["ip", "netns", "exec", own, ...command], {
            env: { PATH, ...env },
            cwd: "/",
            stdin: "ignore",
            stdout: file,
            stderr: file,
          });
          closeSync(file);
          started.push(process);
          return process;
        },
        async cut(how) {
          state = how;
          if (how === "unplugged") await run(["ip", "-n", hub, "link", "set", name, "down"]);
          else await drop("-A");
        },
        async heal() {
          if (state === "unplugged") await run(["ip", "-n", hub, "link", "set", name, "up"]);
          if (state === "black hole") await drop("-D");
          state = null;
        },
      });
    }
    const host = (name: string): Host => {
      const found = hosts.get(name);
      if (!found) throw new Error(`no host ${name}`);
      return found;
    };
    return { address: `${network}.1`, host, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
