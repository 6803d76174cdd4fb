import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { waitFor } from "../wait.ts";

/** Slurm on this machine: munge, one controller and one node, with all files in one directory and on free ports. */

const PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "squeue"];
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const missing = PROGRAMS.filter((name) => !Bun.which(name, { PATH }));

/** Why no cluster can start on this machine, or null. */
export const whyNoSlurm: string | null =
  missing.length > 0
    ? `${missing.join(", ")} missing: apt-get install slurm-wlm munge`
    : process.getuid?.() === 0
      ? null
      : "slurmd must be started by root";

const LOGS = ["munged.out", "slurmctld.out", "slurmd.out", "slurmctld.log", "slurmd.log"];

export class SlurmCluster implements AsyncDisposable {
  readonly #daemons: Bun.Subprocess[] = [];

  private constructor(readonly directory: string) {}

  /** @param processors declared to Slurm, even if the machine has fewer */
  static async start(directory: string, processors: number): Promise<SlurmCluster> {
    const cluster = new SlurmCluster(directory);
    try {
      await cluster.#start(processors);
      return cluster;
    } catch (error) {
      const log = await cluster.log();
      await cluster[Symbol.asyncDispose]();
      throw new Error(`Slurm did not start: ${log.slice(-3000)}`, { cause: error });
    }
  }

  #path(name: string): string {
    return join(this.directory, name);
  }

  async #start(processors: number): Promise<void> {
    for (const name of ["state", "spool"]) mkdirSync(this.#path(name));
    const configuration = this.#path("slurm.conf");
    writeFileSync(configuration, await slurmConfiguration(this.directory, processors));
    writeFileSync(this.#path("munge.key"), crypto.getRandomValues(new Uint8Array(64)), { mode: 0o600 });
    const files = {
      socket: "socket",
      "key-file": "key",
      "log-file": "log",
      "pid-file": "pid",
      "seed-file": "seed",
    };
    const flags = Object.entries(files).map(([flag, suffix]) => `--${flag}=${this.#path(`munge.${suffix}`)}`);
    this.#startDaemon(["munged", "--foreground", "--force", ...flags]);
    await this.#waitUntil(() => Bun.file(this.#path("munge.socket.lock")).exists());
    this.#startDaemon(["slurmctld", "-D", "-i", "-f", configuration]);
    this.#startDaemon(["slurmd", "-D", "-f", configuration]);
    await this.#waitUntil(
      async () => (await this.run(["sinfo", "-h", "-o", "%T"]).catch(() => "")) === "idle",
    );
  }

  #startDaemon([name, ...words]: string[]): void {
    const output = Bun.file(this.#path(`${name}.out`));
    const options = { stdin: "ignore", stdout: output, stderr: output } as const;
    this.#daemons.push(Bun.spawn([Bun.which(name, { PATH })!, ...words], options));
  }

  async #waitUntil(isReady: () => Promise<boolean>): Promise<void> {
    await waitFor(async () => {
      if (this.#daemons.some(({ exitCode }) => exitCode !== null)) throw new Error("a daemon ended");
      return isReady();
    });
  }

  /** Runs one of Slurm's programs. @returns its output @throws if it fails */
  async run(
    command: string[],
    { cwd = this.directory, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
  ): Promise<string> {
    const child = Bun.spawn(command, {
      cwd,
      env: { PATH, SLURM_CONF: this.#path("slurm.conf"), ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors, code] = await Promise.all([
      Bun.readableStreamToText(child.stdout),
      Bun.readableStreamToText(child.stderr),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`${command.join(" ")}: ${code} ${errors}`);
    return output.trim();
  }

  /** Output and logs of the daemons. */
  async log(): Promise<string> {
    const files = LOGS.map((name) => ({ name, file: Bun.file(this.#path(name)) }));
    const texts = await Promise.all(
      files.map(async ({ name, file }) => ((await file.exists()) ? `${name}: ${await file.text()}` : "")),
    );
    return texts.join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const daemon of this.#daemons.toReversed()) {
      daemon.kill("SIGTERM");
      await Promise.race([daemon.exited, Bun.sleep(5000)]);
      daemon.kill("SIGKILL");
    }
  }
}

async function slurmConfiguration(directory: string, processors: number): Promise<string> {
  const path = (name: string): string => join(directory, name);
  const [controller, node] = [await freePort(), await freePort()];
  const name = hostname().split(".")[0];
  return `ClusterName=labd
SlurmctldHost=${name}(127.0.0.1)
SlurmctldPort=${controller}
SlurmdPort=${node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${path("munge.socket")}
CredType=cred/munge
StateSaveLocation=${path("state")}
SlurmdSpoolDir=${path("spool")}
SlurmctldPidFile=${path("slurmctld.pid")}
SlurmdPidFile=${path("slurmd.pid")}
SlurmctldLogFile=${path("slurmctld.log")}
SlurmdLogFile=${path("slurmd.log")}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=2
NodeName=${name} NodeAddr=127.0.0.1 CPUs=${processors} RealMemory=8192 State=UNKNOWN
PartitionName=all Nodes=${name} Default=YES MaxTime=INFINITE State=UP
`;
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}
