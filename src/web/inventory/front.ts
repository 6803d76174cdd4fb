import type { InnerNode, Usage } from "../../inventory/records/storage-space.ts";
import type { Branch } from "./path.tsx";

/** The places inside a freezer or another place, arranged as shelves of racks of boxes. */

export interface FrontNode extends InnerNode {
  nodes: FrontNode[];
  /** The slots in it and in all places inside it. */
  usage: Usage;
}

export interface Rack {
  /** Null for boxes that stand directly on a shelf. */
  rack: FrontNode | null;
  boxes: readonly FrontNode[];
}
export interface Shelf {
  /** Null for racks and boxes directly in the place. */
  shelf: FrontNode | null;
  racks: readonly Rack[];
}

export const NO_USAGE: Usage = { capacity: 0, used: 0, free: 0 };
const add = (one: Usage, other: Usage): Usage => ({
  capacity: one.capacity + other.capacity,
  used: one.used + other.used,
  free: one.free + other.free,
});
export const sum = (nodes: readonly FrontNode[]): Usage =>
  nodes.reduce((total, { usage }) => add(total, usage), NO_USAGE);

/** The nodes directly inside a place, with all inside them; of a place with too many, the first level only. */
export function nestNodes(id: string, { below, levels }: Branch): FrontNode[] {
  if (!below)
    return levels.flatMap(({ results }) =>
      results.map(({ segment, id: own, name, grid_rows = null, space }) => {
        const sizes = { grid_rows, grid_columns: null, box_capacity: null };
        return { segment, id: own, name, inside: id, ...sizes, space, nodes: [], usage: space ?? NO_USAGE };
      }),
    );
  const all = below.map((node): FrontNode => ({ ...node, nodes: [], usage: node.space ?? NO_USAGE }));
  const byId = new Map(all.map((node) => [node.id, node]));
  const outermost: FrontNode[] = [];
  for (const node of all) (byId.get(node.inside)?.nodes ?? outermost).push(node);
  // Each node follows the one around it.
  for (const node of all.toReversed()) node.usage = add(node.usage, sum(node.nodes));
  return outermost;
}

/** True for what holds boxes, also for none yet. */
const isHolder = ({ nodes, segment, grid_rows, box_capacity }: FrontNode): boolean =>
  nodes.length > 0 || (grid_rows === null && (box_capacity !== null || segment === "equipment"));

/** Places with racks inside are shelves; racks and boxes that are on none share one. */
export function arrange(nodes: readonly FrontNode[]): Shelf[] {
  const isShelf = (node: FrontNode): boolean => node.nodes.some(isHolder);
  const shelves = nodes.filter(isShelf).map((shelf) => ({ shelf, racks: toRacks(shelf.nodes) }));
  const others = nodes.filter((node) => !isShelf(node));
  return others.length === 0 ? shelves : [...shelves, { shelf: null, racks: toRacks(others) }];
}

function toRacks(nodes: readonly FrontNode[]): Rack[] {
  const boxes = nodes.filter((node) => !isHolder(node));
  const racks = nodes.filter(isHolder).map((rack) => ({ rack, boxes: rack.nodes }));
  return boxes.length === 0 ? racks : [...racks, { rack: null, boxes }];
}

/** The boxes that still fit into a place. */
export const countRoom = ({ box_capacity, nodes }: FrontNode): number =>
  Math.max(0, (box_capacity ?? 0) - nodes.length);

/** `Shelf` for Shelf 1 and Shelf B; undefined for other names. */
export const nounOf = (name: string): string | undefined => /^(\D*\p{L})\s+(?:\d+|\p{L})$/u.exec(name)?.[1];

/** The name within its siblings: 1 for Box 1, where all are called Box. */
export function shortName({ name }: FrontNode, siblings: readonly FrontNode[]): string {
  const noun = nounOf(name);
  return noun !== undefined && siblings.every((other) => nounOf(other.name) === noun)
    ? name.slice(noun.length).trim()
    : name;
}

/** The name of one more box in a rack: Box 4 after Box 3. */
export function nextName(nodes: readonly FrontNode[]): string {
  const last = nodes.at(-1)?.name ?? "Box 0";
  return last.replace(/\d+$/, (digits) => String(Number(digits) + 1).padStart(digits.length, "0"));
}
