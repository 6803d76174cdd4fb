import { visible } from "../model/access.ts";
import { and, compare, type Condition } from "../model/condition.ts";
import { type Resource, findTarget, type Viewer } from "../model/resource.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import { LISTS } from "../resources/lists.ts";
import type { ReferringField } from "./references.ts";

/**
 * The fields by which a record is inside another; the first that is set decides. Everything else that refers to one of
 * these is its contents.
 */
export const INSIDE: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  RESOURCES.flatMap(({ name, segment }): [string, string[]][] => {
    const { inside } = LISTS[segment] ?? {};
    return inside ? [[name, Object.values(inside)]] : [];
    // The outermost first, which are in nothing.
  }).toSorted(([, one], [, other]) => one.length - other.length),
);

/** Names of the resources of the tree. */
export const IN_TREE: readonly string[] = Object.keys(INSIDE);

/** A field by which records are inside others, where the condition holds. */
export type EnclosingField = ReferringField & { condition?: Condition };

/** The condition that none of the first `count` fields leads to a record that the actor may view. */
export function outermost({ resources, actor }: Viewer, resource: Resource, count: number): Condition {
  const fields = INSIDE[resource.name].slice(0, count);
  return and(
    ...fields.map((field) => {
      // If every target is visible, the row itself is enough.
      const all = visible(findTarget(resources, resource.fields[field]), actor);
      const open = all.kind === "constant" && all.value;
      return compare([field, open ? "rid" : "id"], "==", null);
    }),
  );
}

/** The fields by which records are inside those of one list, with the condition that no earlier field decides. */
export const listEnclosingFields = (viewer: Viewer, to: Resource): Required<EnclosingField>[] =>
  IN_TREE.map((name) => viewer.resources.get(name) as RoutedResource).flatMap((resource) =>
    INSIDE[resource.name].flatMap((field, i) =>
      findTarget(viewer.resources, resource.fields[field]).name === to.name
        ? [{ resource, field, condition: outermost(viewer, resource, i) }]
        : [],
    ),
  );
