import { statfsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Type } from "typebox";
import { NO_CONTENT, pathSchema } from "../../accounts/responses.ts";
import type { FarmState } from "../../farm/index.ts";
import { ownMemory } from "../../platform/memory.ts";
import { pageSchema, singlePage } from "../../platform/page.ts";
import { textSchema } from "../../platform/schema.ts";
import { Problem } from "../../problem.ts";
import { type Scoring, STATES } from "../../scoring/index.ts";
import { knownBackups } from "../backup/places.ts";
import {
  type AdministrationContext,
  administrators,
  objectSchema,
  plugin,
  startTask,
  TaskRow,
  taskRow,
} from "./context.ts";
import { runCommand } from "./self-command.ts";
import type { Report } from "../../tasks/task.ts";
import { ADMINISTRATION_TASKS } from "./tasks.ts";
import { countOf } from "../../platform/words.ts";
import { timestamp, timestampOrNull } from "../../platform/clock.ts";

const JOBS_SHOWN = 100;
const Id = pathSchema({ id: ["Identifier of the task or job."] });
const Name = pathSchema({ name: ["Name of the manifest of the backup.", "labd-20260131T093000Z.json"] });
const JobQuery = textSchema(
  Type.Object({
    state: Type.Optional(Type.Enum(["", ...STATES], { description: "Only jobs in this state." })),
  }),
);

const jobRow = (job: ReturnType<Scoring["recentJobs"]>[number]) => ({
  ...job,
  submitted: timestamp(job.submitted),
  started: timestampOrNull(job.started),
  ended: timestampOrNull(job.ended),
});
const sinceRow = <Row extends { since: number }>(row: Row) => ({ ...row, since: timestamp(row.since) });
const workerRow = (worker: FarmState["workers"][number]) =>
  sinceRow({ ...worker, jobs: worker.jobs.map(sinceRow) });

export function jobRoutes(context: AdministrationContext) {
  const { accounts, scoring, clock, farm } = context;
  return plugin("administration jobs", context)
    .get(
      "/api/admin/jobs",
      ({ query }) => {
        const oldest = scoring.oldestQueued();
        return {
          counts: scoring.counts(),
          queue_seconds: oldest === null ? 0 : Math.max(0, (clock.now() - oldest) / 1000),
          memory: { bytes: ownMemory(), limit: scoring.workers().memoryLimit },
          workers: scoring.workerStatuses(),
          results: scoring.recentJobs(JOBS_SHOWN, query.state || undefined).map(jobRow),
        };
      },
      {
        ...administrators(
          "List jobs and workers",
          {
            200: objectSchema(
              `Counts by state, the newest ${JOBS_SHOWN} jobs, the workers, and memory in bytes.`,
            ),
          },
          [400],
        ),
        query: JobQuery,
      },
    )
    .delete(
      "/api/admin/jobs/:id",
      ({ params: { id } }) => {
        scoring.cancel(id);
        accounts.audit.log.record({ action: "job.cancel", subject: { kind: "job", id } });
      },
      { ...administrators("Cancel a job", NO_CONTENT, [404, 409]), params: Id },
    )
    .get(
      "/api/admin/farm",
      () => {
        const state = farm();
        if (state === null) return { enabled: false };
        const { poolWorks, oldest, workers, ...rest } = state;
        return {
          enabled: true,
          ...rest,
          pool_works: poolWorks,
          oldest: timestampOrNull(oldest),
          workers: workers.map(workerRow),
        };
      },
      administrators("Show the farm", {
        200: objectSchema(
          "Its queue and workers, and mismatches between them; only `enabled`, false, if the server has no queue (setting queue).",
        ),
      }),
    );
}

export function backupRoutes(context: AdministrationContext) {
  const { backupDirectory, backupHours, dataDirectory } = context;
  const backups = () => knownBackups(dataDirectory, backupDirectory);
  return plugin("backups", context)
    .get(
      "/api/admin/backups",
      () => ({
        directory: backupDirectory,
        hours: backupHours,
        results: backups()
          .reverse()
          .map(({ path, address, manifest: { created, reason, labd, database, corpora } }) => ({
            name: basename(path),
            place: address,
            created,
            reason,
            labd,
            bytes: database.bytes,
            compressed_bytes: database.compressedBytes,
            rows: Object.values(database.rows).reduce((sum, count) => sum + count, 0),
            corpora: corpora.length,
          })),
      }),
      administrators("List the backups", {
        200: objectSchema(
          "Newest first, with their locations; also the destination and the interval of new backups.",
        ),
      }),
    )
    .post(
      "/api/admin/backups",
      ({ actor, status }) => {
        const work = async (report: Report) => {
          report.say("Copying, checking, compressing and reading back.");
          const words = ["backup", "--to", backupDirectory, "--data-dir", dataDirectory];
          const { stdout } = await runCommand(words, report, { environment: context.environment() });
          return { message: `${basename(stdout.split("\n")[0])} was made, checked and read back.` };
        };
        return status(202, startTask(context, actor, "backup", "", work));
      },
      administrators("Make a backup now", { 202: TaskRow }, [409]),
    )
    .post(
      "/api/admin/backups/:name/verify",
      ({ actor, params: { name }, status }) => {
        const found = backups().find(({ path }) => basename(path) === name);
        if (!found) throw new Problem("not_found", "There is no such backup.");
        const work = async (report: Report) => {
          report.say("Unpacking and reading the whole backup.");
          const words = ["restore", "--check", found.path, "--data-dir", dataDirectory];
          await runCommand(words, report, { environment: context.environment() });
          return { message: `${name} is intact and can be restored.` };
        };
        return status(202, startTask(context, actor, "backup-verify", name, work));
      },
      {
        ...administrators("Verify a backup", { 202: TaskRow }, [404, 409], "Unpacks and checks it."),
        params: Name,
      },
    );
}

export function healthRoutes(context: AdministrationContext) {
  const { clock, dataDirectory, database, version, commit } = context;
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return plugin("administration health", context)
    .get(
      "/api/admin/health",
      () => {
        const { bavail, blocks, bsize } = statfsSync(dataDirectory);
        return {
          version,
          commit,
          uptime: process.uptime(),
          now: timestamp(clock.now()),
          data_directory: dataDirectory,
          disk: { free: bavail * bsize, size: blocks * bsize },
          database: { bytes: sizeOf(database), log: sizeOf(`${database}-wal`) },
          memory: process.memoryUsage.rss(),
        };
      },
      administrators("Show the state of the server", {
        200: objectSchema("Version, uptime in seconds, and sizes in bytes of disk, database and memory."),
      }),
    )
    .post(
      "/api/admin/health/examination",
      ({ actor, status }) =>
        status(
          202,
          startTask(context, actor, "examination", "", (report) => examine(context, report)),
        ),
      administrators(
        "Examine the server",
        { 202: TaskRow },
        [409],
        "Runs the checks of `labd doctor`; the task's result has the findings.",
      ),
    );
}

async function examine(context: AdministrationContext, report: Report) {
  report.say("Checking settings, disk, database, corpora and backups.");
  const { stdout } = await runCommand(["doctor", "--format", "json"], report, {
    environment: context.environment(),
    success: [0, 1, 2],
  });
  const all = JSON.parse(stdout) as { about: string; state: string }[];
  // The server is running.
  const findings = all.filter(({ about }) => about !== "server");
  const count = (state: string, noun: string): string =>
    countOf(findings.filter((finding) => finding.state === state).length, noun);
  return {
    message: `${count("problem", "problem")}, ${count("warning", "warning")}, ${count("ok", "check")} passed.`,
    result: findings,
  };
}

export function taskRoutes(context: AdministrationContext) {
  const { tasks } = context;
  const path = "/api/admin/tasks";
  return plugin("tasks", context)
    .get(
      path,
      () => singlePage(tasks.list(ADMINISTRATION_TASKS).map(taskRow)),
      administrators("List tasks", {
        200: pageSchema("Tasks that administrators started, newest first.", TaskRow),
      }),
    )
    .get(`${path}/:id`, ({ params }) => taskRow(tasks.find(params.id, ADMINISTRATION_TASKS)), {
      ...administrators("Show a task", { 200: TaskRow }, [404]),
      params: Id,
    })
    .delete(
      `${path}/:id`,
      async ({ params }) => taskRow(await tasks.cancel(params.id, ADMINISTRATION_TASKS)),
      {
        ...administrators("Cancel a task", { 200: TaskRow }, [404, 409]),
        params: Id,
      },
    );
}
