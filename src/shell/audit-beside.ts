import { type Audit, auditOf, type Detail, hasAudit, type Note } from "./audit.ts";
import { systemClock } from "./clock.ts";
import type { Origin } from "./request-origin.ts";
import { openWriter } from "./sqlite.ts";

/**
 * Who acts where a verb does: the account of the operating system, by its number, which nobody can set as they can set
 * the variable USER. No account of labd has a colon in its name.
 */
export function atCommandLine(): Origin {
  const uid = process.getuid?.();
  return {
    actor: uid === undefined ? null : `uid:${uid}`,
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
export function noteBeside(path: string, note: Note): void {
  const writer = openWriter(path);
  try {
    if (hasAudit(writer)) auditOf(writer, systemClock).note(note, atCommandLine());
  } finally {
    writer.close();
  }
}

/** Notes that the service starts, and whether the process before was stopped or ended otherwise. */
export function noteStart(audit: Audit, about: Detail): void {
  const [last] = audit.latest({ action: "service" }, 1);
  const stopped = last === undefined || last.action === "service.stop";
  audit.note({ action: "service.start", detail: { ...about, stopped_before: stopped } });
}
