import { type FarmStatus, readStatus } from "../farm/index.ts";
import { size } from "../platform/check-result.ts";
import { Problem } from "../problem.ts";
import type { Command } from "./command.ts";
import { formatMinute, textTable } from "./text-table.ts";

export const farm: Command = {
  name: "farm",
  summary: "Show the queue, the server and the workers of a farm, and mismatches between them.",
  settings: ["queue", "ca_file"],
  example:
    "labd farm status --config /etc/labd/labd.toml\nIt reads Redis only, so it works without the server.",
  actions: {
    status: {
      summary: "Print the status.",
      flags: { "--json": "Print the status as JSON." },
      async run(call) {
        const { config } = call.configuration();
        if (config.queue === "")
          throw new Problem(
            "usage",
            "labd farm needs the address of the queue: --queue redis://user:password@host:6379/0, LABD_QUEUE or the settings file. See labd farm --help.",
          );
        const status = await readStatus({ url: config.queue, ca: config.ca_file });
        await (call.has("--json") ? call.printJson(status) : call.print(report(status)));
      },
    },
  },
};

function report(status: FarmStatus): string {
  const { queue, redis, workers, mixed } = status;
  const slots = workers.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const busy = workers.reduce((sum, { jobs }) => sum + jobs.length, 0);
  const building = workers.reduce((sum, { families }) => sum + families.length, 0);
  const lines = [
    `queue    ${queue}, ${redis.product} ${redis.version}, ${size(redis.memory)}, ${redis.policy}, appendonly ${redis.appendonly ? "yes" : "no"}`,
    ...serverLines(status),
    `workers  ${workers.length} with ${slots} slots, ${busy} busy${building > 0 ? `, ${building} computing families for a build` : ""}`,
    ...mixed.map((sentence) => `mixed    ${sentence}`),
  ];
  return [`${lines.join("\n")}\n`, ...workerTables(workers)].join("\n");
}

function serverLines({ server, farm }: FarmStatus): string[] {
  if (server === null) return ["server   no server has used this queue yet"];
  const { host, pid, version, commit, scoringVersion, corpusName } = server;
  const about = `server   ${host} (process ${pid}), labd ${version} (${commit}), method ${scoringVersion.method.split(" ")[0]}, corpus ${corpusName ?? "none"}`;
  if (!farm) return [`${about}: NOT RUNNING`];
  const oldest = farm.oldest === null ? "" : `, the oldest for ${secondsAgo(farm.oldest)}`;
  const { finished, failed, late, returned, lost } = farm.counts;
  return [
    about,
    `jobs     ${farm.backlog} waiting${oldest}, ${farm.waiting} of them in the queue; workers have ${farm.running}; the server's own workers are ${farm.poolWorks ? "active" : "idle"}`,
    `totals   ${finished} finished, ${failed} failed, ${late} delivered twice, ${returned} returned or lost by workers, ${lost} lost from the queue`,
    ...(farm.cause === null ? [] : [`problem  ${farm.cause}`]),
  ];
}

function workerTables(workers: FarmStatus["workers"]): string[] {
  const tables = [];
  if (workers.length > 0) {
    const head = ["WORKER", "HOST", "LABD", "BUSY", "DONE", "FAILED", "RETURNED", "MEMORY", "SINCE", "STATE"];
    const rows = workers.map((worker) => [
      worker.name,
      worker.host,
      worker.version,
      `${worker.jobs.length}/${worker.concurrency}`,
      String(worker.counts.finished),
      String(worker.counts.failed),
      String(worker.counts.returned),
      size(worker.memory),
      formatMinute(worker.since),
      worker.fits ? "working" : worker.draining ? "draining" : "not accepting jobs",
    ]);
    tables.push(textTable(head, rows));
  }
  const jobs = workers.flatMap(({ name, jobs }) =>
    jobs.map(({ id, stage, fraction, since }) => [
      id,
      name,
      `${stage} ${Math.floor(fraction * 100)} %`,
      secondsAgo(since),
    ]),
  );
  if (jobs.length > 0) tables.push(textTable(["JOB", "WORKER", "PROGRESS", "FOR"], jobs));
  return tables;
}

const secondsAgo = (time: number): string => `${Math.max(0, Math.round((Date.now() - time) / 1000))} s`;
