import type { Command } from "./command-line.ts";
import { type FarmStatus, readStatus } from "../farm/index.ts";
import { Problem } from "../problem.ts";
import { size } from "../platform/check-result.ts";
import { accountTable, minuteOf } from "./account-table.ts";

export const farm: Command = {
  name: "farm",
  summary: "Show the queue, the server and the workers of a farm, and what does not go together.",
  operands: "status",
  flags: [{ name: "--json", sentence: "Print all of it as JSON." }],
  settings: ["queue", "queue_ca"],
  example:
    "labd farm status --config /etc/labd/labd.toml\n" +
    "Reads Redis alone, so it works beside the server, beside a worker, or without either.",
  async run(call) {
    if (call.operands.length !== 1 || call.operands[0] !== "status")
      throw new Problem("usage", "labd farm has one operand: status. See labd farm --help.");
    const { config } = call.configuration();
    if (config.queue === "")
      throw new Problem(
        "usage",
        "labd farm needs the queue: --queue redis://user:password@host:6379/0, LABD_QUEUE or the settings file. See labd farm --help.",
      );
    const status = await readStatus({ url: config.queue, ca: config.queue_ca });
    process.stdout.write(call.has("--json") ? `${JSON.stringify(status, null, 2)}\n` : shown(status));
    return 0;
  },
};

function shown({ queue, redis, server, farm: state, workers, mixed }: FarmStatus): string {
  const places = workers.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const busy = workers.reduce((sum, { jobs }) => sum + jobs.length, 0);
  const lines = [
    `queue    ${queue}, ${redis.product} ${redis.version}, ${size(redis.memory)}, ${redis.policy}, appendonly ${redis.appendonly ? "yes" : "no"}`,
    server === null
      ? "server   none has used this queue yet"
      : `server   ${server.host} (process ${server.pid}), labd ${server.version} (${server.commit}), method ${server.scoringVersion.method.split(" ")[0]}, corpus ${server.corpusName ?? "none"}${state ? "" : ": NOT THERE"}`,
  ];
  if (state) {
    const waits = state.oldest === null ? "" : `, the oldest for ${seconds(Date.now() - state.oldest)}`;
    const { finished, failed, late, returned, lost } = state.counts;
    lines.push(
      `jobs     ${state.backlog} wait${waits}, ${state.waiting} of them in the queue; workers have ${state.running}; the server's own workers ${state.poolWorks ? "score" : "rest"}`,
      `so far   ${finished} finished, ${failed} failed, ${late} handed in twice, ${returned} given back or lost by workers, ${lost} lost from the queue`,
    );
    if (state.cause !== null) lines.push(`problem  ${state.cause}`);
  }
  lines.push(`workers  ${workers.length} with ${places} places, ${busy} of them busy`);
  for (const sentence of mixed) lines.push(`mixed    ${sentence}`);
  let text = `${lines.join("\n")}\n`;
  if (workers.length > 0) {
    const rows = workers.map((worker) => [
      worker.name,
      worker.host,
      worker.version,
      `${worker.jobs.length}/${worker.concurrency}`,
      String(worker.counts.finished),
      String(worker.counts.failed),
      String(worker.counts.returned),
      size(worker.memory),
      minuteOf(worker.since),
      worker.fits ? "works" : worker.draining ? "drains" : "takes no work",
    ]);
    const head = ["WORKER", "HOST", "LABD", "BUSY", "DONE", "FAILED", "BACK", "MEMORY", "SINCE", "STATE"];
    text += `\n${accountTable(head, rows)}`;
  }
  const jobs = workers.flatMap(({ name, jobs: held }) => held.map((job) => ({ name, ...job })));
  if (jobs.length > 0) {
    const rows = jobs.map(({ id, name, stage, fraction, since }) => [
      id,
      name,
      `${stage} ${Math.floor(fraction * 100)} %`,
      seconds(Date.now() - since),
    ]);
    text += `\n${accountTable(["JOB", "WORKER", "PROGRESS", "FOR"], rows)}`;
  }
  return text;
}

const seconds = (milliseconds: number): string => `${Math.max(0, Math.round(milliseconds / 1000))} s`;
