import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import { LIMITS } from "../model/limits.ts";
import type { Sql } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, type Resource, type Resources, findTarget, type Viewer } from "../model/resource.ts";
import { INSIDE, outermost } from "./tree-fields.ts";
import type { ReadStatements } from "./statements.ts";

/** Between the names of a path. */
export const STEP = " › ";
/** Steps up to the outermost record: locations, a piece of equipment and a place. */
const MAX_HEIGHT = LIMITS.depth.max + 2;
/** Digits of the id that tells records of the same whole path apart. */
const DIGITS = 8;

interface Place {
  resource: Resource;
  rid: number;
  id: string;
  name: string;
  /** Row numbers of possible parents, by field. */
  inside: Readonly<Record<string, number | null>>;
}

/**
 * Names of locations, equipment and places that cannot be mistaken: the end of the path to each, just long enough that
 * no other record that the reader may view has the same, such as `Rack A › Box 1`.
 */
export class UniquePaths {
  constructor(
    private readonly statements: Pick<ReadStatements, "all">,
    private readonly resources: Resources,
  ) {}

  /** Paths by row number, for records that the actor may view. */
  of(resource: Resource, rids: readonly number[], actor: Actor): Map<number, string> {
    if (rids.length === 0) return new Map();
    const viewer = { resources: this.resources, actor };
    const places = this.#withOuter(viewer, resource, rids);
    const owners = new Map<string, number[]>();
    const paths = new Map<number, string>();
    for (const rid of new Set(rids)) {
      const path = this.#enclosingPath(places, resource, rid);
      if (path.length > 0) paths.set(rid, this.#shortest(viewer, path, owners));
    }
    return paths;
  }

  /** Whole paths by row number: names from the outermost record that the actor may view. */
  whole(resource: Resource, rids: readonly number[], actor: Actor): Map<number, string[]> {
    const places = this.#withOuter({ resources: this.resources, actor }, resource, rids);
    return new Map(
      rids.map((rid) => [
        rid,
        this.#enclosingPath(places, resource, rid)
          .map(({ name }) => name)
          .toReversed(),
      ]),
    );
  }

  /** @param owners up to two records that have each end of a path, which records of a page share */
  #shortest(viewer: Viewer, path: readonly Place[], owners: Map<string, number[]>): string {
    const [{ resource, rid, id }] = path;
    const names = path.map(({ name }) => name);
    for (let length = 1; length <= names.length; length++) {
      const end = names.slice(0, length);
      const key = JSON.stringify(end);
      let found = owners.get(key);
      if (!found) {
        const { text, args } = pathEndsWith(viewer, resource, end)!;
        const rows = this.statements.all({ text: `${text} LIMIT 2`, args });
        owners.set(key, (found = rows.map((row) => Number(row.rid))));
      }
      if (found.every((owner) => owner === rid)) return end.toReversed().join(STEP);
    }
    return `${names.toReversed().join(STEP)} (${id.slice(0, DIGITS)})`;
  }

  /** The record and its enclosing records, from inside out. */
  #enclosingPath(places: ReadonlyMap<string, Place>, resource: Resource, rid: number): Place[] {
    const path: Place[] = [];
    let here = places.get(recordKey(resource, rid));
    while (here && path.length < MAX_HEIGHT) {
      path.push(here);
      const { resource: at, inside } = here;
      here = INSIDE[at.name]
        .map((field) => places.get(recordKey(findTarget(this.resources, at.fields[field]), inside[field])))
        .find((place) => place !== undefined);
    }
    return path;
  }

  /** The records and the records that enclose them, as far as the actor may view them. */
  #withOuter(viewer: Viewer, resource: Resource, rids: readonly number[]): Map<string, Place> {
    const places = new Map<string, Place>();
    const known = new Set<string>();
    let next = new Map([[resource, new Set(rids)]]);
    while (next.size > 0) {
      const found = [...next].flatMap(([of, wanted]) => this.#read(viewer, of, wanted));
      next = new Map();
      for (const place of found) places.set(recordKey(place.resource, place.rid), place);
      for (const [far, rid] of found.flatMap((place) => this.#around(place))) {
        const key = recordKey(far, rid);
        if (!known.has(key)) next.set(far, (next.get(far) ?? new Set()).add(rid));
        known.add(key);
      }
    }
    return places;
  }

  /** Records that may enclose a record. */
  #around({ resource, inside }: Place): [Resource, number][] {
    return Object.entries(inside).flatMap(([field, rid]): [Resource, number][] =>
      rid === null ? [] : [[findTarget(this.resources, resource.fields[field]), rid]],
    );
  }

  #read(viewer: Viewer, resource: Resource, rids: ReadonlySet<number>): Place[] {
    const fields = INSIDE[resource.name];
    const columns = ["rid", "id", resource.key, ...fields].map(
      (name, i) => `t.${columnName(resource, name)} AS c${i}`,
    );
    const among = " AND t.rid IN (SELECT value FROM json_each(?))";
    const { text, args } = selectVisible(viewer, resource, columns.join(", "), and(), among);
    return this.statements.all({ text, args: [...args, JSON.stringify([...rids])] }).map((row) => ({
      resource,
      rid: Number(row.c0),
      id: String(row.c1),
      name: String(row.c2),
      inside: Object.fromEntries(
        fields.map((field, i) => [field, (row[`c${i + 3}`] ?? null) as number | null]),
      ),
    }));
  }
}

const recordKey = ({ name }: Resource, rid: number | null): string => `${name} ${rid}`;

/** Selects the records whose path, as the reader sees it, ends with these names, from inside out; undefined if none can. */
function pathEndsWith(
  viewer: Viewer,
  resource: Resource,
  [name, ...outer]: readonly string[],
): Sql | undefined {
  if (outer.length === 0)
    return selectVisible(viewer, resource, "t.rid AS rid", and(compare([resource.key], "==", name), ALIVE));
  // Does not use the indexes of names: few records share a parent, but many share a name.
  const named = ` AND +t.${columnName(resource, resource.key)} = ? AND +t.deleted = 0`;
  const ways = INSIDE[resource.name].flatMap((field, i): Sql[] => {
    const around = pathEndsWith(viewer, findTarget(viewer.resources, resource.fields[field]), outer);
    if (!around) return [];
    const among = `${named} AND t.${columnName(resource, field)} IN (${around.text})`;
    const { text, args } = selectVisible(
      viewer,
      resource,
      "t.rid AS rid",
      outermost(viewer, resource, i),
      among,
    );
    return [{ text, args: [...args, name, ...around.args] }];
  });
  if (ways.length === 0) return undefined;
  return { text: ways.map(({ text }) => text).join(" UNION ALL "), args: ways.flatMap(({ args }) => args) };
}
