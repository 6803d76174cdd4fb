import type { Actor } from "../platform/actor.ts";

/** The groups of an account, with the rights that they give to their members. */
export const GROUPS_OF_ACCOUNT =
  "SELECT group_rid, members_may, members_order FROM membership JOIN user_group ON user_group.rid = group_rid" +
  " WHERE user_rid = ? ORDER BY group_rid";

/** The groups of an actor, from the rows of that statement. */
export function toGroups(rows: readonly Record<string, unknown>[]): Pick<Actor, "groups" | "groupRights"> {
  const list = (holds: (row: Record<string, unknown>) => boolean): number[] =>
    rows.filter(holds).map(({ group_rid }) => Number(group_rid));
  return {
    groups: list(() => true),
    groupRights: {
      use: list(({ members_may }) => members_may !== "view"),
      change: list(({ members_may }) => members_may === "change"),
      order: list(({ members_order }) => members_order === 1),
    },
  };
}
