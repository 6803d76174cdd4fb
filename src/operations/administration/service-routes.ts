import { statfsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Type } from "typebox";
import { timestamp } from "../../platform/clock.ts";
import { operation } from "../../platform/operation.ts";
import { pageSchema, singlePage } from "../../platform/page.ts";
import { answerSchema } from "../../platform/schema.ts";
import { pluralize } from "../../platform/words.ts";
import { Problem } from "../../problem.ts";
import type { Report } from "../../tasks/task.ts";
import { knownBackups } from "../backup/places.ts";
import { type AdministrationContext, startTask, taskRow, TaskSchema } from "./context.ts";
import { runCommand } from "./self-command.ts";
import { ADMINISTRATION_TASKS } from "./tasks.ts";

const Text = Type.String();
const Count = Type.Integer();

const Backup = Type.Object(
  {
    name: Text,
    place: Type.String({ description: "Path or address." }),
    created: Text,
    reason: Type.Enum(["asked", "schedule", "upgrade"]),
    labd: Type.String({ description: "Version of labd that made it." }),
    bytes: Type.Integer({ description: "Size of the database." }),
    compressed_bytes: Count,
    rows: Type.Integer({ description: "Rows of all tables." }),
    corpora: Type.Integer({ description: "Number of corpora in the backup." }),
  },
  { $id: "Backup" },
);
const Backups = answerSchema(
  "Newest first, with their locations; also the destination and the interval of new backups.",
  {
    directory: Type.String({ description: "Where new backups go." }),
    hours: Type.Number({ description: "Hours between backups; 0 for none." }),
    results: Type.Array(Backup),
  },
  "Backups",
);

const startsTask = {
  access: "administrator",
  status: 202,
  returns: TaskSchema,
  errors: [409],
} as const;

export const backupOperations = [
  operation("GET /api/admin/backups", {
    access: "administrator",
    summary: "List the backups",
    returns: Backups,
    run: (_, { backupDirectory, backupHours, dataDirectory }: AdministrationContext) => ({
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
  }),
  operation("POST /api/admin/backups", {
    ...startsTask,
    summary: "Make a backup now",
    run: ({ caller }, context: AdministrationContext) =>
      startTask(context, caller, "backup", "", async (report) => {
        const { backupDirectory, dataDirectory } = context;
        report.say("Copying, checking, compressing and reading back.");
        const words = ["backup", "--to", backupDirectory, "--data-dir", dataDirectory];
        const { stdout } = await runCommand(words, report, { environment: context.environment() });
        return { message: `${basename(stdout.split("\n")[0])} was made, checked and read back.` };
      }),
  }),
  operation("POST /api/admin/backups/:name/verify", {
    ...startsTask,
    summary: "Verify a backup",
    description: "Unpacks and checks it.",
    params: { name: ["Name of the manifest of the backup.", "labd-20260131T093000Z.json"] },
    errors: [404, 409],
    run({ caller, params: { name } }, context: AdministrationContext) {
      const { backupDirectory, dataDirectory } = context;
      const backups = knownBackups(dataDirectory, backupDirectory);
      const found = backups.find(({ path }) => basename(path) === name);
      if (!found) throw new Problem("not_found", "No backup has this name.");
      return startTask(context, caller, "backup-verify", name, async (report) => {
        report.say("Unpacking and reading the whole backup.");
        const words = ["restore", "--check", found.path, "--data-dir", dataDirectory];
        await runCommand(words, report, { environment: context.environment() });
        return { message: `${name} is intact and can be restored.` };
      });
    },
  }),
];

const Health = answerSchema(
  "Version, uptime in seconds, and sizes in bytes of disk, database and memory.",
  {
    version: Text,
    commit: Text,
    uptime: Type.Number(),
    now: Text,
    data_directory: Text,
    disk: Type.Object({ free: Count, size: Count }),
    database: Type.Object({ bytes: Count, log: Count }),
    memory: Count,
  },
  "ServerState",
);

export const healthOperations = [
  operation("GET /api/admin/health", {
    access: "administrator",
    summary: "Show the state of the server",
    returns: Health,
    run(_, { clock, dataDirectory, database, version, commit }: AdministrationContext) {
      const { bavail, blocks, bsize } = statfsSync(dataDirectory);
      return {
        version,
        commit,
        uptime: process.uptime(),
        now: timestamp(clock.now()),
        data_directory: dataDirectory,
        disk: { free: bavail * bsize, size: blocks * bsize },
        database: { bytes: readSize(database), log: readSize(`${database}-wal`) },
        memory: process.memoryUsage.rss(),
      };
    },
  }),
  operation("POST /api/admin/health/examination", {
    ...startsTask,
    summary: "Examine the server",
    description: "Runs the checks of `labd doctor`; the task's result has the findings.",
    run: ({ caller }, context: AdministrationContext) =>
      startTask(context, caller, "examination", "", (report) => examine(context, report)),
  }),
];

const readSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

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
    pluralize(findings.filter((finding) => finding.state === state).length, noun);
  return {
    message: `${count("problem", "problem")}, ${count("warning", "warning")}, ${count("ok", "check")} passed.`,
    result: findings,
  };
}

const taskAccess = {
  access: "administrator",
  params: { id: "Identifier of the task or job." },
  returns: TaskSchema,
  errors: [404],
} as const;

export const taskOperations = [
  operation("GET /api/admin/tasks", {
    access: "administrator",
    summary: "List tasks",
    returns: pageSchema("Tasks that administrators started, newest first.", TaskSchema),
    run: (_, { tasks }: AdministrationContext) => singlePage(tasks.list(ADMINISTRATION_TASKS).map(taskRow)),
  }),
  operation("GET /api/admin/tasks/:id", {
    ...taskAccess,
    summary: "Show a task",
    run: ({ params }, { tasks }: AdministrationContext) =>
      taskRow(tasks.find(params.id, ADMINISTRATION_TASKS)),
  }),
  operation("DELETE /api/admin/tasks/:id", {
    ...taskAccess,
    summary: "Cancel a task",
    errors: [404, 409],
    run: async ({ params }, { tasks }: AdministrationContext) =>
      taskRow(await tasks.cancel(params.id, ADMINISTRATION_TASKS)),
  }),
];
