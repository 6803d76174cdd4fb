import { Type } from "typebox";
import type { Accounts } from "../../accounts/accounts.ts";
import type { SignedIn } from "../../platform/actor.ts";
import type { FarmState } from "../../farm/index.ts";
import type { CheckResult } from "../../platform/check-result.ts";
import { type Clock, timestamp, timestampOrNull } from "../../platform/clock.ts";
import { answerSchema, nullable } from "../../platform/schema.ts";
import type { Scoring } from "../../scoring/index.ts";
import type { Outcome, Report, Task } from "../../tasks/task.ts";
import type { Tasks } from "../../tasks/tasks.ts";
import { ADMINISTRATION_TASKS, type AdministrationTask, administrationTask } from "./tasks.ts";

/** The parts of the program that administrators look after. */
export interface AdministrationContext {
  accounts: Accounts;
  scoring: Scoring;
  /** The state of the farm; null without one. */
  farm: () => FarmState | null;
  clock: Clock;
  tasks: Tasks;
  version: string;
  commit: string;
  dataDirectory: string;
  /** Path of the database. */
  database: string;
  backupDirectory: string;
  /** Hours between backups; 0 for none. */
  backupHours: number;
  /** The settings as variables, for commands that run beside the server. */
  environment: () => Record<string, string>;
}

const Finding = Type.Object({
  about: Type.String(),
  state: Type.Enum(["ok", "warning", "problem"]),
  found: Type.String(),
  remedy: Type.Optional(Type.String()),
});

/** The schema of a task. */
export const TaskSchema = answerSchema(
  "The task.",
  {
    id: Type.String(),
    kind: Type.Enum([...ADMINISTRATION_TASKS]),
    title: Type.String({ description: "The action of the task in words, before the subject." }),
    subject: Type.String(),
    by: Type.String(),
    state: Type.Enum(["running", "done", "failed", "cancelled"]),
    started: Type.String(),
    ended: nullable(Type.String()),
    said: Type.String({ description: "Current activity, or the outcome." }),
    fraction: nullable(Type.Number()),
    result: nullable(Type.Array(Finding), { description: "Findings of the check; null for other tasks." }),
  },
  "AdministrationTask",
);

export const taskRow = ({
  id,
  kind,
  subject,
  client,
  state,
  created,
  ended,
  message,
  fraction,
  result,
}: Task) => ({
  id,
  kind: kind as AdministrationTask,
  title: administrationTask(kind as AdministrationTask).title,
  subject,
  by: client.replace(/^user /, ""),
  // This address has another word for finished than /api/tasks/, and its tasks neither wait nor expire.
  state: state === "finished" ? ("done" as const) : (state as "running" | "failed" | "cancelled"),
  started: timestamp(created),
  ended: timestampOrNull(ended),
  said: message,
  fraction,
  // Only examinations have findings.
  result: result as CheckResult[] | null,
});

/** Starts a task for the caller. @throws Problem conflict where one of the kind runs */
export const startTask = (
  { tasks }: AdministrationContext,
  { username }: SignedIn,
  kind: AdministrationTask,
  subject: string,
  work: (report: Report) => Promise<Outcome>,
) =>
  taskRow(
    tasks.start(administrationTask(kind), { subject, client: `user ${username}` }, (_, report) =>
      work(report),
    ),
  );
