import { type Static, Type } from "typebox";
import { type FarmState, POOL_MODES } from "../../farm/index.ts";
import { timestamp, timestampOrNull } from "../../platform/clock.ts";
import { readOwnMemory } from "../../platform/memory.ts";
import { operation } from "../../platform/operation.ts";
import { answerSchema, nullable } from "../../platform/schema.ts";
import { type Scoring, STATES } from "../../scoring/index.ts";
import type { AdministrationContext } from "./context.ts";

const JOBS_SHOWN = 100;

const Text = Type.String();
const NullableText = nullable(Text);
const Count = Type.Integer();

const JobQuery = Type.Object({
  state: Type.Optional(Type.Enum(["", ...STATES], { description: "Only jobs in this state." })),
});
const Job = Type.Object(
  {
    id: Text,
    state: Type.Enum([...STATES]),
    client: Type.String({ description: "User or network address." }),
    submitted: Text,
    started: NullableText,
    ended: NullableText,
    failure: nullable(Text, { description: "Reason of a failure." }),
    attempts: Count,
    name: nullable(Text, { description: "The client's name for the query." }),
    residues: nullable(Count, { description: "Length of the query; null once the job has expired." }),
  },
  { $id: "AdministrationJob" },
);
const Worker = Type.Object({
  alive: Type.Boolean({ description: "Whether the worker has been started." }),
  job: nullable(Text, { description: "The job that it scores." }),
  helps: nullable(Text, { description: "The job whose search it helps with." }),
  progress: nullable(
    Type.Object({ stage: Type.Enum(["start", "homologs", "tree", "scores"]), fraction: Type.Number() }),
  ),
});
const Jobs = answerSchema(
  `Counts by state, the newest ${JOBS_SHOWN} jobs, the workers, and memory in bytes.`,
  {
    counts: Type.Record(Type.Enum([...STATES]), Count),
    queue_seconds: Type.Number({ description: "Age of the oldest queued job." }),
    memory: Type.Object({ bytes: Count, limit: Count }),
    workers: Type.Array(Worker),
    results: Type.Array(Job),
  },
  "JobsAndWorkers",
);

const FarmWorker = Type.Object(
  {
    name: Text,
    host: Text,
    pid: Count,
    version: Text,
    commit: Text,
    method: Text,
    concurrency: Type.Integer({ description: "Concurrent jobs." }),
    corpora: Type.Array(Text, { description: "Hashes of the corpora that the worker has verified." }),
    queue: nullable(Text, { description: "The queue that it takes jobs from." }),
    refusal: nullable(Text, { description: "Why the worker accepts no jobs." }),
    draining: Type.Boolean(),
    jobs: Type.Array(Type.Object({ id: Text, stage: Text, fraction: Type.Number(), since: Text })),
    families: Type.Array(Text, { description: "Tasks of builds that it has." }),
    counts: Type.Object({ finished: Count, failed: Count, returned: Count }),
    memory: Type.Integer({ description: "Bytes of memory of the process." }),
    since: Text,
    fits: Type.Boolean({ description: "Whether the worker accepts jobs now." }),
  },
  { $id: "FarmWorker" },
);
const NoFarm = Type.Object({ enabled: Type.Literal(false) }, { description: "The server has no queue." });
const FarmOn = Type.Object({
  enabled: Type.Literal(true),
  queue: Type.String({ description: "Address of the queue, without user and password." }),
  mode: Type.Enum([...POOL_MODES]),
  state: Type.Enum(["there", "away", "taken", "refuses"]),
  cause: nullable(Text, { description: "Reason of the state; null for there." }),
  pool_works: Type.Boolean({ description: "Whether workers of the server's process may take jobs now." }),
  backlog: Type.Integer({ description: "Jobs that nobody has started." }),
  oldest: nullable(Text, { description: "When the oldest waiting job was submitted." }),
  waiting: Type.Integer({ description: "Jobs in the queue." }),
  running: Type.Integer({ description: "Jobs that workers are running." }),
  counts: Type.Object({
    offered: Count,
    finished: Count,
    failed: Count,
    late: Count,
    returned: Count,
    lost: Count,
  }),
  workers: Type.Array(FarmWorker),
  mixed: Type.Array(Text, { description: "Workers that do not match the server." }),
});
const Farm = Type.Union([FarmOn, NoFarm], {
  $id: "Farm",
  description:
    "Its queue and workers, and mismatches between them; only `enabled`, false, if the server has no queue (setting queue).",
});

/** Jobs, workers and the farm. */
export const jobOperations = [
  operation("GET /api/admin/jobs", {
    access: "administrator",
    summary: "List jobs and workers",
    query: JobQuery,
    returns: Jobs,
    run({ query }, { scoring, clock }: AdministrationContext) {
      const oldest = scoring.oldestQueued();
      return {
        counts: scoring.counts(),
        queue_seconds: oldest === null ? 0 : Math.max(0, (clock.now() - oldest) / 1000),
        memory: { bytes: readOwnMemory(), limit: scoring.workers().memoryLimit },
        workers: scoring.workerStatuses(),
        results: scoring.recentJobs(JOBS_SHOWN, query.state || undefined).map(jobRow),
      };
    },
  }),
  operation("DELETE /api/admin/jobs/:id", {
    access: "administrator",
    summary: "Cancel a job",
    params: { id: "Identifier of the task or job." },
    errors: [404, 409],
    run({ params: { id } }, { scoring, accounts }: AdministrationContext) {
      scoring.cancel(id);
      accounts.audit.log.record({ action: "job.cancel", subject: { kind: "job", id } });
    },
  }),
  operation("GET /api/admin/farm", {
    access: "administrator",
    summary: "Show the farm",
    returns: Farm,
    run: (_, { farm }: AdministrationContext) => showFarm(farm()),
  }),
];

const jobRow = (job: ReturnType<Scoring["recentJobs"]>[number]) => ({
  ...job,
  submitted: timestamp(job.submitted),
  started: timestampOrNull(job.started),
  ended: timestampOrNull(job.ended),
});
const withSince = <Row extends { since: number }>(row: Row) => ({ ...row, since: timestamp(row.since) });

function showFarm(state: FarmState | null): Static<typeof Farm> {
  if (state === null) return { enabled: false };
  const { poolWorks, oldest, workers, ...rest } = state;
  return {
    enabled: true,
    ...rest,
    pool_works: poolWorks,
    oldest: timestampOrNull(oldest),
    workers: workers.map((worker) => withSince({ ...worker, jobs: worker.jobs.map(withSince) })),
  };
}
