import { statfsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { knownBackups } from "../backup/places.ts";
import { Problem } from "../../problem.ts";
import { type State, STATES } from "../../scoring/index.ts";
import { type AdministrationContext, nameOf, printTask, started } from "./administered.ts";
import {
  withTimestamps,
  describeOperation,
  noContent,
  type Endpoint,
  timestamp,
  json,
  list,
  parameter,
} from "../../accounts/endpoint.ts";
import { runCommand } from "./self-command.ts";

const JOBS_SHOWN = 100;

/** Jobs and workers. */
export function jobEndpoints({ accounts, scoring, clock }: AdministrationContext): Endpoint[] {
  return [
    {
      path: "/api/admin/jobs",
      methods: {
        GET: {
          detail: describeOperation("Jobs and workers", {
            parameters: [parameter("query", "state", `One of ${STATES.join(", ")}; without it all.`)],
            answers: {
              200: `Counts by state, the newest ${JOBS_SHOWN} jobs, what each worker does, and memory in bytes.`,
            },
            refusals: [400, 401, 403],
          }),
          answer({ query }) {
            const state = query.get("state") || undefined;
            if (state !== undefined && !STATES.includes(state as State))
              throw new Problem("invalid_request", `state: expected one of ${STATES.join(", ")}.`);
            const oldest = scoring.oldestQueued();
            const { memoryLimit } = scoring.workers();
            return json({
              counts: scoring.counts(),
              queue_seconds: oldest === null ? 0 : Math.max(0, (clock.now() - oldest) / 1000),
              memory: { bytes: process.memoryUsage.rss(), limit: memoryLimit },
              workers: scoring.workerStatuses(),
              results: scoring
                .recentJobs(JOBS_SHOWN, state as State | undefined)
                .map((job) => withTimestamps(job, "submitted", "started", "ended")),
            });
          },
        },
      },
    },
    {
      path: "/api/admin/jobs/:id",
      methods: {
        DELETE: {
          detail: describeOperation("Call a job off", {
            parameters: [parameter("path", "id", "Identifier of the job.")],
            answers: { 204: "Done." },
            refusals: [401, 403, 404, 409],
          }),
          answer({ params }) {
            scoring.cancel(params.id);
            accounts.audit.log.record({ action: "job.cancel", subject: { kind: "job", id: params.id } });
            return noContent();
          },
        },
      },
    },
  ];
}

/** Backups: made and looked at; what to do with them is for the shell. */
export function backupEndpoints(service: AdministrationContext): Endpoint[] {
  const { tasks, backupDirectory, backupHours, dataDirectory } = service;
  return [
    {
      path: "/api/admin/backups",
      methods: {
        GET: {
          detail: describeOperation("The backups", {
            answers: {
              200: "The newest first, each with its place; where they go, a directory or s3://…, and how often one is made.",
            },
          }),
          answer: () =>
            json({
              directory: backupDirectory,
              hours: backupHours,
              results: knownBackups(dataDirectory, backupDirectory)
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
        },
        POST: {
          detail: describeOperation("Make a backup now", {
            answers: { 202: "The task that does." },
            refusals: [401, 403, 409],
          }),
          answer: ({ request }) =>
            started(
              tasks.start({ kind: "backup", subject: "", by: nameOf(service, request) }, async (report) => {
                report.say("Copying, checking, compressing and reading back.");
                const words = ["backup", "--to", backupDirectory, "--data-dir", dataDirectory];
                const { stdout } = await runCommand(words, report, { environment: service.environment() });
                return { said: `${basename(stdout.split("\n")[0])} is made, checked and read back.` };
              }),
            ),
        },
      },
    },
    {
      path: "/api/admin/backups/:name/verify",
      methods: {
        POST: {
          detail: describeOperation("Unpack a backup and look at all of it", {
            parameters: [parameter("path", "name", "Of its manifest.")],
            answers: { 202: "The task that does." },
            refusals: [401, 403, 404, 409],
          }),
          answer({ request, params: { name } }) {
            const found = knownBackups(dataDirectory, backupDirectory).find(
              ({ path }) => basename(path) === name,
            );
            if (!found) throw new Problem("not_found", "There is no such backup.");
            return started(
              tasks.start(
                { kind: "backup-verify", subject: name, by: nameOf(service, request) },
                async (report) => {
                  report.say("Unpacking and reading all of it.");
                  const words = ["restore", "--check", found.path, "--data-dir", dataDirectory];
                  await runCommand(words, report, { environment: service.environment() });
                  return { said: `${name} is whole and can be restored.` };
                },
              ),
            );
          },
        },
      },
    },
  ];
}

/** How the service is, and the tasks. */
export function healthEndpoints(service: AdministrationContext): Endpoint[] {
  const { tasks, clock, dataDirectory, database } = service;
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return [
    {
      path: "/api/admin/health",
      methods: {
        GET: {
          detail: describeOperation("How the service is", {
            answers: { 200: "Version, seconds that it runs, and bytes of disk, database and memory." },
          }),
          answer() {
            const { bavail, blocks, bsize } = statfsSync(dataDirectory);
            return json({
              version: service.version,
              commit: service.commit,
              uptime: process.uptime(),
              now: timestamp(clock.now()),
              data_directory: dataDirectory,
              disk: { free: bavail * bsize, size: blocks * bsize },
              database: { bytes: sizeOf(database), log: sizeOf(`${database}-wal`) },
              memory: process.memoryUsage.rss(),
            });
          },
        },
      },
    },
    {
      path: "/api/admin/health/examination",
      methods: {
        POST: {
          detail: describeOperation("Look at everything that labd doctor looks at", {
            answers: { 202: "The task; its result has the findings." },
            refusals: [401, 403, 409],
          }),
          answer: ({ request }) =>
            started(
              tasks.start(
                { kind: "examination", subject: "", by: nameOf(service, request) },
                async (report) => {
                  report.say("Looking at settings, disk, database, corpora and backups.");
                  const { stdout } = await runCommand(["doctor", "--format", "json"], report, {
                    environment: service.environment(),
                    well: [0, 1, 2],
                  });
                  const findings = (JSON.parse(stdout) as { about: string; state: string }[]).filter(
                    // That it answers is seen by this.
                    ({ about }) => about !== "server",
                  );
                  const count = (state: string): number =>
                    findings.filter((one) => one.state === state).length;
                  return {
                    said: `${count("problem")} problems, ${count("warning")} warnings, ${count("ok")} things are well.`,
                    result: findings,
                  };
                },
              ),
            ),
        },
      },
    },
    {
      path: "/api/admin/tasks",
      methods: {
        GET: {
          detail: describeOperation("Tasks that administrators started", {
            answers: { 200: "The newest first: state, how far, and what became of them." },
          }),
          answer: () => list(tasks.list().map(printTask)),
        },
      },
    },
    {
      path: "/api/admin/tasks/:id",
      methods: {
        GET: {
          detail: describeOperation("One task", {
            parameters: [parameter("path", "id", "Its identifier.")],
            answers: { 200: "It." },
            refusals: [401, 403, 404],
          }),
          answer: ({ params }) => json(printTask(tasks.find(params.id))),
        },
        DELETE: {
          detail: describeOperation("Call a task off", {
            parameters: [parameter("path", "id", "Its identifier.")],
            answers: { 200: "It, ended." },
            refusals: [401, 403, 404, 409],
          }),
          answer: async ({ params }) => json(printTask(await tasks.cancel(params.id))),
        },
      },
    },
  ];
}
