import type { JobCompletions } from "../scoring/index.ts";
import type { RecordEvents, Reminders } from "../inventory/index.ts";

export const EVENTS = [
  "record.created",
  "record.updated",
  "record.deleted",
  "record.restored",
  "job.finished",
  "job.failed",
  "job.cancelled",
  "reminder",
] as const;
export type EventName = (typeof EVENTS)[number];

/** A source of events. Each source numbers its events in a sequence that only grows. */
export interface EventSources {
  records: RecordEvents;
  jobs: JobCompletions;
  reminders: Reminders;
}

/** The last event of each source that a webhook has seen. */
export interface Cursors {
  record: number;
  job: number;
  reminder: number;
}

export const isJobEvent = (event: string): boolean => event.startsWith("job.");
export const isRecordEvent = (event: string): boolean => event.startsWith("record.");
export const isReminder = (event: string): boolean => event === "reminder";
