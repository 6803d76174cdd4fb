import { type Actor, visible } from "../model/access.ts";
import { and, compare, type Condition, or } from "../model/condition.ts";
import type { Listing } from "../model/listing.ts";
import { columnOf, type Resource, type Resources, targetOf } from "../model/resource.ts";
import { plan } from "../model/plan.ts";
import { compile } from "../model/sql.ts";
import type { RecordReader } from "./record-reader.ts";
import { countReferring, type ReferringField, fieldsReferringTo } from "./references.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Statements } from "./statements.ts";

/**
 * By which fields a thing lies in another: the first that is set decides. Whatever else refers to one of these is its
 * contents.
 */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  place: [],
  equipment: ["place"],
  location: ["parent", "equipment", "place"],
};

/** Steps up to the outermost; a circle cannot be written. */
const HEIGHT = 50;

/** One thing of the tree: its list, its id and its name. */
export interface TreeNode {
  segment: string;
  id: string;
  name: string;
}

/** Where things lie: places, equipment in them, locations in either and in each other. */
export interface LocationTree {
  /** What the tree is made of, by segment. */
  levels: ReadonlyMap<string, RoutedResource>;
  /** The way from the outermost to the thing itself. */
  path(resource: RoutedResource, rid: number, actor: Actor): TreeNode[];
  /** How many records refer to the thing without lying in it as part of the tree, by list and field. */
  contents(
    resource: RoutedResource,
    rid: number,
    actor: Actor,
  ): { segment: string; field: string; total: number }[];
  /** What lies in it, or nowhere (`undefined`), list by list; one page of each list. @throws Problem not_found past the last page of all */
  inside(
    of: { resource: RoutedResource; rid: number } | undefined,
    page: number,
    size: number,
    actor: Actor,
  ): Level[];
}

/** One page of the things of one list that lie in the same thing. */
export interface Level {
  segment: string;
  total: number;
  results: (TreeNode & { inside: number; contents: number })[];
}

export function openLocationTree(
  statements: Statements,
  reading: RecordReader,
  resources: Resources,
): LocationTree {
  const levels = new Map(
    Object.keys(INSIDE).map((name) => {
      const resource = resources.get(name) as RoutedResource;
      return [resource.segment, resource];
    }),
  );

  /** Not in anything that the actor may view by the first `count` fields. */
  const outside = (resource: Resource, count: number, actor: Actor): Condition =>
    and(
      ...INSIDE[resource.name].slice(0, count).map((field) => {
        // The row itself tells where nothing is hidden; else one has to look at what it refers to.
        const all = visible(targetOf(resources, resource.fields[field]), actor);
        const open = all.kind === "constant" && all.value;
        return compare([field, open ? "rid" : "id"], "==", null);
      }),
    );

  /** The ways in which things of one list lie in those of another, with the condition that no earlier field decides. */
  const waysInto = (to: Resource, actor: Actor): (ReferringField & { also: Condition })[] =>
    [...levels.values()].flatMap((resource) =>
      INSIDE[resource.name].flatMap((field, i) =>
        targetOf(resources, resource.fields[field]).name === to.name
          ? [{ resource, field, also: outside(resource, i, actor) }]
          : [],
      ),
    );

  const contentsOf = new Map(
    [...levels.values()].map((resource) => [
      resource.name,
      fieldsReferringTo(resources, resource).filter((from) => !(from.resource.name in INSIDE)),
    ]),
  );

  const sum = (
    ways: readonly (ReferringField & { also?: Condition })[],
    rids: readonly number[],
    actor: Actor,
  ) => {
    const sums = new Map<number, number>();
    for (const way of ways)
      for (const [rid, total] of countReferring(statements, resources, way, rids, actor, way.also))
        sums.set(rid, (sums.get(rid) ?? 0) + total);
    return sums;
  };

  const nodesOf = (resource: RoutedResource, rids: readonly number[], actor: Actor): TreeNode[] => {
    const look = { format: undefined, shape: "flat", fields: ["id", resource.key] } as const;
    const around = { base: "", format: undefined };
    return reading.records(resource, look, actor, rids, around).values.map((record) => ({
      segment: resource.segment,
      id: String(record.id),
      name: String(record[resource.key]),
    }));
  };

  /** The thing in which this one lies, as far as the actor may view it. */
  const outer = (
    resource: RoutedResource,
    rid: number,
    actor: Actor,
  ): { resource: RoutedResource; rid: number } | undefined => {
    for (const field of INSIDE[resource.name]) {
      const far = targetOf(resources, resource.fields[field]) as RoutedResource;
      const where = compile(visible(far, actor), plan(resources, far, actor));
      const row = statements.get({
        text:
          `SELECT t.rid AS rid FROM ${far.table} AS t WHERE t.rid = (SELECT ${columnOf(resource, field)}` +
          ` FROM ${resource.table} WHERE rid = ?) AND (${where.text})`,
        args: [rid, ...where.args],
      });
      if (row) return { resource: far, rid: Number(row.rid) };
    }
    return undefined;
  };

  return {
    levels,
    path(resource, rid, actor) {
      const way: TreeNode[] = [];
      let here: { resource: RoutedResource; rid: number } | undefined = { resource, rid };
      for (let height = 0; here && height < HEIGHT; height++) {
        way.unshift(...nodesOf(here.resource, [here.rid], actor));
        here = outer(here.resource, here.rid, actor);
      }
      return way;
    },
    contents(resource, rid, actor) {
      return contentsOf
        .get(resource.name)!
        .map((from) => ({
          segment: from.resource.segment,
          field: from.field,
          total: countReferring(statements, resources, from, [rid], actor).get(rid) ?? 0,
        }))
        .filter(({ total }) => total > 0);
    },
    inside(of, page, size, actor) {
      return [...levels.values()].flatMap((resource): Level[] => {
        const fields = INSIDE[resource.name];
        const conditions =
          of === undefined
            ? [outside(resource, fields.length, actor)]
            : waysInto(of.resource, actor)
                .filter((way) => way.resource === resource)
                .map(({ field, also }) => and(compare([field, "rid"], "==", of.rid), also));
        if (conditions.length === 0) return [];
        const listing: Listing = {
          format: undefined,
          shape: "flat",
          fields: undefined,
          condition: and(compare(["deleted"], "==", 0), or(...conditions)),
          order: resource.defaultOrder.map((name) => ({ path: name.split("__"), descending: false })),
          page: 1,
          size,
          ignored: [],
        };
        const { total } = reading.list(resource, listing, actor);
        const past = (page - 1) * size >= total;
        const rids = past ? [] : reading.list(resource, { ...listing, page }, actor).rids;
        const inner = sum(waysInto(resource, actor), rids, actor);
        const contents = sum(contentsOf.get(resource.name)!, rids, actor);
        const results = nodesOf(resource, rids, actor).map((node, i) =>
          Object.assign(node, { inside: inner.get(rids[i]) ?? 0, contents: contents.get(rids[i]) ?? 0 }),
        );
        return total === 0 ? [] : [{ segment: resource.segment, total, results }];
      });
    },
  };
}
