import { type AuditLog, auditOf, type AuditDetail, hasAudit, type AuditEvent, ON_BEHALF } from "./audit.ts";
import { systemClock } from "../platform/clock.ts";
import type { Origin } from "../platform/request-context.ts";
import { openWriter } from "../platform/sqlite.ts";

/** The variable by which a task of the administration tells a command of its own which task it is. */
export const TASK_VARIABLE = "LABD_TASK";

/**
 * Who acts where a verb does: the account of the operating system, by its number, which nobody can set as they can set
 * the variable USER. No account of labd has a colon in its name. Of a command that a task of the administration began
 * it says on behalf of whom, as the entry of that task has it: a name that is merely given is not believed, and the
 * number stands there in any case.
 */
export function commandLineOrigin(audit: AuditLog): Origin {
  const uid = process.getuid?.();
  const task = process.env[TASK_VARIABLE];
  const starter = task === undefined ? null : audit.taskStarter(task);
  const words = [uid === undefined ? "" : `uid:${uid}`, starter === null ? "" : `${ON_BEHALF}${starter}`];
  return {
    actor: words.filter(Boolean).join(" ") || null,
    via: "command line",
    token: null,
    address: null,
    request: null,
  };
}

/**
 * Notes in the audit log of the database at `path` what a verb did that has no transaction of its own, beside a server
 * or without one, where the database is new enough.
 */
export function recordOffline(path: string, note: AuditEvent): void {
  const writer = openWriter(path);
  try {
    if (!hasAudit(writer)) return;
    const audit = auditOf(writer, systemClock);
    audit.record(note, commandLineOrigin(audit));
  } finally {
    writer.close();
  }
}

/** Notes that the service starts, and whether the process before was stopped or ended otherwise. */
export function recordStart(audit: AuditLog, about: AuditDetail): void {
  const [last] = audit.latest({ action: "service" }, 1);
  const stopped = last === undefined || last.action === "service.stop";
  audit.record({ action: "service.start", detail: { ...about, stopped_before: stopped } });
}
