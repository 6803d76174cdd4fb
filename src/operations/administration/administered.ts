import type { FarmState } from "../../farm/index.ts";
import type { Scoring } from "../../scoring/index.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Clock } from "../../platform/clock.ts";
import { withTimestamps, json } from "../../accounts/endpoint.ts";
import type { Task, Tasks } from "./tasks.ts";

/** What the administration is about. */
export interface AdministrationContext {
  accounts: Accounts;
  scoring: Scoring;
  /** The farm as it is; null where there is none. */
  farm: () => FarmState | null;
  clock: Clock;
  tasks: Tasks;
  version: string;
  commit: string;
  dataDirectory: string;
  /** Path of the database. */
  database: string;
  backupDirectory: string;
  /** Hours from one backup to the next; 0 for none. */
  backupHours: number;
  /** The settings as variables, for commands that run beside the server. */
  environment: () => Record<string, string>;
}

export const printTask = (task: Task): object => withTimestamps(task, "started", "ended");

/** The answer to what began a task. */
export const started = (task: Task): Response => json(printTask(task), 202);

/** Who asks; an administrator, or it would not have come so far. */
export const nameOf = ({ accounts }: AdministrationContext, request: Request): string =>
  accounts.authenticate(request).username!;
