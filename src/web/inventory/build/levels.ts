import type { Level, LevelList } from "../../../inventory/records/build-storage.ts";
import { countNames, expandNames, PatternError } from "../../../inventory/model/name-pattern.ts";

/** The levels of storage that the wizard builds, and the records of each. */

/** A grid whose rows and columns are typed. */
export const OTHER_GRID = "other";

export interface DraftLevel {
  key: number;
  list: LevelList;
  name: string;
  /** One of GRIDS; empty without slots. */
  grid: string;
  /** Rows and columns of another grid. */
  rows: string;
  columns: string;
  numbering: "A1" | "1";
}

/** The usual grids of boxes and plates. */
export const GRIDS: readonly { value: string; name: string }[] = [
  { value: "", name: "No slots" },
  { value: "9x9", name: "9 × 9" },
  { value: "10x10", name: "10 × 10" },
  { value: "5x5", name: "5 × 5" },
  { value: "8x12", name: "8 × 12" },
  { value: OTHER_GRID, name: "Other" },
];

/** Rows and columns of slots in each record of a level. */
function parseGrid({
  grid,
  rows,
  columns,
}: DraftLevel): { grid_rows: number; grid_columns: number } | undefined {
  if (grid === "") return undefined;
  const [grid_rows, grid_columns] = (grid === OTHER_GRID ? [rows, columns] : grid.split("x")).map(Number);
  return { grid_rows, grid_columns };
}

function countSlots(level: DraftLevel): number {
  const { grid_rows = 0, grid_columns = 0 } = parseGrid(level) ?? {};
  return grid_rows * grid_columns || 0;
}

let keys = 0;
export const newLevel = (given: Partial<DraftLevel> = {}): DraftLevel => ({
  key: ++keys,
  list: "locations",
  name: "",
  grid: "",
  rows: "",
  columns: "",
  numbering: "A1",
  ...given,
});

/** A level of boxes for cryotubes. */
const box = (name: string): Partial<DraftLevel> => ({ name, grid: "9x9" });

export const PRESETS: readonly { value: string; name: string; levels: readonly Partial<DraftLevel>[] }[] = [
  {
    value: "upright",
    name: "Upright freezer: shelves, racks, boxes",
    levels: [
      { list: "equipment", name: "Freezer 1" },
      { name: "Shelf {1..4}" },
      { name: "Rack {1..5}" },
      box("Box {1..5}"),
    ],
  },
  {
    value: "chest",
    name: "Chest freezer: racks, boxes",
    levels: [{ list: "equipment", name: "Freezer 1" }, { name: "Rack {A..H}" }, box("Box {01..10}")],
  },
  {
    value: "drawers",
    name: "Freezer with drawers",
    levels: [{ list: "equipment", name: "Freezer 1" }, { name: "Drawer {1..6}" }],
  },
  {
    value: "rooms",
    name: "Several rooms, each with a freezer",
    levels: [
      { list: "places", name: "Room {1..3}" },
      { list: "equipment", name: "Freezer 1" },
      { name: "Shelf {1..4}" },
    ],
  },
  { value: "shelves", name: "Shelves in a room", levels: [{ name: "Shelf {1..5}" }] },
];

/** Names that a level makes, or the error in its pattern. */
export interface LevelPreview {
  names: string[];
  inEach: number;
  total: number;
  slots: number;
  error?: string;
}

/** Nouns for the records of a list. */
export const KINDS: Readonly<Record<LevelList, string>> = {
  places: "Room",
  equipment: "Equipment",
  locations: "Location",
};

/** Names that a preview shows. */
const SHOWN = 3;

export function previewLevels(levels: readonly DraftLevel[]): LevelPreview[] {
  let outer = 1;
  return levels.map((level) => {
    const { name } = level;
    if (name.trim() === "") return { names: [], inEach: 0, total: 0, slots: 0, error: "Give a name." };
    try {
      const inEach = countNames(name);
      outer *= inEach;
      return {
        names: expandNames(name, SHOWN),
        inEach,
        total: outer,
        slots: outer * countSlots(level),
      };
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      return { names: [], inEach: 0, total: 0, slots: 0, error: error.message };
    }
  });
}

/** `Rack 1, Rack 2, …`. */
export const shownNames = ({ names, inEach }: LevelPreview): string =>
  [...names, ...(inEach > names.length ? ["…"] : [])].join(", ");

/** Kinds of equipment that a name suggests. */
const KIND = /freezer|fridge|cabinet|incubator|dewar|tank/i;

/** A level as the request has it. */
export function toLevel(level: DraftLevel): Level {
  const { list, name, numbering } = level;
  const kind = list === "equipment" ? KIND.exec(name)?.[0].toUpperCase() : undefined;
  const grid = parseGrid(level);
  return {
    list,
    name,
    ...(kind === undefined ? {} : { model_type: kind }),
    ...(grid === undefined ? {} : { ...grid, numbering }),
  };
}
