import type { Actor } from "./model/access.ts";
import { type Json, parseUuid, printInstant } from "./model/field.ts";
import type { Statements } from "./statements.ts";

/**
 * One account as clients of LabID expect it, by username or id; undefined where there is none. The address for mail is
 * shown to its owner and to administrators only.
 */
export function personRecord(
  statements: Statements,
  name: string,
  actor: Actor,
): Record<string, Json> | undefined {
  const id = parseUuid(name);
  const user = statements.get({
    text:
      "SELECT u.rid, u.id, u.username, u.full_name, u.email, u.is_active, u.is_staff, u.is_superuser, u.date_joined," +
      " g.id AS group_id, g.name AS group_name FROM user_account AS u JOIN user_group AS g ON g.rid = u.primary_group" +
      ` WHERE ${id === undefined ? "u.username" : "u.id"} = ?`,
    args: [id ?? name],
  });
  if (!user) return undefined;
  const groups = statements.all({
    text:
      "SELECT g.id, g.name FROM membership AS m JOIN user_group AS g ON g.rid = m.group_rid" +
      " WHERE m.user_rid = ? ORDER BY g.name",
    args: [user.rid],
  });
  return {
    id: user.id,
    username: user.username,
    full_name: user.full_name,
    email: actor.superuser || actor.user === user.rid ? user.email : "",
    groups: groups.map((group) => ({ id: group.id, name: group.name })),
    primary_group: { id: user.group_id, name: user.group_name },
    is_active: user.is_active === 1,
    is_superuser: user.is_superuser === 1,
    is_staff: user.is_staff === 1,
    // Accounts keep milliseconds.
    date_joined: printInstant(Number(user.date_joined) * 1000),
  };
}
