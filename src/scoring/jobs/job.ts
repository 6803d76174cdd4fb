import type { ScoringModel } from "../../motif/index.ts";

/** A job's life as data: its states and the only changes between them. docs/jobs.md prints the same table. */

export const STATES = ["queued", "running", "finished", "failed", "cancelled", "expired"] as const;
export type State = (typeof STATES)[number];

/** What can happen to a job. */
export const EVENTS = ["lease", "release", "finish", "reuse", "fail", "inherit", "cancel", "expire"] as const;
export type JobEvent = (typeof EVENTS)[number];

export interface Transition {
  from: readonly State[];
  to: State;
  meaning: string;
}

/** Every legal change of state, one row per event. A change that is not here cannot be made: the store's statements are built from these rows. */
export const TRANSITIONS: Readonly<Record<JobEvent, Transition>> = {
  lease: { from: ["queued"], to: "running", meaning: "A worker takes the job, until a deadline." },
  release: {
    from: ["running"],
    to: "queued",
    meaning: "The worker or the process ended before the job did; it keeps its place.",
  },
  finish: { from: ["running"], to: "finished", meaning: "The worker handed in the prediction." },
  reuse: {
    from: ["queued"],
    to: "finished",
    meaning: "The same question was answered before, by the same method on the same corpus.",
  },
  fail: {
    from: ["running"],
    to: "failed",
    meaning: "The deadline passed, the worker died twice, or the scoring itself failed.",
  },
  inherit: {
    from: ["queued"],
    to: "failed",
    meaning: "The job with the same question that it waited for failed.",
  },
  cancel: {
    from: ["queued", "running"],
    to: "cancelled",
    meaning: "The client called it off; its worker is ended.",
  },
  expire: {
    from: ["finished", "failed", "cancelled"],
    to: "expired",
    meaning: "It ended longer ago than jobs are kept; what it was asked and what it answered are removed.",
  },
};

/** The state after an event, or null where that event cannot happen to a job in this state. */
export function nextState(state: State, event: JobEvent): State | null {
  const { from, to } = TRANSITIONS[event];
  return from.includes(state) ? to : null;
}

/** Whether a job in this state has ended: nothing more is computed for it. */
export function hasEnded(state: State): boolean {
  return state !== "queued" && state !== "running";
}

/** `SET` and `WHERE` of a transition in SQL: the state it leads to, and only from the states it starts in. */
export function transitionSql(event: JobEvent): { set: string; where: string } {
  const { from, to } = TRANSITIONS[event];
  const states = from.map((state) => `'${state}'`);
  return {
    set: `state = '${to}'`,
    where: states.length === 1 ? `state = ${states[0]}` : `state IN (${states.join(", ")})`,
  };
}

/**
 * How often a job may be started: a first time and once more. A job whose worker dies twice is the likely cause
 * and must not take the next worker with it.
 */
export const MAX_ATTEMPTS = 2;

/**
 * How often the whole process may end while a job runs before the job is taken for the cause. Power cuts, kills
 * and upgrades are none of its doing, so the count is generous; without one, a job that brings the process down
 * would do so at every start.
 */
export const MAX_INTERRUPTIONS = 10;

/** A pattern as it is scored: motif classes are resolved when the job is accepted, so later imports change nothing. */
export interface JobPattern {
  expression: string;
  /** Name of the motif class that was asked for, else null. */
  name: string | null;
  /** Grammar of the expression: `elm` also knows the look-arounds of motif class tables. */
  dialect: "soap" | "elm";
}

/** What a job is to do: checked, complete, independent of everything but the corpus. */
export interface JobRequest {
  /** The client's own name for the query; not interpreted. */
  identifier: string;
  /** Letters A–Z without white space. */
  query: string;
  model: ScoringModel;
  patterns: JobPattern[];
}

/**
 * An identifier for a job that is submitted now: a UUID of version 7 (RFC 9562, section 5.7) with 74 random bits, which
 * cannot be guessed. Identifiers of the same time lie beside each other in the index, so that a commit of many jobs
 * writes few of its pages.
 * @param random a UUID of version 4
 */
export function jobId(milliseconds: number, random: string): string {
  const time = milliseconds.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

/** SHA-256 over what the prediction depends on; the client's identifier is no part of it. */
export function digestOf({ query, model, patterns }: JobRequest): string {
  const canonical = JSON.stringify([
    query,
    model,
    patterns.map(({ expression, name, dialect }) => [expression, name, dialect]),
  ]);
  return new Bun.CryptoHasher("sha256").update(canonical).digest("hex");
}
