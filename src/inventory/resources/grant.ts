import { Problem } from "../../problem.ts";
import { flag, reference } from "../model/field.ts";
import { subResource } from "./sub-resource.ts";

export const OWNERS_ONLY = "Only the owner or an administrator may share a record with a group.";

export const grant = subResource({
  name: "grant",
  segment: "permissions",
  summary: "Rights of users and groups on records.",
  table: "object_permission",
  fields: {
    user: reference("user", "The user who has the rights.", { column: "user_rid" }),
    group: reference("group", "The group that has the rights.", { column: "group_rid" }),
    view: flag("May view the record.", true, { column: "can_view" }),
    change: flag("May change the record.", false, { column: "can_change" }),
    delete: flag("May delete the record.", false, { column: "can_delete" }),
  },
  readers: "changers",
  checkRestore(before, after, { allows, parent, query, actor }) {
    const gains = (right: "view" | "delete") =>
      after.deleted === 0 && after[right] === 1 && (before.deleted === 1 || before[right] !== 1);
    if (gains("delete") && !allows("delete"))
      throw new Problem("forbidden", "You cannot restore a right to delete that you do not have yourself.");
    const text = `SELECT owner FROM ${parent.resource.table} WHERE rid = ?`;
    const owner = query.get({ text, args: [parent.rid] })?.owner;
    if (after.group !== null && gains("view") && owner !== actor.user)
      throw new Problem("forbidden", OWNERS_ONLY);
  },
});
