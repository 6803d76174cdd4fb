import type { Actor } from "../../platform/actor.ts";
import { ALWAYS, and, compare, type Condition, NEVER, not, or, some } from "./condition.ts";
import { isGuarded, type Resource } from "./resource.ts";

export type { Actor };

/** To-many relation from a record to the rights given on it; rows of object_permission. */
export const GRANTS = "grants";

export type Right = "can_view" | "can_change" | "can_delete";

/** True if records have an amount that can be used. */
export const hasStock = ({ fields }: Resource): boolean => "freeze_thaw_count" in fields;

/** Records that the actor may view: its own, its groups' (unless they are personal), those shared with it, and all public ones. */
export function visible(resource: Resource, actor: Actor): Condition {
  if (!isGuarded(resource) || actor.superuser) return ALWAYS;
  const anyone = compare(["public"], "==", 1);
  return actor.user === null ? anyone : or(anyone, ...known(resource, actor));
}

/**
 * Records that the actor may use: of stock, those that it may change, and those of groups whose members may use each
 * other's; of locations and others, to put records into them, all that it may view, except merely public ones.
 */
export function usable(resource: Resource, actor: Actor): Condition {
  if (actor.user === null) return NEVER;
  if (!isGuarded(resource) || actor.superuser) return ALWAYS;
  return hasStock(resource)
    ? or(changeable(resource, actor), ...ownedByGroups(resource, actor.groupRights?.use))
    : or(...known(resource, actor));
}

/** Condition on records that belong to the actor or its groups, or are shared with the actor. */
const known = (resource: Resource, actor: Actor): Condition[] => [
  compare(["owner", "rid"], "==", actor.user),
  ...ownedByGroups(resource, actor.groups),
  granted(actor, "can_view"),
];

/** Records that the actor may change: its own, those shared with it for that, and those of groups that allow it. */
export const changeable = (resource: Resource, actor: Actor): Condition =>
  ownedOrGranted(resource, actor, "can_change", actor.groupRights?.change);

/** Records that the actor may order again: those that it may change, and those of groups whose members may order. */
export const orderable = (resource: Resource, actor: Actor): Condition =>
  or(
    changeable(resource, actor),
    ...(actor.superuser ? [] : ownedByGroups(resource, actor.groupRights?.order)),
  );

/** Records that the actor may delete: its own and those shared with it for that. */
export const deletable = (resource: Resource, actor: Actor): Condition =>
  ownedOrGranted(resource, actor, "can_delete");

/** Superusers may write everything. Accounts and groups have no owner; users may change their own account. */
function ownedOrGranted(
  resource: Resource,
  actor: Actor,
  right: Right,
  groups: readonly number[] = [],
): Condition {
  if (actor.user === null) return NEVER;
  if (actor.superuser) return ALWAYS;
  if (!isGuarded(resource))
    return (right === "can_change" && resource.access?.changeable?.(actor.user)) || NEVER;
  return or(
    compare(["owner", "rid"], "==", actor.user),
    ...ownedByGroups(resource, groups),
    granted(actor, right),
  );
}

/** Records of others that the actor may view as a member of their group, or by a permission. */
export const shared = (resource: Resource, actor: Actor): Condition =>
  actor.user === null || !isGuarded(resource)
    ? NEVER
    : and(
        not(ownedBy(resource, actor)),
        or(...ownedByGroups(resource, actor.groups), granted(actor, "can_view")),
      );

/** Records that the actor owns. */
export const ownedBy = (resource: Resource, actor: Actor): Condition =>
  actor.user === null || !isGuarded(resource) ? NEVER : compare(["owner", "rid"], "==", actor.user);

/** Records that the actor or one of its groups owns. */
export const ownedByActorOrGroup = (resource: Resource, actor: Actor): Condition =>
  actor.user === null || !isGuarded(resource)
    ? NEVER
    : or(ownedBy(resource, actor), ...actor.groups.map(ownedByGroup));

const ownedByGroups = (resource: Resource, groups: readonly number[] = []): Condition[] =>
  resource.access?.isPrivate ? [] : groups.map(ownedByGroup);

const ownedByGroup = (group: number): Condition => compare(["owned_by", "rid"], "==", group);

function granted(actor: Actor, right: Right): Condition {
  return some(
    GRANTS,
    and(
      or(
        compare(["user_rid"], "==", actor.user),
        ...actor.groups.map((group) => compare(["group_rid"], "==", group)),
      ),
      compare([right], "==", 1),
    ),
  );
}
