import { expect, test } from "bun:test";
import {
  arrange,
  countRoom,
  type FrontNode,
  nestNodes,
  nextName,
  nounOf,
  shortName,
} from "../../src/web/inventory/front.ts";

/** The front of a freezer: shelves of racks of boxes, from the nodes below a place. */

const node = (name: string, inside: string, more: object = {}) => ({
  segment: "locations",
  id: `${inside}/${name}`,
  name,
  inside,
  grid_rows: null,
  grid_columns: null,
  box_capacity: null,
  space: null,
  ...more,
});
const box = (name: string, inside: string, used: number) =>
  node(name, inside, { grid_rows: 9, grid_columns: 9, space: { capacity: 81, used, free: 81 - used } });

const nest = (...below: ReturnType<typeof node>[]): FrontNode[] =>
  nestNodes("F", { path: [], contents: [], levels: [], below });
const names = (nodes: readonly FrontNode[]) =>
  arrange(nodes).map(({ shelf, racks }) => [
    shelf?.name ?? null,
    racks.map(({ rack, boxes }) => [rack?.name ?? null, boxes.map(({ name }) => name).join()]),
  ]);

test("arranges shelves, racks and boxes, with the slots of all below each", () => {
  const nodes = nest(
    node("Shelf 1", "F"),
    node("Rack A", "F/Shelf 1", { box_capacity: 3 }),
    box("Box 1", "F/Shelf 1/Rack A", 80),
    box("Box 2", "F/Shelf 1/Rack A", 1),
    node("Rack B", "F/Shelf 1", { box_capacity: 5 }),
    box("Loose", "F/Shelf 1", 0),
  );
  expect(names(nodes)).toEqual([
    [
      "Shelf 1",
      [
        ["Rack A", "Box 1,Box 2"],
        ["Rack B", ""],
        [null, "Loose"],
      ],
    ],
  ]);
  expect(nodes[0].usage).toEqual({ capacity: 243, used: 81, free: 162 });
  expect(nodes[0].nodes.map(countRoom)).toEqual([1, 5, 0]);
});

test("arranges a freezer of racks without shelves, and a rack of boxes", () => {
  expect(names(nest(node("Rack A", "F"), box("Box 1", "F/Rack A", 0)))).toEqual([
    [null, [["Rack A", "Box 1"]]],
  ]);
  expect(names(nest(box("Box 1", "F", 0), box("Box 2", "F", 0)))).toEqual([[null, [[null, "Box 1,Box 2"]]]]);
});

test("shows the first level of a place with too many nodes", () => {
  const results = [{ ...node("Shelf 1", "F"), contents: 0, inside: 400, space: null }];
  const levels = [{ segment: "locations", total: 1, results }];
  expect(names(nestNodes("F", { path: [], contents: [], below: null, levels }))).toEqual([
    [null, [[null, "Shelf 1"]]],
  ]);
});

test("names boxes within their rack, and the next one", () => {
  const nodes = nest(box("Box 1", "F", 0), box("Box 02", "F", 0));
  expect(nodes.map((each) => shortName(each, nodes))).toEqual(["1", "02"]);
  expect(nextName(nodes)).toBe("Box 03");
  expect(nextName([])).toBe("Box 1");
  const named = nest(box("Box 1", "F", 0), box("p53 plasmids", "F", 0));
  expect(named.map((each) => shortName(each, named))).toEqual(["Box 1", "p53 plasmids"]);
  expect(["Shelf 1", "Rack B", "-20 drawer 3", "Cabinet"].map(nounOf)).toEqual([
    "Shelf",
    "Rack",
    undefined,
    undefined,
  ]);
});
