import { closeSync, openSync } from "node:fs";

/**
 * Simulated machines: Linux network namespaces, each with an address, on one bridge to which this process is connected
 * too. A program in one reaches the others over the network only. All are removed when the test ends.
 */

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const missing = ["ip", "iptables"].filter((name) => !Bun.which(name, { PATH }));

async function run(command: string): Promise<void> {
  const options = { env: { PATH }, stdin: "ignore", stdout: "ignore", stderr: "pipe" } as const;
  const child = Bun.spawn(command.split(" "), options);
  const message = await Bun.readableStreamToText(child.stderr);
  if ((await child.exited) !== 0) throw new Error(`${command}: ${message.trim()}`);
}

/** Why hosts cannot be created on this machine, or null. */
export async function whyNoHosts(): Promise<string | null> {
  if (missing.length > 0) return `${missing.join(", ")} missing: apt-get install iproute2 iptables`;
  const trial = `labd-${process.pid}-trial`;
  try {
    await run(`ip netns add ${trial}`);
    await run(`ip netns del ${trial}`);
    return null;
  } catch (error) {
    return `no network namespaces: ${(error as Error).message}`;
  }
}

/** The cable is unplugged, or all packets are dropped silently. */
export type Cut = "unplugged" | "black hole";

export class Host {
  readonly #started: Bun.Subprocess[] = [];
  #cut: Cut | null = null;

  constructor(
    readonly name: string,
    readonly address: string,
    /** Namespaces of the host and of the bridge. */
    readonly namespace: string,
    readonly bridge: string,
  ) {}

  /** Connects the host's namespace to the bridge. */
  async connect(): Promise<void> {
    const { name, address, namespace, bridge } = this;
    await run(`ip link add ${name} netns ${bridge} type veth peer name eth0 netns ${namespace}`);
    await run(`ip -n ${bridge} link set ${name} master switch up`);
    await run(`ip -n ${namespace} addr add ${address}/24 dev eth0`);
    await run(`ip -n ${namespace} link set eth0 up`);
  }

  /** Starts a program without a shell, so that signals reach it. Its output is appended to the file `log`. */
  start(command: string[], log: string, env: Record<string, string> = {}): Bun.Subprocess {
    const file = openSync(log, "a");
    const child = Bun.spawn(["ip", "netns", "exec", this.namespace, ...command], {
      env: { PATH, ...env },
      cwd: "/",
      stdin: "ignore",
      stdout: file,
      stderr: file,
    });
    closeSync(file);
    this.#started.push(child);
    return child;
  }

  async cut(how: Cut): Promise<void> {
    this.#cut = how;
    if (how === "unplugged") await run(`ip -n ${this.bridge} link set ${this.name} down`);
    else await this.#changeFirewall("-A");
  }

  async heal(): Promise<void> {
    if (this.#cut === "unplugged") await run(`ip -n ${this.bridge} link set ${this.name} up`);
    if (this.#cut === "black hole") await this.#changeFirewall("-D");
    this.#cut = null;
  }

  /** Adds or deletes rules that drop all packets except those of the loopback. */
  async #changeFirewall(action: "-A" | "-D"): Promise<void> {
    for (const rule of ["INPUT ! -i lo", "OUTPUT ! -o lo"])
      await run(`ip netns exec ${this.namespace} iptables -w ${action} ${rule} -j DROP`);
  }

  async kill(): Promise<void> {
    for (const child of this.#started) child.kill("SIGKILL");
    await Promise.all(this.#started.map(({ exited }) => exited));
  }
}

export class Hosts implements AsyncDisposable {
  readonly #prefix = `lb${process.pid.toString(36)}`;
  readonly #network = `10.213.${process.pid % 254}`;
  readonly #hosts = new Map<string, Host>();
  readonly #namespaces: string[] = [];
  /** Address of this process in the network. */
  readonly address = `${this.#network}.1`;

  private constructor() {}

  /** @param names at most eight characters each */
  static async create(names: readonly string[]): Promise<Hosts> {
    const hosts = new Hosts();
    try {
      const bridge = await hosts.#addBridge();
      for (const [i, name] of names.entries()) {
        const namespace = await hosts.#addNamespace(name);
        const host = new Host(name, `${hosts.#network}.${i + 2}`, namespace, bridge);
        await host.connect();
        hosts.#hosts.set(name, host);
      }
      return hosts;
    } catch (error) {
      await hosts[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Adds the bridge and connects this process to it. @returns its namespace */
  async #addBridge(): Promise<string> {
    const bridge = await this.#addNamespace("hub");
    // Deleted with its peer in the bridge's namespace.
    const link = `${this.#prefix}-out`;
    await run(`ip -n ${bridge} link add switch type bridge`);
    await run(`ip -n ${bridge} link set switch up`);
    await run(`ip link add ${link} type veth peer name outside netns ${bridge}`);
    await run(`ip -n ${bridge} link set outside master switch up`);
    await run(`ip addr add ${this.address}/24 dev ${link}`);
    await run(`ip link set ${link} up`);
    return bridge;
  }

  async #addNamespace(name: string): Promise<string> {
    const namespace = `${this.#prefix}-${name}`;
    await run(`ip netns add ${namespace}`);
    this.#namespaces.push(namespace);
    await run(`ip -n ${namespace} link set lo up`);
    return namespace;
  }

  host(name: string): Host {
    const host = this.#hosts.get(name);
    if (!host) throw new Error(`no host ${name}`);
    return host;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of this.#hosts.values()) await host.kill();
    for (const namespace of this.#namespaces) await run(`ip netns del ${namespace}`);
  }
}
