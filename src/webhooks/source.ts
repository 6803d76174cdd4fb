import type { Actor } from "../accounts/auth.ts";

/** Where events come from: the services, as far as webhooks know of them. Each has a sequence that only grows. */
export interface Sources {
  records: RecordSource;
  jobs: JobSource;
}

/** What a webhook's owner asked for besides names of events. */
export interface Filter {
  resource: string | null;
  expression: string | null;
}

export interface RecordSource {
  last(): number;
  /** @throws Problem invalid_request */
  check(filter: Filter): void;
  /** Of records that the actor may view now. */
  since(
    cursor: number,
    actor: Actor,
    filter: Filter,
    limit: number,
  ): { events: { seq: number; event: string; at: string; data: Record<string, unknown> }[]; cursor: number };
  holds(seq: number, actor: Actor, filter: Filter): boolean;
}

export interface JobSource {
  last(): number;
  since(
    cursor: number,
    client: string | undefined,
    limit: number,
  ): { ends: { row: number; seq: number; id: string; state: string; ended: number }[]; cursor: number };
  isOf(row: number, client: string): boolean;
  forget(cursor: number): void;
}

export const EVENTS = [
  "record.created",
  "record.updated",
  "record.deleted",
  "record.restored",
  "job.finished",
  "job.failed",
  "job.cancelled",
] as const;
