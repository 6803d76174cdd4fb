import { ANONYMOUS } from "../../platform/actor.ts";
import type { Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import type { Task, TaskSource, TaskState } from "../../tasks/task.ts";
import type { Imports, ImportStatus } from "./imports.ts";

const STATES: Record<ImportStatus["state"], TaskState> = {
  waiting: "queued",
  reading: "running",
  writing: "running",
  finished: "finished",
  refused: "failed",
  failed: "failed",
  cancelled: "cancelled",
};
const ADMINISTRATOR = { ...ANONYMOUS, superuser: true };

/** Imports as tasks of the users who started them. They keep their lock, thread and rollback, and their table. */
export function importTasks(imports: Imports, database: Database): TaskSource {
  const listImports = (key: string): ImportStatus[] => {
    const user = database.query("SELECT rid FROM user_account WHERE 'user ' || username = ?").get(key) as {
      rid: number;
    } | null;
    return user ? imports.list({ ...ANONYMOUS, user: user.rid }) : [];
  };
  const find = (id: string): ImportStatus | null => {
    try {
      return imports.get(id, ADMINISTRATOR);
    } catch (error) {
      if (error instanceof Problem && error.code === "not_found") return null;
      throw error;
    }
  };
  return {
    kind: { name: "import", title: "Importing", readers: "owner", path: (id) => `/api/v2/imports/${id}/` },
    list: (keys, limit) =>
      (keys === null ? imports.list(ADMINISTRATOR) : keys.flatMap(listImports)).slice(0, limit).map(toTask),
    find(id) {
      const status = find(id);
      return status && toTask(status);
    },
    cancel: async (id) => toTask(await imports.cancel(id, ADMINISTRATOR)),
  };
}

function toTask({ id, resource, user, state, created, ended, message, rows, ...status }: ImportStatus): Task {
  const owner = `user ${user}`;
  const isWriting = state === "writing" && rows !== null;
  const activity = isWriting
    ? `${status.rows_checked} of ${rows} rows checked.`
    : `${status.rows_read} rows read.`;
  return {
    id,
    kind: "import",
    subject: resource,
    client: owner,
    owner,
    state: STATES[state],
    created: Date.parse(created),
    started: null,
    ended: ended === null ? null : Date.parse(ended),
    message: message ?? (state === "waiting" ? "Waiting." : activity),
    fraction: state === "finished" ? 1 : isWriting ? status.rows_checked / Math.max(1, rows) : null,
    result: null,
  };
}
