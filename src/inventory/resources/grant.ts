import { Problem } from "../../problem.ts";
import { flag, reference } from "../model/field.ts";
import { subResource } from "./sub-resource.ts";

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
  checkRestore(before, after, { allows }) {
    const has = (record: typeof before) => record.deleted === 0 && record.delete === 1;
    if (has(after) && !has(before) && !allows("delete"))
      throw new Problem("forbidden", "You cannot restore a right to delete that you do not have yourself.");
  },
});
