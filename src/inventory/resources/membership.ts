import { Problem } from "../../problem.ts";
import { reference } from "../model/field.ts";
import { subResource } from "./sub-resource.ts";

/** The table `membership`, which says who is a member now, follows from this one by triggers. */
export const membership = subResource({
  name: "membership",
  segment: "members",
  summary: "Members of groups.",
  table: "membership_record",
  fields: {
    user: reference("user", "The member.", { column: "user_rid", nullable: false }),
    group: reference("group", "The group.", { column: "group_rid", nullable: false }),
  },
  parent: ({ group }) => ({ kind: "group", rid: Number(group) }),
  verify({ deleted, user, group }, query) {
    const text = "SELECT 1 FROM user_account WHERE rid = ? AND primary_group = ?";
    if (deleted === 1 && query.get({ text, args: [user, group] }))
      throw new Problem("conflict", "Users cannot leave their primary group.");
  },
});
