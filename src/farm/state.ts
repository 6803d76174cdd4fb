import type { Redis } from "ioredis";
import { CLAIM, CLAIM_LIFE, PREFIX, type ServerRecord, type WorkerRecord } from "./redis-records.ts";

/** Whether the pool of the server's process works beside the farm. */
export const POOL_MODES = ["away", "always", "never"] as const;
export type PoolMode = (typeof POOL_MODES)[number];

/** What became of jobs since the server began. */
export interface Counts {
  offered: number;
  finished: number;
  failed: number;
  /** Handed in for a job that had ended. */
  late: number;
  /** Taken by a worker and given back, or lost with it. */
  returned: number;
  /** In the database, but no longer in the queue. */
  lost: number;
}

/** What the farm does, for those who look after it. */
export interface FarmState {
  /** Address of the queue, without user and password. */
  queue: string;
  mode: PoolMode;
  /** `there`; `away`: it does not answer; `taken`: another server has it; `refuses`: it takes no jobs. */
  state: "there" | "away" | "taken" | "refuses";
  /** Why, where it is not there. */
  cause: string | null;
  /** Whether the workers of the server's process may take jobs now. */
  poolWorks: boolean;
  /** Jobs that nobody has begun with, and when the oldest was submitted (milliseconds since 1970-01-01 UTC). */
  backlog: number;
  oldest: number | null;
  /** Of them those in the queue, and jobs that workers have. */
  waiting: number;
  running: number;
  counts: Counts;
  /** `fits`: it takes work now. */
  workers: (WorkerRecord & { fits: boolean })[];
  /** What does not go together, in sentences. */
  mixed: string[];
}

/** Workers that are not of one piece with the server, each in a sentence. */
export function mixedFarm(
  { queue, version, commit }: Pick<ServerRecord, "queue" | "version" | "commit">,
  workers: readonly WorkerRecord[],
): string[] {
  return workers.flatMap((worker) => {
    const who = `${worker.name} on ${worker.host}`;
    if (worker.refusal !== null) return [`${who} takes no work. ${worker.refusal}`];
    if (worker.queue !== queue && !worker.draining) return [`${who} still takes work of another kind.`];
    if (worker.commit === commit) return [];
    return [
      `${who} was built from ${worker.commit}, the server from ${commit}, both as labd ${version}: install the same build on both.`,
    ];
  });
}

/** What the server says of the farm; it goes with the server. */
const STATE = `${PREFIX}:state`;

/** Says how the farm is, for as long as the claim is good. */
export async function publishState(redis: Redis, state: FarmState): Promise<void> {
  const text = JSON.stringify({ ...state, workers: undefined });
  await redis.set(STATE, text, "PX", CLAIM_LIFE);
}

/** The server goes: another may come at once. */
export async function giveUpClaim(redis: Redis): Promise<void> {
  await redis.del(CLAIM, STATE);
}

/** What the server says of the farm, without the workers; null where none is there. */
export async function readState(redis: Redis): Promise<Omit<FarmState, "workers"> | null> {
  const text = await redis.get(STATE);
  return text === null ? null : (JSON.parse(text) as Omit<FarmState, "workers">);
}
