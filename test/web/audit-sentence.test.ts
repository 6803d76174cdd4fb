import { expect, test } from "bun:test";
import type { AuditEntry } from "../../src/accounts/audit.ts";
import { SEGMENTS, describeEntry } from "../../src/web/administration/audit-sentence.ts";
import { RESOURCES } from "../../src/inventory/resources/index.ts";

const entry = (changes: Partial<AuditEntry>): AuditEntry =>
  ({ actor: "ana", via: "session", subject: null, outcome: "done", detail: {}, ...changes }) as AuditEntry;

test.each<[Partial<AuditEntry>, string, string | null]>([
  [{ action: "sign_in", detail: { username: "ana", method: "session" } }, "ana signed in", null],
  [
    { action: "sign_in", actor: null, outcome: "refused", detail: { username: "eve" } },
    "eve failed to sign in",
    null,
  ],
  [{ action: "service.start", actor: null }, "labd started the service", null],
  [{ action: "backup.make", actor: null, detail: { name: "a.json" } }, "labd made backup", "a.json"],
  [{ action: "account.disable", detail: { username: "bob" } }, "ana disabled account", "bob"],
  [
    { action: "record.delete", subject: { kind: "consumable", id: "1" }, detail: { count: 1 } },
    "ana deleted consumable",
    null,
  ],
  [
    { action: "record.update", subject: { kind: "annotation_type", id: null }, detail: { count: 12 } },
    "ana updated 12 records (annotation type)",
    null,
  ],
  [{ action: "second_factor.reset", detail: { username: "bob" } }, "ana reset the second factor of", "bob"],
])("the audit entry %p reads %p", (changes, sentence, name) => {
  const { who, did, name: shown } = describeEntry(entry(changes));
  expect([`${who} ${did}`, shown]).toEqual([sentence, name]);
});

test("audit entries link to the records that they name", () => {
  const segments = new Map(RESOURCES.map(({ name, segment }) => [name, segment]));
  for (const [kind, segment] of Object.entries(SEGMENTS))
    expect([kind, segments.get(kind)]).toEqual([kind, segment]);
});
