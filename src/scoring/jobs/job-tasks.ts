import type { Database } from "../../platform/sqlite.ts";
import type { Task, TaskSource } from "../../tasks/task.ts";
import type { Handlers } from "./handlers.ts";
import type { State } from "./job.ts";
import type { Progress } from "./pool-options.ts";

interface Row extends Pick<Task, "id" | "client" | "owner" | "created" | "started" | "ended"> {
  subject: string | null;
  state: State;
}

const SELECT = `SELECT id, coalesce(json_extract(request, '$.identifier'), '') AS subject, client,
  coalesce(owner, client) AS owner, state, submitted AS created, started, ended FROM job`;

/** Jobs of the owner with key ?1, which begins with ?2: the index job_owner has the beginnings. */
const IS_OF_OWNER = "substr(coalesce(owner, client), 1, 8) = ?2 AND coalesce(owner, client) = ?1";

/** Jobs of batches, whose tasks they belong to, are known by their idempotency key. */
const IS_ALONE = `NOT (coalesce(idempotency_key, '') GLOB 'batch *'
  AND EXISTS (SELECT 1 FROM task WHERE task.id = substr(job.idempotency_key, 7, 36)))`;

/** The part of a job that is done when a step begins. */
const BEGINS: Record<Progress["stage"], number> = { start: 0, homologs: 0, tree: 1 / 3, scores: 2 / 3 };

/** Jobs as tasks. They keep their table and their pool. */
export function jobTasks(database: Database, handlers: Handlers): TaskSource {
  const show = ({ subject, ...job }: Row): Task => {
    const progress = job.state === "running" ? handlers.progress(job.id) : null;
    const running = progress && BEGINS[progress.stage] + progress.fraction / 3;
    return {
      ...job,
      kind: "job",
      subject: subject ?? "",
      // The place of each in the queue would take long to count.
      message: job.state === "queued" ? "Waiting." : handlers.getStatus(job.id).details,
      fraction: job.state === "finished" ? 1 : running,
      result: null,
    };
  };
  const select = (condition: string, ...values: (string | number)[]): Row[] =>
    database.query(`${SELECT} ${condition}`).all(...values) as Row[];
  const find = (id: string): Task | null => {
    const [row] = select("WHERE id = ?", id);
    return row ? { ...show(row), message: handlers.getStatus(id).details } : null;
  };
  return {
    kind: { name: "job", title: "Scoring", readers: "link", path: (id) => `/api/scoring/jobs/${id}` },
    list: (keys, limit) =>
      (keys === null
        ? select(`WHERE ${IS_ALONE} ORDER BY rid DESC LIMIT ?`, limit)
        : keys.flatMap((key) =>
            // One key at a time, whose jobs the index job_owner has in their order.
            select(
              `WHERE ${IS_OF_OWNER} AND ${IS_ALONE} ORDER BY rid DESC LIMIT ?3`,
              key,
              key.slice(0, 8),
              limit,
            ),
          )
      ).map(show),
    count(keys, limit) {
      const rows = `SELECT 1 FROM job WHERE ${IS_OF_OWNER} AND ${IS_ALONE} LIMIT ?3`;
      const counts = keys.map((key) =>
        database.query(`SELECT count(*) AS count FROM (${rows})`).get(key, key.slice(0, 8), limit),
      ) as { count: number }[];
      return counts.reduce((sum, { count }) => sum + count, 0);
    },
    find,
    cancel(id) {
      handlers.cancel(id);
      return find(id)!;
    },
  };
}
