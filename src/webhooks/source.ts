import type { Actor } from "../accounts/accounts.ts";

/** Where events come from: the services, as far as webhooks know of them. Each has a sequence that only grows. */
export interface EventSources {
  records: RecordSource;
  jobs: JobSource;
}

/** What a webhook's owner asked for besides names of events. */
export interface RecordFilter {
  resource: string | null;
  expression: string | null;
}

export interface RecordSource {
  last(): number;
  /** @throws Problem invalid_request */
  check(filter: RecordFilter): void;
  /** Of records that the actor may view now. */
  since(
    cursor: number,
    actor: Actor,
    filter: RecordFilter,
    limit: number,
  ): { events: { seq: number; event: string; at: string; data: Record<string, unknown> }[]; cursor: number };
  matches(seq: number, actor: Actor, filter: RecordFilter): boolean;
}

export interface JobSource {
  last(): number;
  since(
    cursor: number,
    client: string | undefined,
    limit: number,
  ): { ends: { row: number; seq: number; id: string; state: string; ended: number }[]; cursor: number };
  belongsTo(row: number, client: string): boolean;
  discardUntil(cursor: number): void;
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
