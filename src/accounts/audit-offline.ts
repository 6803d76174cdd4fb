import { systemClock } from "../platform/clock.ts";
import type { Origin } from "../platform/request-context.ts";
import { openWriter } from "../platform/sqlite.ts";
import {
  type AuditDetail,
  type AuditEvent,
  type AuditLog,
  getAuditLog,
  hasAudit,
  ON_BEHALF,
} from "./audit.ts";

export const TASK_VARIABLE = "LABD_TASK";

/**
 * The origin of a command: the operating system's user id, which cannot be forged like the variable USER, and on whose
 * behalf it runs, as the entry of its task says. Usernames of labd have no colon.
 */
export function commandLineOrigin(audit: AuditLog): Origin {
  const uid = process.getuid?.();
  const task = process.env[TASK_VARIABLE];
  const starter = task === undefined ? null : audit.taskStarter(task);
  const words = [
    ...(uid === undefined ? [] : [`uid:${uid}`]),
    ...(starter === null ? [] : [`${ON_BEHALF}${starter}`]),
  ];
  return { actor: words.join(" ") || null, via: "command line", token: null, address: null, request: null };
}

/** Records what a command did, in the database at `path` if it has an audit log. A server may be running. */
export function recordOffline(path: string, event: AuditEvent): void {
  using writer = openWriter(path);
  if (!hasAudit(writer)) return;
  const audit = getAuditLog(writer, systemClock);
  audit.record(event, commandLineOrigin(audit));
}

/** Records the start of the service, and whether the previous process was stopped properly. */
export function recordStart(audit: AuditLog, about: AuditDetail): void {
  const [last] = audit.latest({ action: "service" }, 1);
  const stopped = last === undefined || last.action === "service.stop";
  audit.record({ action: "service.start", detail: { ...about, stopped_before: stopped } });
}
