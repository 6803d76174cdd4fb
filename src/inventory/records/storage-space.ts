import { ALIVE, and } from "../model/condition.ts";
import { type Grid, type Numbering, listPositions } from "../model/grid.ts";
import type { Row } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, type Resource, type Viewer } from "../model/resource.ts";
import { hasPosition, readOccupied } from "../resources/position.ts";
import type { Statements } from "./statements.ts";
import { type EnclosingField, listEnclosingFields } from "./tree-fields.ts";

/** The capacity of a record of the tree and its number of items, including those that the caller may not view. */
export interface Usage {
  capacity: number;
  used: number;
  free: number;
}

/** A location with a grid or a capacity. */
export interface Space extends Usage {
  rid: number;
  id: string;
  label: string;
  /** Names from the requested record to this location. */
  path: string[];
  /** The first free positions, in order; of a location without a grid, an empty one for each item that fits in. */
  positions(maximum: number): string[];
}

/** A place in a location. */
export interface Slot {
  location: Pick<Space, "id" | "label">;
  /** Positions; empty if the location has no grid. */
  position: string;
}

/** A record of the tree, the requested record that it is inside, and the node directly around it. */
interface Node {
  of: Resource;
  row: Row;
  root: number;
  path: string[];
  outer: Node | null;
}

/** A record inside another one, at any depth. */
export interface InnerNode {
  segment: string;
  id: string;
  name: string;
  /** Id of the record directly around it. */
  inside: string;
  grid_rows: number | null;
  grid_columns: number | null;
  box_capacity: number | null;
  /** Its own slots, without those of the locations inside it. */
  space: Usage | null;
}

const COLUMNS = ", t.label, t.grid_rows, t.grid_columns, t.numbering, t.capacity, t.box_capacity";
const isMeasurable = ({ of, row }: Node): boolean => of.name === "location" && row.capacity !== null;
const natural = new Intl.Collator("en", { numeric: true });

const comparePaths = (a: readonly string[], b: readonly string[]): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = natural.compare(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
};

/** Free and occupied space in the visible locations of the tree. */
export class StorageSpace {
  constructor(
    private readonly statements: Statements,
    private readonly viewer: Viewer,
  ) {}

  /** The spaces of these records and inside them, at any depth and in the order of the tree, by record. */
  spaces(resource: Resource, rids: readonly number[]): Map<number, Space[]> {
    const found = new Map<number, Space[]>(rids.map((rid) => [rid, []]));
    const nodes = this.#measurable(resource, rids).sort((a, b) => comparePaths(a.path, b.path));
    for (const [i, space] of this.#measured(nodes).entries()) found.get(nodes[i].root)!.push(space);
    return found;
  }

  /** The space of these records and of all inside them together, by record; null without any. */
  usage(resource: Resource, rids: readonly number[]): Map<number, Usage | null> {
    const nodes = this.#measurable(resource, rids);
    const byRoot = Map.groupBy(this.#measured(nodes).entries(), ([i]) => nodes[i].root);
    return new Map(rids.map((rid) => [rid, sumUsage((byRoot.get(rid) ?? []).map(([, space]) => space))]));
  }

  /** All records inside one, in the order of the tree; null if there are more than `maximum`. */
  inside(resource: Resource, rid: number, maximum: number): InnerNode[] | null {
    const nodes = this.#within(resource, [rid]).filter(({ outer }) => outer !== null);
    if (nodes.length > maximum) return null;
    nodes.sort((a, b) => comparePaths(a.path, b.path));
    const measurable = nodes.filter(isMeasurable);
    const spaces = new Map(this.#measured(measurable).map((space, i) => [measurable[i], sumUsage([space])]));
    return nodes.map((node) => {
      const { of, row, outer } = node;
      const { grid_rows = null, grid_columns = null, box_capacity = null } = row;
      return {
        segment: of.segment!,
        id: String(row.id),
        name: String(row.name),
        inside: String(outer!.row.id),
        grid_rows: grid_rows as number | null,
        grid_columns: grid_columns as number | null,
        box_capacity: box_capacity as number | null,
        space: spaces.get(node) ?? null,
      };
    });
  }

  #measurable(resource: Resource, rids: readonly number[]): Node[] {
    const any = "SELECT 1 AS found FROM location WHERE capacity IS NOT NULL AND deleted = 0 LIMIT 1";
    if (!this.statements.get({ text: any, args: [] })) return [];
    return this.#within(resource, rids).filter(isMeasurable);
  }

  /** The records and those inside them. */
  #within(resource: Resource, rids: readonly number[]): Node[] {
    const all: Node[] = [];
    const seen = new Set<string>();
    let level = new Map([[resource, this.#read(resource, rids)]]);
    while (level.size > 0) {
      const next: typeof level = new Map();
      for (const [of, nodes] of level) {
        for (const node of nodes) seen.add(`${of.name} ${String(node.row.rid)}`);
        all.push(...nodes);
        for (const way of listEnclosingFields(this.viewer, of)) {
          const inside = this.#inside(way, nodes).filter(
            ({ row }) => !seen.has(`${way.resource.name} ${String(row.rid)}`),
          );
          if (inside.length > 0) next.set(way.resource, [...(next.get(way.resource) ?? []), ...inside]);
        }
      }
      level = next;
    }
    return all;
  }

  #columns = (resource: Resource): string =>
    `t.rid AS rid, t.id AS id, t.${columnName(resource, resource.key)} AS name${resource.name === "location" ? COLUMNS : ""}`;

  #read(resource: Resource, rids: readonly number[]): Node[] {
    const tail = " AND t.rid IN (SELECT value FROM json_each(?))";
    const { text, args } = selectVisible(this.viewer, resource, this.#columns(resource), ALIVE, tail);
    const rows = this.statements.all({ text, args: [...args, JSON.stringify(rids)] });
    return rows.map((row) => ({
      of: resource,
      row,
      root: Number(row.rid),
      path: [String(row.name)],
      outer: null,
    }));
  }

  #inside({ resource, field, condition }: Required<EnclosingField>, outer: readonly Node[]): Node[] {
    const column = `t.${columnName(resource, field)}`;
    const { text, args } = selectVisible(
      this.viewer,
      resource,
      `${this.#columns(resource)}, ${column} AS far`,
      and(ALIVE, condition),
      ` AND ${column} IN (SELECT value FROM json_each(?))`,
    );
    const byRid = new Map(outer.map((node) => [node.row.rid, node]));
    const rows = this.statements.all({ text, args: [...args, JSON.stringify([...byRid.keys()])] });
    return rows.map((row) => {
      const outer = byRid.get(row.far)!;
      return { of: resource, row, root: outer.root, path: [...outer.path, String(row.name)], outer };
    });
  }

  /** The nodes with their free space. */
  #measured(nodes: readonly Node[]): Space[] {
    const [withGrid, others] = [true, false].map((wanted) =>
      JSON.stringify(nodes.flatMap(({ row }) => ((row.grid_rows !== null) === wanted ? row.rid : []))),
    );
    const listed = "location IN (SELECT value FROM json_each(?1))";
    const occupied = this.#count(`SELECT location FROM slot WHERE ${listed}`, withGrid);
    const tables = [...this.viewer.resources.values()].filter(hasPosition).map(({ table }) => table);
    const stored = tables.map((table) => `SELECT location FROM ${table} WHERE deleted = 0 AND ${listed}`);
    // The capacity of a rack counts boxes.
    const inside =
      "SELECT parent FROM location WHERE deleted = 0 AND parent IN (SELECT value FROM json_each(?1))";
    const items = this.#count([...stored, inside].join(" UNION ALL "), others);
    return nodes.map(({ row, path }) => {
      const rid = Number(row.rid);
      const capacity = Number(row.capacity);
      const grid = toGrid(row);
      const used = (grid ? occupied : items).get(rid) ?? 0;
      const free = Math.max(0, capacity - used);
      const positions = (maximum: number): string[] =>
        grid ? this.#freeIn(rid, grid).slice(0, maximum) : Array<string>(Math.min(free, maximum)).fill("");
      return { rid, id: String(row.id), label: String(row.label), path, capacity, used, free, positions };
    });
  }

  /** The number of times that each location is selected. */
  #count(locations: string, listed: string): Map<number, number> {
    const text = `SELECT location, count(*) AS total FROM (${locations}) GROUP BY location`;
    const rows = this.statements.all({ text, args: [listed] });
    return new Map(rows.map(({ location, total }) => [Number(location), Number(total)]));
  }

  #freeIn(location: number, grid: Grid): string[] {
    const occupied = readOccupied(this.statements, location);
    return listPositions(grid).filter((position) => !occupied.has(position));
  }
}

const toGrid = ({ grid_rows: rows, grid_columns: columns, numbering }: Row): Grid | undefined =>
  rows === null || columns === null
    ? undefined
    : { rows: Number(rows), columns: Number(columns), numbering: numbering as Numbering };

/** The space of several locations together. */
export function sumUsage(spaces: readonly Usage[]): Usage | null {
  if (spaces.length === 0) return null;
  const sum = (name: keyof Usage) => spaces.reduce((total, space) => total + space[name], 0);
  return { capacity: sum("capacity"), used: sum("used"), free: sum("free") };
}

/** The first free slots of the spaces, in order. */
export function freeSlots(spaces: readonly Space[], maximum: number): Slot[] {
  const slots: Slot[] = [];
  for (const { id, label, positions } of spaces) {
    if (slots.length === maximum) break;
    for (const position of positions(maximum - slots.length))
      slots.push({ location: { id, label }, position });
  }
  return slots;
}
