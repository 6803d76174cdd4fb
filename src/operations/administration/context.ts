import { type TSchema, Type } from "typebox";
import type { Accounts } from "../../accounts/accounts.ts";
import type { SignedIn } from "../../platform/actor.ts";
import { answers } from "../../accounts/responses.ts";
import { guardedRoutes } from "../../accounts/route-guards.ts";
import type { FarmState } from "../../farm/index.ts";
import { type Clock, timestamp, timestampOrNull } from "../../platform/clock.ts";
import type { ErrorStatus } from "../../platform/error-responses.ts";
import { nullable, schema } from "../../platform/schema.ts";
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

export const plugin = (name: string, { accounts }: AdministrationContext) =>
  guardedRoutes(name, "administration", accounts);

/** The guard and the documentation of a route for administrators. */
export const administrators = <Success extends Record<number, TSchema>>(
  summary: string,
  success: Success,
  failures: ErrorStatus[] = [],
  description?: string,
) => ({
  administrator: true as const,
  ...answers(description === undefined ? summary : { summary, description }, success, 401, 403, ...failures),
});

/** An object that the routes build, documented by a sentence. */
export const objectSchema = (description: string) => schema(Type.Object({}, { description }));

/** The schema of a task. */
export const TaskRow = schema(
  Type.Object(
    {
      id: Type.String(),
      kind: Type.Enum([...ADMINISTRATION_TASKS]),
      subject: Type.String(),
      by: Type.String(),
      state: Type.Enum(["running", "done", "failed", "cancelled"]),
      started: Type.String(),
      ended: nullable(Type.String()),
      said: Type.String({ description: "Current activity, or the outcome." }),
      fraction: nullable(Type.Number()),
      result: Type.Unknown(),
    },
    { $id: "AdministrationTask", description: "The task." },
  ),
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
  subject,
  by: client.replace(/^user /, ""),
  // This address has another word for finished than /api/tasks/, and its tasks neither wait nor expire.
  state: state === "finished" ? ("done" as const) : (state as "running" | "failed" | "cancelled"),
  started: timestamp(created),
  ended: timestampOrNull(ended),
  said: message,
  fraction,
  result,
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
