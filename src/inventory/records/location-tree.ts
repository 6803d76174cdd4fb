import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare, or } from "../model/condition.ts";
import { LIMITS } from "../model/limits.ts";
import { FIRST_PAGE, type Listing } from "../model/listing.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, type Resources, findTarget } from "../model/resource.ts";
import type { RecordReader } from "./record-reader.ts";
import { countReferring, fieldsReferringTo, type ReferringField } from "./references.ts";
import { type InnerNode, StorageSpace, type Usage } from "./storage-space.ts";
import { INSIDE, outermost, type EnclosingField, listEnclosingFields } from "./tree-fields.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Statements } from "./statements.ts";

/** Steps up to the outermost record: locations, a piece of equipment and a place. */
const MAX_HEIGHT = LIMITS.depth.max + 2;

/** One record of the tree: its list, its id and its name. */
export interface TreeNode {
  segment: string;
  id: string;
  name: string;
  /** Of equipment, such as FREEZER. */
  model_type?: string;
  /** Of locations; null without a grid. */
  grid_rows?: number | null;
}

/** One page of the records of one list that are inside the same record. */
export interface Level {
  segment: string;
  total: number;
  results: (TreeNode & { inside: number; contents: number; space: Usage | null })[];
}

interface Place {
  resource: RoutedResource;
  rid: number;
}

/** The tree of places, equipment in them, and locations in either and in each other. */
export class LocationTree {
  /** The lists of the tree, by segment. */
  readonly levels: ReadonlyMap<string, RoutedResource>;
  /** The fields of lists outside the tree that refer to a resource, by resource. */
  readonly #contents: ReadonlyMap<string, readonly ReferringField[]>;

  constructor(
    private readonly statements: Statements,
    private readonly reader: RecordReader,
    private readonly resources: Resources,
  ) {
    const levels = Object.keys(INSIDE).map((name) => resources.get(name) as RoutedResource);
    this.levels = new Map(levels.map((resource) => [resource.segment, resource]));
    const outside = ({ resource }: ReferringField) => !(resource.name in INSIDE);
    this.#contents = new Map(
      levels.map((resource) => [resource.name, fieldsReferringTo(resources, resource).filter(outside)]),
    );
  }

  /** The path from the outermost record to this one. */
  path(resource: RoutedResource, rid: number, actor: Actor): TreeNode[] {
    const path: TreeNode[] = [];
    let current: Place | undefined = { resource, rid };
    for (let height = 0; current && height < MAX_HEIGHT; height++) {
      path.unshift(...this.#nodes(current.resource, [current.rid], actor));
      current = this.#enclosing(current, actor);
    }
    return path;
  }

  /** The number of records outside the tree that refer to this one, by list and field. */
  contents(resource: RoutedResource, rid: number, actor: Actor) {
    const viewer = { resources: this.resources, actor };
    return this.#contents
      .get(resource.name)!
      .map((from) => ({
        segment: from.resource.segment,
        field: from.field,
        total: countReferring(this.statements, viewer, from, [rid]).get(rid) ?? 0,
      }))
      .filter(({ total }) => total > 0);
  }

  /** The records inside one, or in none (`undefined`), list by list; one page of each list. */
  inside(of: Place | undefined, page: number, size: number, actor: Actor): Level[] {
    const viewer = { resources: this.resources, actor };
    return [...this.levels.values()].flatMap((resource): Level[] => {
      const conditions =
        of === undefined
          ? [outermost(viewer, resource, INSIDE[resource.name].length)]
          : listEnclosingFields(viewer, of.resource)
              .filter((referrer) => referrer.resource === resource)
              .map(({ field, condition }) => and(compare([field, "rid"], "==", of.rid), condition));
      if (conditions.length === 0) return [];
      // Locations in the order in which free slots are filled: Box 2 before Box 10.
      const order = resource.defaultOrder.map((name) => ({
        path: name.split("__"),
        descending: false,
        natural: true as const,
      }));
      const listing: Listing = { ...FIRST_PAGE, condition: and(ALIVE, or(...conditions)), order, size };
      const { total } = this.reader.list(resource, listing, actor);
      const isPast = (page - 1) * size >= total;
      const rids = isPast ? [] : this.reader.list(resource, { ...listing, page }, actor).rids;
      const inside = this.#sum(listEnclosingFields(viewer, resource), rids, actor);
      const contents = this.#sum(this.#contents.get(resource.name)!, rids, actor);
      const spaces = new StorageSpace(this.statements, viewer).usage(resource, rids);
      const results = this.#nodes(resource, rids, actor).map((node, i) =>
        Object.assign(node, {
          inside: inside.get(rids[i]) ?? 0,
          contents: contents.get(rids[i]) ?? 0,
          space: spaces.get(rids[i]) ?? null,
        }),
      );
      return total === 0 ? [] : [{ segment: resource.segment, total, results }];
    });
  }

  /** All records inside one, at any depth; null if there are more than `maximum`. */
  below(resource: RoutedResource, rid: number, maximum: number, actor: Actor): InnerNode[] | null {
    return new StorageSpace(this.statements, { resources: this.resources, actor }).inside(
      resource,
      rid,
      maximum,
    );
  }

  #sum(referrers: readonly EnclosingField[], rids: readonly number[], actor: Actor): Map<number, number> {
    const viewer = { resources: this.resources, actor };
    const sums = new Map<number, number>();
    for (const referrer of referrers)
      for (const [rid, total] of countReferring(this.statements, viewer, referrer, rids, referrer.condition))
        sums.set(rid, (sums.get(rid) ?? 0) + total);
    return sums;
  }

  #nodes(resource: RoutedResource, rids: readonly number[], actor: Actor): TreeNode[] {
    const kind = ["model_type", "grid_rows"].filter((name) => name in resource.fields);
    const values = this.reader.values(resource, ["id", resource.key, ...kind], actor, rids);
    return values.map(({ id, [resource.key]: name, ...more }) =>
      Object.assign(more, { segment: resource.segment, id: String(id), name: String(name) }),
    );
  }

  /** The record that this one is inside, as far as the actor may view it. */
  #enclosing({ resource, rid }: Place, actor: Actor): Place | undefined {
    for (const field of INSIDE[resource.name]) {
      const far = findTarget(this.resources, resource.fields[field]) as RoutedResource;
      const text = `SELECT ${columnName(resource, field)} AS far FROM ${resource.table} WHERE rid = ?`;
      const to = this.statements.get({ text, args: [rid] })?.far ?? null;
      if (to === null) continue;
      const viewer = { resources: this.resources, actor };
      if (this.statements.get(selectVisible(viewer, far, "t.rid", compare(["rid"], "==", to))))
        return { resource: far, rid: Number(to) };
    }
    return undefined;
  }
}
