import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";

/** Slurm on this machine alone: munge, one controller, one node, all in one directory and on ports of their own. */

const PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "squeue"];
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const missing = PROGRAMS.filter((name) => !Bun.which(name, { PATH }));

/** Why there can be no cluster here; null where there can. */
export const whyNoSlurm: string | null =
  missing.length > 0
    ? `${missing.join(", ")} missing: apt-get install slurm-wlm munge`
    : process.getuid?.() === 0
      ? null
      : "slurmd has to be started by root";

export interface SlurmCluster extends AsyncDisposable {
  /** Runs one of Slurm's programs and returns what it printed. @throws where it fails */
  run(command: string[], options?: { cwd?: string; env?: Record<string, string> }): Promise<string>;
  /** What the daemons said. */
  log(): Promise<string>;
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}

/** Starts a cluster with so many processors, whether the machine has them or not. */
export async function startSlurm(directory: string, processors: number): Promise<SlurmCluster> {
  const inside = (name: string): string => join(directory, name);
  const [controller, node] = [await freePort(), await freePort()];
  const name = hostname().split(".")[0];
  const conf = inside("slurm.conf");
  writeFileSync(inside("munge.key"), crypto.getRandomValues(new Uint8Array(64)), { mode: 0o600 });
  writeFileSync(
    conf,
    `ClusterName=labd
SlurmctldHost=${name}(127.0.0.1)
SlurmctldPort=${controller}
SlurmdPort=${node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${inside("munge.socket")}
CredType=cred/munge
StateSaveLocation=${inside("state")}
SlurmdSpoolDir=${inside("spool")}
SlurmctldPidFile=${inside("slurmctld.pid")}
SlurmdPidFile=${inside("slurmd.pid")}
SlurmctldLogFile=${inside("slurmctld.log")}
SlurmdLogFile=${inside("slurmd.log")}
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
`,
  );
  const daemons: Bun.Subprocess[] = [];
  const start = (command: string[]): void => {
    const output = Bun.file(inside(`${command[0]}.out`));
    const options = { stdin: "ignore", stdout: output, stderr: output } as const;
    daemons.push(Bun.spawn([Bun.which(command[0], { PATH })!, ...command.slice(1)], options));
  };
  const run: SlurmCluster["run"] = async (command, { cwd = directory, env = {} } = {}) => {
    const ended = Bun.spawn(command, {
      cwd,
      env: { PATH, SLURM_CONF: conf, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, complaint, code] = await Promise.all([
      Bun.readableStreamToText(ended.stdout),
      Bun.readableStreamToText(ended.stderr),
      ended.exited,
    ]);
    if (code !== 0) throw new Error(`${command.join(" ")}: ${code} ${complaint}`);
    return printed.trim();
  };
  const log = async (): Promise<string> =>
    (
      await Promise.all(
        ["munged.out", "slurmctld.out", "slurmd.out", "slurmctld.log", "slurmd.log"].map(async (file) =>
          (await Bun.file(inside(file)).exists()) ? `${file}: ${await Bun.file(inside(file)).text()}` : "",
        ),
      )
    ).join("\n");
  const stop = async (): Promise<void> => {
    for (const daemon of daemons.toReversed()) {
      daemon.kill("SIGTERM");
      await Promise.race([daemon.exited, Bun.sleep(5000)]);
      daemon.kill("SIGKILL");
    }
  };
  await Bun.$`mkdir -p ${inside("state")} ${inside("spool")}`.quiet();
  start([
    "munged",
    "--foreground",
    "--force",
    `--socket=${inside("munge.socket")}`,
    `--key-file=${inside("munge.key")}`,
    `--log-file=${inside("munged.log")}`,
    `--pid-file=${inside("munged.pid")}`,
    `--seed-file=${inside("munged.seed")}`,
  ]);
  for (let i = 0; i < 10_000 && !(await Bun.file(inside("munge.socket.lock")).exists()); i++)
    await Bun.sleep(20);
  start(["slurmctld", "-D", "-i", "-f", conf]);
  start(["slurmd", "-D", "-f", conf]);
  for (let i = 0; ; i++) {
    const state = await run(["sinfo", "-h", "-o", "%T"]).catch(() => "");
    if (state === "idle") return { run, log, [Symbol.asyncDispose]: stop };
    if (i === 2000 || daemons.some(({ exitCode }) => exitCode !== null)) {
      const said = await log();
      await stop();
      throw new Error(`no Slurm (node is "${state}"): ${said.slice(-3000)}`);
    }
    await Bun.sleep(100);
  }
}
