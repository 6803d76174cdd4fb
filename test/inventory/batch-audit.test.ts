import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const one = { kind: "location", id: IDS.bench };
const isPublic = { id: IDS.bench, public: false };
const bob = { id: IDS.bench, user: "bob", before: [], after: ["view", "change"] };

test.each<[string, string, unknown, object]>([
  // A plain change is in the history only: the last entry is the first use of the token.
  ["PATCH", `locations/${IDS.bench}/`, { description: "x" }, { action: "token.use" }],
  [
    "PATCH",
    `locations/${IDS.bench}/`,
    { public: false },
    { action: "permission.change", subject: one, detail: { count: 1, changes: [isPublic] } },
  ],
  [
    "PATCH",
    `locations/${IDS.bench}/permissions/`,
    { users: [{ user: "bob", change: true }] },
    { action: "permission.change", subject: one, detail: { count: 1, changes: [bob] } },
  ],
  [
    "PUT",
    "groups/Imaging/members/alice/",
    {},
    {
      action: "membership.change",
      subject: { kind: "group" },
      detail: { changes: [{ group: "Imaging", user: "alice", member: true }] },
    },
  ],
  [
    "DELETE",
    `locations/${IDS.bench}/`,
    undefined,
    { action: "record.delete", subject: one, detail: { count: 1 } },
  ],
  [
    "DELETE",
    `locations/bulk_delete/?id=${IDS.shelf},${IDS.drawer}`,
    undefined,
    { action: "record.delete", subject: { kind: "batch" }, detail: { count: 2, records: { location: 2 } } },
  ],
])("%s %s with %j adds its entry to the audit log", async (method, path, body, entry) => {
  const { status } = await lab.ask(method, path, { as: "admin", ...(body ? { body } : {}) });
  expect(status).toBeLessThan(300);
  const last = lab.database.query("SELECT * FROM audit ORDER BY seq DESC LIMIT 1").get();
  const { action, subject_kind, subject_id, detail, actor } = last as Record<string, string>;
  const subject = { kind: subject_kind, id: subject_id };
  expect({ actor, action, subject, detail: JSON.parse(detail) }).toMatchObject({ actor: "admin", ...entry });
});
